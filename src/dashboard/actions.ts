import { element, findWithin } from './elements.ts'
import { describeError, setContent, showFailure } from './notices.ts'

/**
 * A listener that does its work. It ignores events while it works. It shows an error in the form that the event belongs
 * to or, without a form, as a note.
 */
export function createListener(work: () => unknown): (event: Event) => Promise<void> {
  return async (event) => {
    event.preventDefault()
    const source = event.currentTarget
    const form = source instanceof HTMLFormElement ? source : undefined
    const place = form && findWithin(form, '.refusal', HTMLElement)
    const control = form ? findWithin(form, '[type=submit]', HTMLButtonElement) : source
    const button = control instanceof HTMLButtonElement ? control : undefined
    if (button?.ariaDisabled === 'true') return
    // A button with the attribute `disabled` would lose the focus.
    if (button) button.ariaDisabled = 'true'
    if (place) setContent(place)
    try {
      await work()
    } catch (error) {
      if (place) setContent(place, describeError(error))
      else showFailure(error)
    } finally {
      if (button) button.ariaDisabled = 'false'
    }
  }
}

/** Does the work when the element is clicked. */
export function onClick(node: HTMLElement, work: () => unknown): void {
  node.addEventListener('click', createListener(work))
}

/** A button that does its work when it is clicked. */
export function button(text: string, work: () => unknown, kind = ''): HTMLButtonElement {
  const node = element('button', { type: 'button', class: kind }, text)
  onClick(node, work)
  return node
}
