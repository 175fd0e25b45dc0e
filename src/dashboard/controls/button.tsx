import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { showFailure } from './notices.tsx'

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'onClick' | 'class' | 'type'> {
  /** The action of the button. An error appears as a note. */
  work(): unknown
  kind?: 'primary' | 'danger' | 'link' | ''
  small?: boolean
  children: ComponentChildren
}

/** A button that ignores clicks while its action runs. */
export function Button({ work, kind = '', small = false, children, ...attributes }: ButtonProps) {
  const [busy, setBusy] = useState(false)
  // The state changes only with the next render, which is too late for the second click of a double click.
  const working = useRef(false)
  async function onClick(): Promise<void> {
    if (working.current) return
    working.current = true
    setBusy(true)
    try {
      await work()
    } catch (error) {
      showFailure(error)
    } finally {
      working.current = false
      setBusy(false)
    }
  }
  // A button with the attribute `disabled` would lose the focus.
  return (
    <button
      {...attributes}
      type="button"
      class={`${kind} ${small ? 'small' : ''}`}
      aria-disabled={busy}
      onClick={onClick}
    >
      {children}
    </button>
  )
}
