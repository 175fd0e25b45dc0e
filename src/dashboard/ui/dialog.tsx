import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Copyable } from './button.tsx'
import { Form } from './form.tsx'
import { showNote } from './notices.tsx'

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
        <Modal key={dialog} {...dialog} />
      ))}
    </>
  )
}

function Modal({ title, content, question, close }: OpenDialog) {
  const place = useRef<HTMLDialogElement>(null)
  const lasting = question?.lasting ?? false
  useLayoutEffect(() => {
    const opener = document.activeElement
    place.current?.showModal()
    // Whoever presses Enter or the space bar without reading must not destroy anything.
    place.current?.querySelector<HTMLElement>('.safe')?.focus()
    return () => {
      // The opener may no longer exist, such as the row of a deleted item.
      const heir = opener?.isConnected && opener !== document.body ? opener : document.querySelector('main')
      if (heir instanceof HTMLElement) setTimeout(() => heir.focus({ preventScroll: true }))
    }
  }, [])
  function leave(event: Event): void {
    // A field inside the dialog may fire this event, too.
    if (event.target !== event.currentTarget) return
    event.preventDefault()
    // A browser may close a dialog even if the page has prevented it.
    if (!lasting) close()
    else if (place.current?.open === false) place.current.showModal()
  }
  const cancel = (words: string) => (
    <button type="button" class={question?.danger ? 'safe' : ''} onClick={() => close()}>
      {words}
    </button>
  )
  return (
    <dialog ref={place} aria-label={title} onCancel={leave} onClose={leave}>
      <article>
        {question === undefined ? (
          <div class="stack">
            <h2>{title}</h2>
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
            <h2>{title}</h2>
            {content}
          </Form>
        )}
      </article>
    </dialog>
  )
}
