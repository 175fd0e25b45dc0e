import { type Child, element } from './elements.ts'

/** Fills a list. Open details stay open, and the focus stays in the list. Without items, the list shows `otherwise`. */
export function fillList(list: HTMLElement, items: readonly HTMLLIElement[], otherwise: string): void {
  const focused = list.contains(document.activeElement)
  const open = new Set([...list.querySelectorAll('details')].filter((each) => each.open).map(nameOf))
  list.replaceChildren(...(items.length > 0 ? items : [element('li', { class: 'empty' }, otherwise)]))
  for (const details of list.querySelectorAll('details')) details.open = open.has(nameOf(details))
  list.tabIndex = -1
  if (focused) list.focus()
}

function nameOf({ dataset }: HTMLDetailsElement): string | undefined {
  return dataset['name']
}

export function listItem(content: Child, ...buttons: readonly HTMLButtonElement[]): HTMLLIElement {
  return element('li', { class: 'row' }, element('div', { class: 'grow' }, content), buttons)
}

export function cardItem(content: Child, ...buttons: readonly HTMLButtonElement[]): HTMLLIElement {
  const node = listItem(content, ...buttons)
  node.classList.add('card')
  return node
}
