import { element, findWithin } from './elements.ts'
import { describeError, setContent, showFailure } from './notices.ts'

/**
 * A listener that does its work once at a time and shows what the control plane says against it: in the form where
 * there is one, else as a note.
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
    // A button that is really disabled would lose the focus.
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

/** Does the work when the element is pressed, once at a time. */
export function onClick(node: HTMLElement, work: () => unknown): void {
  node.addEventListener('click', createListener(work))
}

/** A button that does its work when it is pressed. */
export function button(text: string, work: () => unknown, kind = ''): HTMLButtonElement {
  const node = element('button', { type: 'button', class: kind }, text)
  onClick(node, work)
  return node
}
