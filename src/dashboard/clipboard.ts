import { button } from './actions.ts'
import { element } from './elements.ts'
import { showNote } from './notices.ts'

/** A text with a button that copies it. */
export function copyable(text: string): HTMLDivElement {
  const shown = element('pre', { class: 'grow' }, text)
  return element('div', { class: 'copyline' }, shown, copyButton(shown))
}

export function copyButton(source: Element): HTMLButtonElement {
  return button('Copy', () => copyText(source), 'small')
}

/** Copies the text of an element. If the browser does not allow that, it selects the text. */
export async function copyText(source: Element): Promise<void> {
  try {
    await navigator.clipboard.writeText(source.textContent)
    showNote('Copied.')
  } catch {
    // Browsers allow it only to pages from this machine and to pages over TLS.
    getSelection()?.selectAllChildren(source)
    showNote('The browser does not let this page copy. The text is selected. Press Ctrl+C or ⌘C.')
  }
}
