import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { showFailure, showNote } from './notices.tsx'

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'onClick' | 'class' | 'type' | 'children'> {
  words: ComponentChildren
  /** The action of the button. An error appears as a note. */
  work(): unknown
  kind?: 'primary' | 'danger' | 'link' | ''
  small?: boolean
}

/** A button that ignores clicks while its action runs. */
export function Button({ words, work, kind = '', small = false, ...attributes }: ButtonProps) {
  const [busy, run] = useWork()
  // A button with the attribute `disabled` would lose the focus.
  return (
    <button
      {...attributes}
      type="button"
      class={`${kind} ${small ? 'small' : ''}`}
      aria-disabled={busy}
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

/** A text with a button that copies it. `label` is the name of the button. */
export function Copyable({ text, label, id }: { text: string; label?: string; id?: string }) {
  const place = useRef<HTMLPreElement>(null)
  return (
    <div class="beside">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A long text scrolls, which the keyboard must be able to do. */}
      <pre class="grow" id={id} ref={place} tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} shown={() => place.current} label={label} />
    </div>
  )
}

interface CopyButtonProps {
  text: string
  /** The element with the text. It is selected if the browser does not allow the page to copy. */
  shown(): Element | null
  label?: string | undefined
  words?: string
}

export function CopyButton({ text, shown, label, words = 'Copy' }: CopyButtonProps) {
  return <Button words={words} small={words === 'Copy'} aria-label={label} work={() => copyText(text, shown())} />
}

/** Copies a text. If the browser does not allow that, it selects the element with the text. */
async function copyText(text: string, shown: Element | null): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    showNote('Copied.')
  } catch {
    // Browsers allow it only for pages from localhost or over TLS.
    if (shown !== null) getSelection()?.selectAllChildren(shown)
    showNote('The browser does not let this page copy. The text is selected. Press Ctrl+C or ⌘C.')
  }
}
