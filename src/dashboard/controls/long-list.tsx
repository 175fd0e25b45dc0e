import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useRows } from './rows.ts'

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
                {children(item, { tabIndex: index === active ? 0 : -1 })}
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}
