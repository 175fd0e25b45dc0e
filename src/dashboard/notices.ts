import { type Child, element, findById, nodesOf } from './elements.ts'
import { Refused } from './refusals.ts'

const MILLISECONDS_OF_NOTE = 4_000
const MILLISECONDS_OF_FAILURE = 12_000

const toasts = findById('toasts', HTMLElement)

/** Puts content into an element that is hidden while it has none. */
export function setContent(place: HTMLElement, ...content: readonly Child[]): void {
  place.replaceChildren(...nodesOf(content))
  place.hidden = place.childNodes.length === 0
}

/** A refusal as it came: its code, its message, and its problems where there are several; else the error's message. */
export function describeError(error: unknown): Child {
  if (!(error instanceof Refused)) return error instanceof Error ? error.message : String(error)
  const problems = error.problems.map(({ code, message }) => element('li', {}, `${code}: ${message}`))
  return [element('strong', {}, error.code), ` ${error.message}`, problems.length > 1 && element('ul', {}, problems)]
}

/** Shows a note for a moment. */
export function showNote(text: string): void {
  showToast('', text, MILLISECONDS_OF_NOTE)
}

/** Shows what went wrong for a while. */
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
