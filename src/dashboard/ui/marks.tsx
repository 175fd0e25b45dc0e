import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'warn' | 'bad' | 'odd' | ''

interface BadgeProps {
  tone?: Tone
  title?: string | undefined
  children: ComponentChildren
}

export function Badge({ tone = '', title, children }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  )
}

/** A text of the server. Names in backticks, such as `domains`, appear as code. */
export function Prose({ text }: { text: string }) {
  // Each second part is what the parentheses have matched. A backtick without a partner stays as it is.
  return (
    <bdi>
      {text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </bdi>
  )
}

/** A name, a horizontal bar, and its numbers, which screen readers read. The bar warns of a share below `low`. */
export function Meter({
  name,
  label,
  count,
  of: all,
  low = 0.2,
}: {
  name: ComponentChildren
  label: string
  count: number
  of: number
  low?: number
}) {
  const text = `${count.toLocaleString('en')} / ${all.toLocaleString('en')}`
  return (
    <>
      <span>{name}</span>
      <meter min={0} max={1} low={low} value={count / Math.max(all, 1)} aria-label={label} aria-valuetext={text} />
      <span class="number">{text}</span>
    </>
  )
}

/** A list of names and values. Entries without a value are left out. */
export function Pairs({ entries }: { entries: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl>
      {entries
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} is`}>{value}</dd>])}
    </dl>
  )
}

interface SectionProps {
  title: string
  /** What stands beside the title. */
  beside?: ComponentChildren
  class?: string
  children: ComponentChildren
}

/** A section of a view with a heading, usually a card. */
export function Card({ title, beside, class: look = 'card', children }: SectionProps) {
  return (
    <section class={`stack ${look}`} aria-label={title}>
      <div class="row">
        <h2 class="grow">{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  )
}

/** A section of the details with a heading. */
export function Part({ title, children }: Pick<SectionProps, 'title' | 'children'>) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
