import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Copyable } from './copyable.tsx'
import { Form } from './form.tsx'
import { Modal } from './modal.tsx'
import { showNote } from './notices.tsx'

interface Question<Result> {
  /** The text of the button that submits the form. */
  submit: string
  /** Whether only the form can close the dialog. */
  lasting?: boolean
  danger?: boolean
  /** The action of the form. After an error, the dialog stays open and shows the error. */
  work(fields: FormData): Result | Promise<Result>
  /** The note about the result. */
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

/** Asks for a confirmation. */
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

/** The stack of open dialogs. */
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
    <button type="button" onClick={() => close()}>
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
