import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Copyable } from './button.tsx'
import { Form } from './form.tsx'
import { showNote } from './notices.tsx'

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
function Modal({ label, id, class: kind = '', lasting = false, light = false, onClose, children }: ModalProps) {
  const place = useRef<HTMLDialogElement>(null)
  const removed = useRef(false)
  // A click beside the dialog counts only if it also began there. A text selection may end outside.
  const pressedBeside = useRef(false)
  useLayoutEffect(() => {
    const dialog = place.current
    const opener = document.activeElement
    if (light && storyIsTold.peek()) dialog?.show()
    else dialog?.showModal()
    // Whoever presses Enter or the space bar without reading must not destroy anything.
    dialog?.querySelector<HTMLElement>('.safe')?.focus()
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

function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  if (target !== currentTarget || !(currentTarget instanceof Element)) return false
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

export interface SheetProps {
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
      <SheetParts title={title} beside={beside} onClose={onClose}>
        {children}
      </SheetParts>
    </Modal>
  )
}

/** The head and the content of a sheet, or of the same details beside their list. */
export function SheetParts({ title, beside, onClose, children }: Omit<SheetProps, 'id'>) {
  return (
    <>
      <div class="bar-top">
        <h2>{title}</h2>
        {beside}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      <div class="content">{children}</div>
    </>
  )
}

interface Question<Result> {
  submit: string
  /** Whether only the form can close the dialog. */
  lasting?: boolean
  danger?: boolean
  /** The action of the form. After an error, the dialog stays open and shows the error. */
  work(fields: FormData): Result | Promise<Result>
  note?(result: Result): string
}

interface OpenDialog {
  title: string
  content: ComponentChildren
  question: Question<unknown> | undefined
  close(result?: unknown): void
}

const dialogs = signal<readonly OpenDialog[]>([])

/**
 * Shows a dialog; a question makes it a form. Resolves to the result of the action, or to `undefined` if the user
 * closes the dialog.
 */
export function openDialog<Result = never>(
  title: string,
  content: ComponentChildren,
  question?: Question<Result>,
): Promise<Result | undefined> {
  return new Promise((resolve) => {
    const dialog: OpenDialog = {
      ...{ title, content, question },
      close(result) {
        dialogs.value = dialogs.value.filter((each) => each !== dialog)
        resolve(result as Result | undefined)
        if (result !== undefined && question?.note) showNote(question.note(result as Result))
      },
    }
    dialogs.value = [...dialogs.value, dialog]
  })
}

export async function confirmed(title: string, text: string, submit: string): Promise<boolean> {
  return (await openDialog(title, <p>{text}</p>, { submit, danger: true, work: () => true })) ?? false
}

/** Shows an API key, which the control plane returns only once. */
export async function showSecret(title: string, secret: string): Promise<void> {
  await openDialog(
    title,
    <>
      <p class="soft">The key is shown only once. The curl commands on this page read it from this variable:</p>
      <Copyable text={`export API_KEY='${secret}'`} />
    </>,
  )
}

export function Dialogs() {
  return (
    <>
      {dialogs.value.map((dialog) => (
        <ModalDialog key={dialog} {...dialog} />
      ))}
    </>
  )
}

function ModalDialog({ title, content, question, close }: OpenDialog) {
  const lasting = question?.lasting ?? false
  const heading = <h2>{title}</h2>
  const cancel = (words: string) => (
    <button type="button" class={question?.danger ? 'safe' : ''} onClick={() => close()}>
      {words}
    </button>
  )
  return (
    <Modal label={title} lasting={lasting} onClose={close}>
      {question === undefined ? (
        <div class="stack">
          {heading}
          {content}
          <div class="row">{cancel('Close')}</div>
        </div>
      ) : (
        <Form
          submit={question.submit}
          danger={question.danger ?? false}
          work={async (fields) => close(await question.work(fields))}
          beside={lasting ? undefined : cancel('Cancel')}
        >
          {heading}
          {content}
        </Form>
      )}
    </Modal>
  )
}
