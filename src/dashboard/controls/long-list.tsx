import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useRowSizes } from './row-sizes.ts'
import { rowAfterKey, scrollToShow, type View, windowOf } from './row-window.ts'

/** The `tabIndex` for the controls of a row. The arrow keys move between the rows. */
interface RowState {
  tabIndex: 0 | -1
}

interface LongListProps<Item> {
  id: string
  /** The name of the list. */
  label: string
  items: readonly Item[]
  keyOf(item: Item): string
  /** More attributes for the row, such as `data-group`. */
  attributesOf?(item: Item): Readonly<Record<string, string>>
  children(item: Item, state: RowState): ComponentChildren
}

/** A list of rows of equal height that renders only visible rows. It may have any number of items. */
export function LongList<Item>({ id, label, items, keyOf, attributesOf, children }: LongListProps<Item>) {
  const place = useRef<HTMLDivElement>(null)
  const { height, row } = useRowSizes(place)
  const [top, setTop] = useState(0)
  const [wanted, setActive] = useState(0)
  const moving = useRef(false)
  const active = Math.min(wanted, Math.max(0, items.length - 1))
  const view: View = { top, height, row, count: items.length }
  const { first, end } = windowOf(view)

  function onKeyDown(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey } = event
    if (altKey || ctrlKey || metaKey) return
    const next = rowAfterKey(key, active, view)
    if (next === undefined) return
    event.preventDefault()
    setActive(next)
    moving.current = true
    const reached = scrollToShow(next, view)
    if (place.current !== null) place.current.scrollTop = reached
    setTop(reached)
  }

  useLayoutEffect(() => {
    if (!moving.current) return
    moving.current = false
    place.current?.querySelector<HTMLElement>(`[data-index="${active}"] [tabindex="0"]`)?.focus({ preventScroll: true })
  })

  // The focused row stays rendered when it is scrolled away, so that the focus is not lost.
  const indexes = [...items.slice(first, end).keys()].map((index) => first + index)
  if (active < first) indexes.unshift(active)
  if (active >= end && active < items.length) indexes.push(active)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the controls of its rows.
    <div
      class="long-list"
      ref={place}
      style={{ '--row': `${row}px` }}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <ul id={id} aria-label={label} style={{ height: `${items.length * row}px` }}>
        {indexes.map((index) => {
          const item = items[index]
          return (
            item !== undefined && (
              <li
                key={keyOf(item)}
                {...attributesOf?.(item)}
                data-index={index}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${index * row}px)` }}
                onFocusIn={() => setActive(index)}
              >
                {children(item, { tabIndex: index === active ? 0 : -1 })}
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}
