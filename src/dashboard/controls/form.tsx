import type { ComponentChildren, TargetedSubmitEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useWork } from './button.tsx'
import { ErrorText } from './notices.tsx'

interface FormProps {
  id?: string
  /** Classes in addition to `stack`. */
  class?: string
  /** The text of the button that submits. */
  submit: string
  danger?: boolean
  /** The action of the form. The form shows an error with the labels of its fields. */
  work(fields: FormData, form: HTMLFormElement): unknown
  /** Content beside the submit button. */
  beside?: ComponentChildren
  children?: ComponentChildren
}

/** A form that ignores submissions while its action runs, and shows the error of a failed action. */
export function Form({ id, class: kind = '', submit, danger = false, work, beside, children }: FormProps) {
  const [busy, run] = useWork()
  const [failure, setFailure] = useState<unknown>(undefined)
  const place = useRef<HTMLFormElement>(null)

  function onSubmit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
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
