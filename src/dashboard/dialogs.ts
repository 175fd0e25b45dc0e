import { createListener } from './actions.ts'
import { copyable } from './clipboard.ts'
import { type Child, element } from './elements.ts'

interface Question<Result> {
  /** The text of the button that submits the form. */
  submit: string
  /** Whether the dialog stays open until the form is submitted. */
  lasting?: boolean
  danger?: boolean
  /** Does what the form is for. After an error, the dialog stays open and shows the error. */
  work(fields: FormData): Result | Promise<Result>
}

/**
 * Shows a dialog. A question makes it a form. Resolves to the result of the question's work, or to `undefined` when the
 * dialog is closed without it.
 */
export function openDialog<Result = never>(
  title: string,
  content: Child,
  question?: Question<Result>,
): Promise<Result | undefined> {
  const lasting = question?.lasting ?? false
  return new Promise((resolve) => {
    const cancel = lasting ? undefined : element('button', { type: 'button' }, question ? 'Cancel' : 'Close')
    const kind = question?.danger ? 'danger' : 'primary'
    const form = element(
      'form',
      { class: 'stack' },
      element('h2', {}, title),
      content,
      element('div', { class: 'refusal bad', role: 'alert', hidden: true }),
      element(
        'div',
        { class: 'row' },
        question && element('button', { type: 'submit', class: kind }, question.submit),
        cancel,
      ),
    )
    const dialog = element('dialog', { 'aria-label': title }, form)
    let done: { result: Result } | undefined
    async function submit(): Promise<void> {
      if (question !== undefined) done = { result: await question.work(new FormData(form)) }
      dialog.close()
    }
    form.addEventListener('submit', createListener(submit))
    cancel?.addEventListener('click', () => dialog.close())
    dialog.addEventListener('cancel', (event) => {
      if (lasting) event.preventDefault()
    })
    dialog.addEventListener('close', () => {
      // A browser may close a dialog although the page has prevented it.
      if (lasting && done === undefined) return dialog.showModal()
      dialog.remove()
      resolve(done?.result)
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}

/** Asks for a confirmation. */
export async function confirmed(title: string, text: string, submit: string): Promise<boolean> {
  const answer = await openDialog(title, element('p', {}, text), { submit, danger: true, work: () => true })
  return answer ?? false
}

/** Shows an API key, which the control plane returns only once. */
export async function showSecret(title: string, secret: string): Promise<void> {
  const note = 'The key is shown only once. The curl commands on this page read it from this variable:'
  await openDialog(title, [element('p', { class: 'soft' }, note), copyable(`export API_KEY='${secret}'`)])
}

/** The value of a field; empty if the form has no such field. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}
