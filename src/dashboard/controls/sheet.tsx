import type { ComponentChildren } from 'preact'
import { Modal } from './modal.tsx'

interface SheetProps {
  title: string
  id?: string
  /** Stands beside the title, such as buttons that lead to the next item. */
  beside?: ComponentChildren
  /** Called when the user closes the sheet, which stays until its parent does not render it any more. */
  onClose(): void
  children: ComponentChildren
}

/**
 * A dialog at the right side, with everything about one item of a view. The view renders it while an item is open.
 * Escape, the button and a click beside it close it; then the focus returns to what opened it.
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
