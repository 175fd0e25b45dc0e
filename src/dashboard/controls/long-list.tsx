import type { ComponentChildren, RefObject, TargetedEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The least height of a row in pixels, because its buttons must be easy to touch. */
const LEAST = 40
/** The height of a row with one line of text, in rem. */
const LINE = 2.8
/** What each further line adds to them. */
const NEXT_LEAST = 28
const NEXT_LINE = 2.1

/** How many rows are rendered beyond each edge, so that scrolling shows no gap before the next render. */
const MARGIN = 8

/** The state of a partly visible list with rows of equal height. Lengths are in pixels. */
interface View {
  top: number
  height: number
  row: number
  count: number
}

/** A list with rows of equal height that renders only visible rows. The style sets `--lines` for rows with two lines. */
export function useRows(place: RefObject<HTMLElement | null>, count: number) {
  const { height, row } = useRowSizes(place)
  const [top, setTop] = useState(0)
  const view: View = { top, height, row, count }
  const { first, end } = windowOf(view)
  return {
    row,
    /** The rows to render. The focused row stays rendered when it is scrolled away, so that the focus is not lost. */
    indexesWith(active: number): number[] {
      const indexes = Array.from({ length: end - first }, (_, index) => first + index)
      if (active < first && active < count) indexes.unshift(active)
      if (active >= end && active < count) indexes.push(active)
      return indexes
    },
    /** Scrolls to the row that a key selects. Returns its index, or `undefined` if the key has another function. */
    moveByKey(event: KeyboardEvent, active: number): number | undefined {
      if (event.altKey || event.ctrlKey || event.metaKey) return undefined
      const next = rowAfterKey(event.key, active, view)
      if (next === undefined) return undefined
      event.preventDefault()
      const reached = scrollToShow(next, view)
      if (place.current !== null) place.current.scrollTop = reached
      setTop(reached)
      return next
    },
    onScroll({ currentTarget }: TargetedEvent<HTMLElement>) {
      setTop(currentTarget.scrollTop)
    },
  }
}

/** The heights of the visible part of a list and of its rows, in pixels. */
function useRowSizes(place: RefObject<HTMLElement | null>): { height: number; row: number } {
  const [sizes, setSizes] = useState({ height: 600, row: 44 })
  useLayoutEffect(() => {
    const node = place.current
    if (node === null) return
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      const lines = Number(getComputedStyle(node).getPropertyValue('--lines') || 1)
      const [height, row] = [node.clientHeight, heightOfLines(lines, rem)]
      setSizes((known) => (known.height === height && known.row === row ? known : { height, row }))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return sizes
}

/** The height of a row with so many lines of text, in pixels. */
function heightOfLines(lines: number, rem: number): number {
  return Math.max(LEAST + (lines - 1) * NEXT_LEAST, Math.round((LINE + (lines - 1) * NEXT_LINE) * rem))
}

interface LongListProps<Item> {
  id: string
  label: string
  items: readonly Item[]
  keyOf(item: Item): string
  /** More attributes for the row, such as `data-group`. */
  attributesOf?(item: Item): Readonly<Record<string, string>>
  /** `tabIndex` is for the controls of a row. The arrow keys move between the rows. */
  children(item: Item, tabIndex: 0 | -1): ComponentChildren
}

/** A list of rows of equal height that renders only visible rows. It may have any number of items. */
export function LongList<Item>({ id, label, items, keyOf, attributesOf, children }: LongListProps<Item>) {
  const place = useRef<HTMLDivElement>(null)
  const rows = useRows(place, items.length)
  const [wanted, setActive] = useState(0)
  const moving = useRef(false)
  const active = Math.min(wanted, Math.max(0, items.length - 1))

  function onKeyDown(event: KeyboardEvent): void {
    const next = rows.moveByKey(event, active)
    if (next === undefined) return
    setActive(next)
    moving.current = true
  }

  useLayoutEffect(() => {
    if (!moving.current) return
    moving.current = false
    place.current?.querySelector<HTMLElement>(`[data-index="${active}"] [tabindex="0"]`)?.focus({ preventScroll: true })
  })

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the controls of its rows.
    <div
      class="long-list"
      ref={place}
      style={{ '--row': `${rows.row}px` }}
      onScroll={rows.onScroll}
      onKeyDown={onKeyDown}
    >
      <ul id={id} aria-label={label} style={{ height: `${items.length * rows.row}px` }}>
        {rows.indexesWith(active).map((index) => {
          const item = items[index]
          return (
            item !== undefined && (
              <li
                key={keyOf(item)}
                {...attributesOf?.(item)}
                data-index={index}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${index * rows.row}px)` }}
                onFocusIn={() => setActive(index)}
              >
                {children(item, index === active ? 0 : -1)}
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}

/** The rows to render: from `first` to `end`, exclusive. */
function windowOf({ top, height, row, count }: View): { first: number; end: number } {
  const reached = Math.max(0, Math.min(top, count * row - height))
  const first = Math.max(0, Math.floor(reached / row) - MARGIN)
  return { first, end: Math.min(count, Math.ceil((reached + height) / row) + MARGIN) }
}

/** The scroll position at which a row is completely visible, with the least movement. */
function scrollToShow(index: number, { top, height, row, count }: View): number {
  const wanted = Math.max((index + 1) * row - height, Math.min(top, index * row))
  return Math.max(0, Math.min(wanted, count * row - height))
}

/** The row that a key selects; `undefined` for other keys, and if there is no row. */
function rowAfterKey(key: string, index: number, { height, row, count }: View): number | undefined {
  const page = Math.max(1, Math.floor(height / row) - 1)
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowDown: 1, PageDown: page, End: count },
    ...{ ArrowUp: -1, PageUp: -page, Home: -count },
  }
  const step = steps[key]
  if (step === undefined || count === 0) return undefined
  return Math.max(0, Math.min(count - 1, index + step))
}
