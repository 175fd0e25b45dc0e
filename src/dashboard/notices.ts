import { type Child, element, findById, nodesOf } from './elements.ts'
import { Refused } from './refusals.ts'

const MILLISECONDS_OF_NOTE = 4_000
const MILLISECONDS_OF_FAILURE = 12_000

const toasts = findById('toasts', HTMLElement)

/** Replaces the content of an element, and hides the element if there is no content. */
export function setContent(place: HTMLElement, ...content: readonly Child[]): void {
  place.replaceChildren(...nodesOf(content))
  place.hidden = place.childNodes.length === 0
}

/** The code and the message of a refusal, and its problems if there are several; of another error, its message. */
export function describeError(error: unknown): Child {
  if (!(error instanceof Refused)) return error instanceof Error ? error.message : String(error)
  const problems = error.problems.map(({ code, message }) => element('li', {}, `${code}: ${message}`))
  return [element('strong', {}, error.code), ` ${error.message}`, problems.length > 1 && element('ul', {}, problems)]
}

/** Shows a note for a few seconds. */
export function showNote(text: string): void {
  showToast('', text, MILLISECONDS_OF_NOTE)
}

/** Shows an error for several seconds. */
export function showFailure(error: unknown): void {
  showToast('bad', describeError(error), MILLISECONDS_OF_FAILURE)
}

function showToast(kind: string, content: Child, milliseconds: number): void {
  const note = element('div', { class: `toast ${kind}` }, content)
  // A popover lies above an open dialog only when it is shown after the dialog.
  if (toasts.matches(':popover-open')) toasts.hidePopover()
  toasts.showPopover()
  toasts.append(note)
  setTimeout(() => note.remove(), milliseconds)
}
