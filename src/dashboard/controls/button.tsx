import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { showFailure } from './notices.tsx'

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
