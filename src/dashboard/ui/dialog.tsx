import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Copyable } from './button.tsx'
import { Form, type FormProps } from './form.tsx'

interface Question<Body, Result> extends Omit<FormProps<Body>, 'work' | 'above' | 'below' | 'beside'> {
  about?: ComponentChildren
  /** Whether only the form can close the dialog. */
  lasting?: boolean
  /** The action of the form. After an error, the dialog stays open and shows the error. */
  work(body: Body, form: HTMLFormElement): Result | Promise<Result>
}

interface OpenDialog {
  title: string
  question: Question<unknown, unknown> | { about: ComponentChildren }
  close(result?: unknown): void
}

const dialogs = signal<readonly OpenDialog[]>([])

function open(title: string, question: OpenDialog['question']): Promise<unknown> {
  return new Promise((resolve) => {
    const dialog: OpenDialog = {
      ...{ title, question },
      close(result) {
        dialogs.value = dialogs.value.filter((each) => each !== dialog)
        resolve(result)
      },
    }
    dialogs.value = [...dialogs.value, dialog]
  })
}

/** Shows a form in a dialog. Resolves to the result of its action, or to `undefined` if the user closes the dialog. */
export function ask<Body, Result>(title: string, question: Question<Body, Result>): Promise<Result | undefined> {
  return open(title, question as Question<unknown, unknown>) as Promise<Result | undefined>
}

export async function confirmed(title: string, about: string, submit: string): Promise<boolean> {
  return (await ask(title, { about, submit, danger: true, work: () => true })) ?? false
}

/** Shows an API key, which the control plane returns only once. */
export async function showSecret(title: string, secret: string): Promise<void> {
  const about = (
    <>
      <p class="soft">The key is shown only once. The curl commands on this page read it from this variable:</p>
      <Copyable text={`export API_KEY='${secret}'`} />
    </>
  )
  await open(title, { about })
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

function Modal({ title, question, close }: OpenDialog) {
  const place = useRef<HTMLDialogElement>(null)
  const isLasting = 'lasting' in question && question.lasting
  const isDangerous = 'danger' in question && question.danger
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
    if (!isLasting) close()
    else if (place.current?.open === false) place.current.showModal()
  }
  const leaving = !isLasting && (
    <button type="button" class={isDangerous ? 'safe' : ''} onClick={() => close()}>
      {'work' in question ? 'Cancel' : 'Close'}
    </button>
  )
  const above = (
    <>
      <h2>{title}</h2>
      {typeof question.about === 'string' ? <p>{question.about}</p> : question.about}
    </>
  )
  return (
    <dialog ref={place} aria-label={title} onCancel={leave} onClose={leave}>
      <article>
        {'work' in question ? (
          <Form
            {...question}
            {...{ above, beside: leaving }}
            work={async (body, form) => close(await question.work(body, form))}
          />
        ) : (
          <div class="stack">
            {above}
            <div class="row">{leaving}</div>
          </div>
        )}
      </article>
    </dialog>
  )
}
