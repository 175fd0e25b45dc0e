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

/** A horizontal bar. `share` is from 0 to 1, and `low` is the limit of a low share. Screen readers read `text`. */
export function Meter({ share, label, text, low = 0.2 }: { share: number; label: string; text: string; low?: number }) {
  return <meter min={0} max={1} low={low} value={share} aria-label={label} aria-valuetext={text} title={text} />
}

/** A list of names and values. Entries without a value are left out. */
export function Pairs({ entries }: { entries: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="pairs">
      {entries
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} is`}>{value}</dd>])}
    </dl>
  )
}

/** A section of a view with a heading. */
export function Card({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="card stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

/** A section of the details with a heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
