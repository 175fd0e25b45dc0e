import { signal } from '@preact/signals'
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber } from '../formatting.ts'
import { messageOf, Refused } from '../refusals.ts'

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

interface MeterProps {
  name: ComponentChildren
  label: string
  count: number
  of: number
}

export function Meter({ name, label, count, of: all }: MeterProps) {
  const text = `${formatNumber(count)} / ${formatNumber(all)}`
  return (
    <>
      <span>{name}</span>
      <progress max={Math.max(all, 1)} value={count} aria-label={label} aria-valuetext={text} />
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
  beside?: ComponentChildren
  class?: string
  children: ComponentChildren
}

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

export function Part({ title, children }: Pick<SectionProps, 'title' | 'children'>) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

const MILLISECONDS_OF_NOTE = 4_000
const MILLISECONDS_OF_FAILURE = 12_000

const toasts = signal<readonly { tone: string; content: ComponentChildren }[]>([])

export function showNote(text: string): void {
  showToast({ tone: '', content: text }, MILLISECONDS_OF_NOTE)
}

export function showFailure(error: unknown): void {
  showToast({ tone: 'bad', content: <ErrorText error={error} /> }, MILLISECONDS_OF_FAILURE)
}

function showToast(toast: (typeof toasts.value)[number], milliseconds: number): void {
  toasts.value = [...toasts.value, toast]
  setTimeout(() => {
    toasts.value = toasts.value.filter((each) => each !== toast)
  }, milliseconds)
}

/**
 * The code and the message of a refusal, and its problems if there are several. For another error, it is the message.
 * `rename` replaces names of fields by labels.
 */
export function ErrorText({ error, rename = (text) => text }: { error: unknown; rename?: (text: string) => string }) {
  if (!(error instanceof Refused)) return <Prose text={messageOf(error)} />
  // The message usually repeats the first problem.
  const others = error.problems.filter(({ message }) => message !== error.message)
  return (
    <>
      <strong>{error.code}</strong> <Prose text={rename(error.message)} />
      {error.problems.length > 1 && (
        <ul>
          {others.map(({ code, message }) => (
            <li key={message}>
              {code}: <Prose text={rename(message)} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

export function Toasts() {
  const place = useRef<HTMLDivElement>(null)
  const shown = toasts.value
  useEffect(() => {
    const node = place.current
    if (node === null) return
    // A popover is above an open dialog only if it is shown later.
    if (node.matches(':popover-open')) node.hidePopover()
    if (shown.length > 0) node.showPopover()
  }, [shown])
  return (
    <div id="toasts" role="status" popover="manual" ref={place}>
      {shown.map(({ tone, content }) => (
        <div class={`refusal ${tone}`}>{content}</div>
      ))}
    </div>
  )
}

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'onClick' | 'class' | 'type' | 'children'> {
  words: ComponentChildren
  /** The action of the button. An error appears as a note. */
  work(): unknown
  kind?: 'primary' | 'danger' | 'small' | 'small danger' | ''
}

/** A button that ignores clicks while its action runs. */
export function Button({ words, work, kind = '', ...attributes }: ButtonProps) {
  const [busy, run] = useWork()
  // A button with the attribute `disabled` would lose the focus.
  return (
    <button
      {...attributes}
      type="button"
      class={kind}
      aria-disabled={busy || undefined}
      onClick={() => run(work, showFailure)}
    >
      {words}
    </button>
  )
}

/** Whether an action runs, and a function that starts one. It ignores a start while an action runs. */
export function useWork() {
  const [busy, setBusy] = useState(false)
  // The state changes only with the next render, which is too late for the second click of a double click.
  const working = useRef(false)
  async function run(work: () => unknown, onFailure: (error: unknown) => void): Promise<void> {
    if (working.current) return
    working.current = true
    setBusy(true)
    try {
      await work()
    } catch (error) {
      onFailure(error)
    } finally {
      working.current = false
      setBusy(false)
    }
  }
  return [busy, run] as const
}

interface CopyableProps {
  text: string
  label?: string
  children?: ComponentChildren
}

/** A text with a button that copies it. If the browser does not let a page copy, the button selects the text. */
export function Copyable({ text, label, children = text }: CopyableProps) {
  const place = useRef<HTMLPreElement>(null)
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      showNote('Copied.')
    } catch {
      // Browsers allow it only for pages from localhost or over TLS.
      if (place.current !== null) getSelection()?.selectAllChildren(place.current)
      showNote('The browser does not let this page copy. The text is selected. Press Ctrl+C or ⌘C.')
    }
  }
  return (
    <div class="beside">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A long text scrolls, which the keyboard must be able to do. */}
      <pre class="grow" ref={place} tabIndex={0}>
        {children}
      </pre>
      <Button words="Copy" kind="small" aria-label={label} work={copy} />
    </div>
  )
}
