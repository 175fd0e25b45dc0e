import type { ComponentChildren } from 'preact'
import { Modal } from './modal.tsx'

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
