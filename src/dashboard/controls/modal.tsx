import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

/** Whether a story is in progress. A sheet is then not modal, so that the buttons of the story stay usable. */
export const storyIsTold = signal(false)

interface ModalProps {
  /** The name of the dialog for assistive technology. */
  label: string
  id?: string | undefined
  class?: string
  /** Whether the user cannot close it with Escape or with another control of the browser. */
  lasting?: boolean
  /** Whether a click beside it closes it. It may then be non-modal. */
  light?: boolean
  /** Called when the user closes it. It stays until its parent no longer renders it. */
  onClose(): void
  children: ComponentChildren
}

/** A dialog above the page. It takes the focus, and returns it when it closes. */
export function Modal({ label, id, class: kind = '', lasting = false, light = false, onClose, children }: ModalProps) {
  const place = useRef<HTMLDialogElement>(null)
  const removed = useRef(false)
  // A click beside the dialog counts only if it also began there. A text selection may end outside.
  const pressedBeside = useRef(false)
  useLayoutEffect(() => {
    const dialog = place.current
    const opener = document.activeElement
    if (light && storyIsTold.peek()) dialog?.show()
    else dialog?.showModal()
    return () => {
      removed.current = true
      dialog?.close()
      // The opener may no longer exist, such as the row of a deleted item.
      if (opener instanceof HTMLElement && opener !== document.body) {
        const heir = opener.isConnected ? opener : document.getElementById('panel')
        heir?.focus({ preventScroll: true })
      }
    }
  }, [])

  useEffect(() => {
    // The focus may be outside of a dialog that is not modal.
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
    // Without this, the first press would clear a search field instead of closing the dialog.
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
        // A field inside the dialog may fire this event, too.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        if (!lasting) onClose()
      }}
      onClose={() => {
        if (removed.current) return
        // A browser may close a dialog even if the page has prevented it.
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

/** Whether the pointer is on the backdrop of the dialog. */
function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  if (target !== currentTarget || !(currentTarget instanceof Element)) return false
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

interface SheetProps {
  title: string
  id?: string
  /** Content beside the title, such as buttons to the next item. */
  beside?: ComponentChildren
  /** Called when the user closes the sheet. It stays until its parent no longer renders it. */
  onClose(): void
  children: ComponentChildren
}

/**
 * A dialog at the right side with the details of one item. The view renders it while an item is open. Escape, the
 * button and a click beside it close it. Then the focus returns to the element that opened it.
 */
export function Sheet({ title, id, beside, onClose, children }: SheetProps) {
  return (
    <Modal label={title} id={id} class="sheet" light onClose={onClose}>
      <div class="bar-top">
        <h2>{title}</h2>
        {beside}
        <button type="button" class="no-print" onClick={onClose}>
          Close
        </button>
      </div>
      <div class="content">{children}</div>
    </Modal>
  )
}
