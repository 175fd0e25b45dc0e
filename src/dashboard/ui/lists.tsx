import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber } from '../formatting.ts'
import { go, hrefOf, parameter, subject } from '../place.tsx'

/** How many rows are rendered at first, and how many more each time: a table of thousands is slow to lay out. */
const MOST = 500

/** The title of the column by which tables are sorted, in lower case; a minus before it means descending. */
const sort = parameter('sort')

export interface Column<Item> {
  title: string
  cell(item: Item): ComponentChildren
  class?: string
  /** What the column means, if its title does not say it. */
  about?: string
  /** What the table can be sorted by. Items without it come last. */
  by?(item: Item): string | number | undefined
}

interface TableProps<Item> {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  keyOf(item: Item): string
  select?: Selection
}

export function Table<Item>({ label, columns, items, keyOf, select }: TableProps<Item>) {
  const [most, setMost] = useState(MOST)
  const rest = items.length - most
  return (
    <div class="table">
      <table aria-label={label}>
        <thead>
          <tr>
            {select && <th class="select">{select.all}</th>}
            {columns.map((column) => (
              <Header key={column.title} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(items, columns)
            .slice(0, most)
            .map((item) => (
              <tr key={keyOf(item)}>
                {select && <td class="select">{select.box(keyOf(item))}</td>}
                {columns.map(({ title, class: look, cell }) => (
                  <td key={title} class={look}>
                    {cell(item)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      {rest > 0 && (
        <p class="empty">
          <button type="button" onClick={() => setMost(most + MOST)}>
            Show {formatNumber(Math.min(rest, MOST))} more of {formatNumber(rest)}
          </button>
        </p>
      )}
    </div>
  )
}

/** The first click sorts by a column, numbers from the highest; the second reverses the order, the third leaves it. */
function Header<Item>({ column: { title, class: look = '', about, by } }: { column: Column<Item> }) {
  if (by === undefined)
    return (
      <th class={look} title={about}>
        {title}
      </th>
    )
  const name = title.toLowerCase()
  const steps = look.includes('number') ? ['', `-${name}`, name] : ['', name, `-${name}`]
  const now = steps.indexOf(sort.value)
  const order = now < 1 ? 'none' : sort.value === name ? 'ascending' : 'descending'
  return (
    <th class={look} title={about} aria-sort={order}>
      <a href={hrefOf({ subject: subject.value, query: { sort: steps[(Math.max(now, 0) + 1) % 3] } })}>
        {title}
        <span aria-hidden="true">{{ none: '', ascending: ' ▲', descending: ' ▼' }[order]}</span>
      </a>
    </th>
  )
}

function sorted<Item>(items: readonly Item[], columns: readonly Column<Item>[]): readonly Item[] {
  const column = columns.find(({ title }) => title.toLowerCase() === sort.value.replace(/^-/, ''))
  if (column?.by === undefined) return items
  const sign = sort.value.startsWith('-') ? -1 : 1
  const values = new Map(items.map((item) => [item, column.by?.(item)]))
  return items.toSorted((one, other) => {
    const [first, second] = [values.get(one), values.get(other)]
    if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined)
    return first === second ? 0 : first < second ? -sign : sign
  })
}

/** The items with at least one text that contains the search text. Upper and lower case are equal. */
export function findItems<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => readonly string[],
): readonly Item[] {
  const wanted = search.trim().toLowerCase()
  return items.filter((item) => wanted === '' || textsOf(item).some((text) => text.toLowerCase().includes(wanted)))
}

export interface Selection {
  /** The selected names among some, because others may be gone. */
  among(names: readonly string[]): string[]
  clear(): void
  all: ComponentChildren
  box(name: string): ComponentChildren
}

/** A checkbox for each of some names, and for all of them. `shown` are those that can be seen now. */
export function useSelection(shown: readonly string[]): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const count = shown.filter((name) => selected.has(name)).length
  const isAll = count > 0 && count === shown.length
  const box = (label: string, checked: boolean, indeterminate: boolean, next: () => Set<string>) => (
    <label>
      <input type="checkbox" aria-label={label} {...{ checked, indeterminate }} onChange={() => setSelected(next())} />
    </label>
  )
  return {
    among: (names) => names.filter((name) => selected.has(name)),
    clear: () => setSelected(new Set()),
    all: box('Select all that match', isAll, count > 0 && !isAll, () => new Set(isAll ? [] : shown)),
    box: (name) =>
      box(`Select ${name}`, selected.has(name), false, () => selected.symmetricDifference(new Set([name]))),
  }
}

interface ListAndDetailProps {
  title: string
  children: ComponentChildren
  /** A `Detail` while an item is open. */
  detail: ComponentChildren
}

/** A list, and beside it the details of one of its items. On a narrow screen, the details take the place of the list. */
export function ListAndDetail({ title, children, detail }: ListAndDetailProps) {
  return (
    <div class="list-and-detail">
      <div class="list stack">
        <h2 class="unseen">{title}</h2>
        {children}
      </div>
      {detail}
    </div>
  )
}

interface DetailProps {
  title: string
  beside?: ComponentChildren
  children: ComponentChildren
}

/** The details of the open item. Escape and a link close them, and the focus returns to the row. */
export function Detail({ title, beside, children }: DetailProps) {
  const place = useRef<HTMLElement>(null)
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    // When the details close, the row no longer says that it is the open one.
    row.current = document.querySelector<HTMLElement>('.list a[aria-current="true"]') ?? row.current
  })
  useEffect(() => {
    const own = place.current
    const reached = scrollY
    // Where the details take the place of the list, they begin at the top, and the list goes on where it was.
    if ((own?.getBoundingClientRect().top ?? 0) < 0) own?.scrollIntoView()
    // A place that was opened by its address takes no focus.
    if (document.activeElement !== document.body) own?.focus({ preventScroll: true })
    function onEscape(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
      if (event.target instanceof Element && event.target.matches('input, select, textarea')) return
      event.preventDefault()
      go({})
    }
    document.addEventListener('keydown', onEscape)
    return () => {
      document.removeEventListener('keydown', onEscape)
      const hadFocus = own?.contains(document.activeElement) || document.activeElement === document.body
      // Beforehand, the list may be hidden.
      setTimeout(() => {
        scrollTo(0, reached)
        if (hadFocus) row.current?.focus({ preventScroll: true })
      })
    }
  }, [])
  useEffect(() => place.current?.scrollTo(0, 0), [title])
  return (
    <section ref={place} class="detail card stack" aria-label={title} tabIndex={-1}>
      <div class="row bar">
        <h2 class="grow">
          <bdi>{title}</bdi>
        </h2>
        {beside}
        <a href={hrefOf({})} class="button">
          Close
        </a>
      </div>
      {children}
    </section>
  )
}
