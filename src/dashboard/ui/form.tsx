import type { ComponentChildren, PartialInputHTMLAttributes, PartialSelectHTMLAttributes, TargetedEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useWork } from './button.tsx'
import { ErrorText } from './notices.tsx'

type InputAttributes = Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'role' | 'type' | 'list'>

export function TextField({ label, ...attributes }: InputAttributes & { label: string }) {
  return (
    <label>
      {label}
      <input autocomplete="off" {...attributes} />
    </label>
  )
}

interface SearchProps extends Omit<InputAttributes, 'value'> {
  /** The name of the field. By default it is also the placeholder. */
  label: string
  text: string
  onText(text: string): void
}

export function SearchField({ label, text, onText, ...attributes }: SearchProps) {
  return (
    <input
      type="search"
      class="grow"
      placeholder={label}
      aria-label={label}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      {...attributes}
    />
  )
}

interface CheckboxProps extends Omit<InputAttributes, 'class'> {
  words: ComponentChildren
  class?: string
}

export function Checkbox({ words, class: kind = '', ...attributes }: CheckboxProps) {
  return (
    <label class={`check ${kind}`}>
      <input type="checkbox" {...attributes} />
      {words}
    </label>
  )
}

/** A value to choose, and its words if they differ. */
export type Choice = string | readonly [value: string, words: string]

interface SelectProps extends Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'role' | 'size'> {
  /** The chosen value is added if it is not among them, such as that of a deleted key. */
  values: readonly Choice[]
  /** The words for the empty value, if the user can choose it. */
  none?: string | undefined
  onChoose?(value: string): void
}

export function Select({ values, none, onChoose, ...attributes }: SelectProps) {
  const { value } = attributes
  const isListed = typeof value !== 'string' || value === '' || values.some((choice) => partsOf(choice)[0] === value)
  return (
    <select {...attributes} onChange={({ currentTarget }) => onChoose?.(currentTarget.value)}>
      {none !== undefined && <option value="">{none}</option>}
      <Options values={isListed ? values : [value, ...values]} />
    </select>
  )
}

/** The same with a label above or, with the class `inline`, before it. */
export function LabelledSelect({ label, class: kind, ...attributes }: SelectProps & { label: string }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the select is the control.
    <label class={kind}>
      {label}
      <Select {...attributes} />
    </label>
  )
}

function partsOf(choice: Choice): readonly [value: string, words: string] {
  return typeof choice === 'string' ? [choice, choice] : choice
}

export function Options({ values }: { values: readonly Choice[] }) {
  return (
    <>
      {values.map((choice) => {
        const [value, words] = partsOf(choice)
        return (
          <option key={value} value={value}>
            {words}
          </option>
        )
      })}
    </>
  )
}

interface FormProps {
  id?: string
  /** Classes in addition to `stack`. */
  class?: string
  submit: string
  danger?: boolean
  /** The action of the form. The form shows an error with the labels of its fields. */
  work(fields: FormData, form: HTMLFormElement): unknown
  beside?: ComponentChildren
  children?: ComponentChildren
}

/** A form that ignores submissions while its action runs, and shows the error of a failed action. */
export function Form({ id, class: kind = '', submit, danger = false, work, beside, children }: FormProps) {
  const [busy, run] = useWork()
  const [failure, setFailure] = useState<unknown>(undefined)
  const place = useRef<HTMLFormElement>(null)

  function onSubmit(event: TargetedEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget
    return run(() => {
      setFailure(undefined)
      return work(new FormData(form), form)
    }, setFailure)
  }

  return (
    <form id={id} class={`stack ${kind}`} noValidate onSubmit={onSubmit} ref={place}>
      {children}
      <div class="refusal bad" role="alert" hidden={failure === undefined}>
        {failure !== undefined && <ErrorText error={failure} rename={(text) => nameFields(text, place.current)} />}
      </div>
      <div class="row">
        <button type="submit" class={danger ? 'danger' : 'primary'} aria-disabled={busy}>
          {submit}
        </button>
        {beside}
      </div>
    </form>
  )
}

/** Replaces names of fields such as `delay_ms` by labels. Only the control plane uses the names. */
function nameFields(text: string, form: HTMLFormElement | null): string {
  return text.replaceAll(/`([^`]+)`/g, (quoted, name: string) => {
    const field = form?.elements.namedItem(name)
    if (
      !(field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement)
    )
      return quoted
    const label = field.ariaLabel ?? field.labels?.[0]?.firstChild?.textContent?.trim()
    return label ? `“${label}”` : quoted
  })
}

/** The value of a field; empty if the form does not have the field. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}
