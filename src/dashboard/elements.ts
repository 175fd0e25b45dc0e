/** The content of an element. A string becomes a text node. `false`, `null` and `undefined` are left out. */
export type Child = Node | string | false | null | undefined | readonly Child[]
type Attribute = string | number | boolean | null | undefined

/** The element of page.html with this id. */
export function findById<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  return prove(document.getElementById(id), kind, `#${id}`)
}

/** The first element inside another one that a CSS selector matches. */
export function findWithin<Kind extends Element>(root: ParentNode, selector: string, kind: new () => Kind): Kind {
  return prove(root.querySelector(selector), kind, selector)
}

/** All elements inside another one that a CSS selector matches. */
export function findAll<Kind extends Element>(root: ParentNode, selector: string, kind: new () => Kind): Kind[] {
  return [...root.querySelectorAll(selector)].map((found) => prove(found, kind, selector))
}

function prove<Kind extends Element>(found: Element | null, kind: new () => Kind, selector: string): Kind {
  if (found instanceof kind) return found
  throw new Error(`The page has no ${kind.name} at ${selector}.`)
}

/** A new element. An attribute that is `true` has no value. `false`, `null` and `undefined` are left out. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    node.setAttribute(name, value === true ? '' : String(value))
  }
  node.append(...nodesOf(children))
  return node
}

export function nodesOf(child: Child): (Node | string)[] {
  if (child === undefined || child === null || child === false) return []
  return isList(child) ? child.flatMap(nodesOf) : [child]
}

function isList(child: Child): child is readonly Child[] {
  return Array.isArray(child)
}

export function badge(text: string, kind = ''): HTMLSpanElement {
  return element('span', { class: `badge ${kind}` }, text)
}

/** Puts a space after each mark, so that a line can break between marks. */
export function withSpaces(marks: readonly Child[]): Child[] {
  return marks.filter(Boolean).flatMap((mark) => [mark, ' '])
}

export function options(values: readonly string[]): HTMLOptionElement[] {
  return values.map((value) => new Option(value))
}

/** A horizontal bar. `share` is between 0 and 1; assistive technology reads `text`. */
export function meter(share: number, label: string, text: string): HTMLDivElement {
  const filled = element('span')
  // The policy of the page forbids attributes with style, but a script may set a style.
  filled.style.width = `${Math.round(share * 1000) / 10}%`
  const attributes = {
    class: `bar ${share <= 0.2 ? 'low' : ''}`,
    role: 'meter',
    'aria-label': label,
    'aria-valuenow': Math.round(share * 100),
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuetext': text,
  }
  return element('div', attributes, filled)
}

/** A section with a heading; `undefined` without content. */
export function section(title: string, ...content: readonly Child[]): HTMLElement | undefined {
  const shown = nodesOf(content)
  return shown.length === 0 ? undefined : element('section', { class: 'stack' }, element('h3', {}, title), shown)
}

export function bulletList(items: readonly Child[]): HTMLUListElement | undefined {
  if (items.length === 0) return undefined
  return element(
    'ul',
    { class: 'stack list' },
    items.map((item) => element('li', {}, item)),
  )
}

/** A list of names and values, without the names that have no value; `undefined` if that leaves nothing. */
export function descriptionList(
  entries: readonly (readonly [name: string, value: Child])[],
): HTMLDListElement | undefined {
  const present = entries.filter(([, value]) => value !== null && value !== undefined)
  if (present.length === 0) return undefined
  return element(
    'dl',
    { class: 'pairs' },
    present.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  )
}
