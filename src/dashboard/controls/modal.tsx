import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

/** Whether a story is told. Its buttons stay usable beside a sheet, which is then not modal. */
export const storyIsTold = signal(false)

interface ModalProps {
  /** The name of the dialog for assistive technology. */
  label: string
  id?: string | undefined
  class?: string
  /** Whether neither Escape nor anything else of the browser closes it. */
  lasting?: boolean
  /** Whether a click beside it closes it, and the rest of the page may stay usable. */
  light?: boolean
  /** Called when the user closes it. It stays until its parent does not render it any more. */
  onClose(): void
  children: ComponentChildren
}

/** A dialog above the page, which takes the focus while it is open and then returns it to where it was. */
export function Modal({ label, id, class: kind = '', lasting = false, light = false, onClose, children }: ModalProps) {
  const place = useRef<HTMLDialogElement>(null)
  const removed = useRef(false)
  // A click beside the dialog counts only if the pointer was pressed there, too: selecting text may end outside.
  const pressedBeside = useRef(false)
  useLayoutEffect(() => {
    const dialog = place.current
    const opener = document.activeElement
    if (light && storyIsTold.peek()) dialog?.show()
    else dialog?.showModal()
    return () => {
      removed.current = true
      dialog?.close()
      // What opened the dialog may be gone, such as the row of something that was deleted.
      if (opener instanceof HTMLElement && opener !== document.body) {
        const heir = opener.isConnected ? opener : document.getElementById('panel')
        heir?.focus({ preventScroll: true })
      }
    }
  }, [])

  useEffect(() => {
    // The focus of a dialog that is not modal may be outside.
    function onEscape(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog:modal') !== null) return
      event.preventDefault()
      onClose()
    }
    if (place.current?.matches(':modal')) return
    document.addEventListener('keydown', onEscape)
    return () => document.removeEventListener('keydown', onEscape)
  }, [onClose])

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
    // Without this, the first press would empty a search field in place of closing the dialog.
    event.preventDefault()
    event.stopPropagation()
    if (!lasting) onClose()
  }

  return (
    <dialog
      ref={place}
      id={id}
      class={kind}
      aria-label={label}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        // A field inside can be cancelled, too.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        if (!lasting) onClose()
      }}
      onClose={() => {
        if (removed.current) return
        // A browser may close a dialog although the page has prevented it.
        if (lasting) place.current?.showModal()
        else onClose()
      }}
      onPointerDown={(event) => {
        pressedBeside.current = isBeside(event)
      }}
      onClick={(event) => {
        if (light && pressedBeside.current && isBeside(event)) onClose()
      }}
    >
      {children}
    </dialog>
  )
}

/** Whether a pointer is outside of the dialog, on its backdrop. */
function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  if (target !== currentTarget || !(currentTarget instanceof Element)) return false
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}
