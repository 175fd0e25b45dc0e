import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { showFailure, showNote } from './notices.tsx'

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
  /** The name of the button. */
  label?: string
  /** What is shown in place of the text. */
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
