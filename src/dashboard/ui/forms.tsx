import { signal } from '@preact/signals'
import type { ComponentChildren, PartialSelectHTMLAttributes, TargetedEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Copyable, ErrorText, useWork } from './elements.tsx'

/** A value to choose, and its words if they differ. */
type Choice = string | readonly [value: string, words: string]

/** A field of a form. Its name is that of the control plane, which says what is wrong with its value. */
export interface Field {
  name: string
  label: string
  /** What there is to choose from; without it, the field takes a text. */
  values?: readonly Choice[]
  /** The words for the empty value, if the user can choose it. */
  none?: string
  value?: string | number | undefined
  /** What is sent: by default the text, or one of these. `names` are several lines. */
  as?: 'number' | 'names' | 'true or false' | 'json'
  type?: 'text' | 'password' | 'datetime-local' | 'checkbox'
  title?: string | undefined
  placeholder?: string
  required?: boolean
  pattern?: string
}

const READERS: Readonly<Record<NonNullable<Field['as']>, (text: string) => unknown>> = {
  // The control plane explains what is wrong with a text in place of a number.
  number: (text) => (Number.isNaN(Number(text)) ? text : Number(text)),
  names: (text) => text.split(/[\s,;]+/u).filter((name) => name !== ''),
  'true or false': (text) => text === 'true',
  json: (text) => text,
}

/** What a form sends. Fields that are empty are left out. */
function readBody(form: HTMLFormElement, fields: readonly Field[]): Record<string, unknown> {
  const data = new FormData(form)
  return Object.fromEntries(
    fields.flatMap(({ name, as }) => {
      const text = String(data.get(name) ?? '').trim()
      return text === '' ? [] : [[name, as === undefined ? text : READERS[as](text)]]
    }),
  )
}

export interface FormProps<Body> {
  fields?: readonly Field[]
  submit: string
  danger?: boolean
  /** The action of the form. The form shows an error with the labels of its fields. */
  work(body: Body, form: HTMLFormElement): unknown
  onChange?(body: Body): void
  /** What stands above the fields, below them, and beside the button. */
  above?: ComponentChildren
  below?: ComponentChildren
  beside?: ComponentChildren
}

/** A form that ignores submissions while its action runs, and shows the error of a failed action. */
export function Form<Body = unknown>({
  fields = [],
  submit,
  danger = false,
  work,
  onChange,
  ...parts
}: FormProps<Body>) {
  const { above, below, beside } = parts
  const [busy, run] = useWork()
  const [failure, setFailure] = useState<{ error: unknown; body: Record<string, unknown> } | undefined>(undefined)
  const place = useRef<HTMLFormElement>(null)
  const read = (form: HTMLFormElement) => readBody(form, fields) as Body
  function onSubmit(event: TargetedEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget
    setFailure(undefined)
    return run(
      () => work(read(form), form),
      (error) => setFailure({ error, body: readBody(form, fields) }),
    )
  }
  return (
    <form
      ref={place}
      class="stack"
      onSubmit={onSubmit}
      onInput={({ currentTarget }) => onChange?.(read(currentTarget))}
    >
      {above}
      {fields.length > 0 && (
        <div class="fields">
          {fields.map((field) => (
            <Labelled key={field.name} {...field} />
          ))}
        </div>
      )}
      {below}
      <div class="refusal bad" role="alert" hidden={failure === undefined}>
        {failure && <ErrorText error={failure.error} rename={(text) => nameFields(text, fields, failure.body)} />}
      </div>
      <div class="row">
        <button type="submit" class={danger ? 'danger' : 'primary'} aria-disabled={busy || undefined}>
          {submit}
        </button>
        {beside}
      </div>
    </form>
  )
}

function Labelled({ label, values, none, value, as, type = 'text', ...attributes }: Field) {
  const text = { ...attributes, defaultValue: value === undefined ? '' : String(value), spellcheck: false }
  if (type === 'checkbox')
    return (
      <label class="check">
        <input type="checkbox" name={attributes.name} value="true" /> {label}
      </label>
    )
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the select is the control.
    <label class={as === 'names' || as === 'json' ? 'whole' : ''}>
      {label}
      {values !== undefined ? (
        <Select {...attributes} values={values} none={none} value={text.defaultValue} />
      ) : as === 'names' || as === 'json' ? (
        <textarea {...text} rows={as === 'names' ? 8 : 4} class="mono" autocapitalize="none" />
      ) : (
        <input
          {...text}
          type={type as 'text'}
          autocomplete="off"
          dir="auto"
          inputMode={as === 'number' ? 'decimal' : 'text'}
        />
      )}
    </label>
  )
}

/** Replaces what only the control plane calls so: a field such as `delay_ms` by its label, and `domains[2]` by the name. */
function nameFields(text: string, fields: readonly Field[], body: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(/`([^`[]+)(?:\[(\d+)\])?`/g, (quoted, name: string, place?: string) => {
    const values = body[name]
    const item: unknown = place !== undefined && Array.isArray(values) ? values[Number(place)] : undefined
    const words = item ?? fields.find((field) => field.name === name)?.label
    return words === undefined ? quoted : `“${words}”`
  })
}

interface SelectProps extends Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'role' | 'size'> {
  /** The chosen value is added if it is not among them, such as that of a deleted key. */
  values: readonly Choice[]
  none?: string | undefined
  onChoose?(value: string): void
}

/** Where the browser cannot tell, every list with the focus counts as open. */
const OPEN = CSS.supports('selector(:open)') ? ':open' : ':focus'

/** A list to choose from. While it is open, its choices do not change below the pointer. */
export function Select({ values, none, onChoose, value, ...attributes }: SelectProps) {
  const place = useRef<HTMLSelectElement>(null)
  const shown = useRef(values)
  const [, redraw] = useState(0)
  if (!place.current?.matches(OPEN)) shown.current = values
  const choices = shown.current.map((choice) => (typeof choice === 'string' ? ([choice, choice] as const) : choice))
  const isListed = typeof value !== 'string' || value === '' || choices.some(([each]) => each === value)
  return (
    <select
      {...attributes}
      ref={place}
      onBlur={() => redraw((times) => times + 1)}
      onChange={({ currentTarget }) => {
        onChoose?.(currentTarget.value)
        redraw((times) => times + 1)
      }}
    >
      {none !== undefined && (
        <option value="" selected={value === ''}>
          {none}
        </option>
      )}
      {[...(isListed ? [] : [[value, value] as const]), ...choices].map(([each, words]) => (
        <option key={each} value={each} selected={each === value}>
          {words}
        </option>
      ))}
    </select>
  )
}

interface SearchProps {
  label: string
  text: string
  placeholder?: string
  maxLength?: number
  onText(text: string): void
}

export function SearchField({ label, text, placeholder = label, maxLength, onText }: SearchProps) {
  return (
    <input
      type="search"
      class="grow"
      autocomplete="off"
      spellcheck={false}
      {...{ placeholder, maxLength, value: text, 'aria-label': label }}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  )
}

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
