import { useState } from 'preact/hooks'
import { formatNumber } from '../formatting.ts'

/** How many rows are rendered at first, and how many more each time: a table of thousands is slow to lay out. */
const MOST = 500

/** The first items of a list, and a button that shows more of them. `about` says what is listed: another list begins anew. */
export function useFirst<Item>(items: readonly Item[], about: string) {
  const [shown, setShown] = useState({ about, count: MOST })
  const count = shown.about === about ? shown.count : MOST
  const rest = items.length - count
  const more = rest > 0 && (
    <p class="more">
      <button type="button" onClick={() => setShown({ about, count: count + MOST })}>
        Show {formatNumber(Math.min(rest, MOST))} more of {formatNumber(rest)}
      </button>
    </p>
  )
  return [items.slice(0, count), more] as const
}

/** The items with at least one text that contains the search text. Upper and lower case are equal. */
export function findItems<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => readonly string[],
): readonly Item[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return items
  return items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(wanted)))
}

/** A checkbox for each of some names, and for all of them. `shown` are those that can be seen now. */
export function useSelection(shown: readonly string[]) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const count = shown.filter((name) => selected.has(name)).length
  const all = count > 0 && count === shown.length
  return {
    /** The selected names among some, because others may be gone. */
    among: (names: readonly string[]) => names.filter((name) => selected.has(name)),
    clear: () => setSelected(new Set()),
    all: (
      <label>
        <input
          type="checkbox"
          aria-label="Select all that match"
          checked={all}
          indeterminate={count > 0 && !all}
          onChange={() => setSelected(new Set(all ? [] : shown))}
        />
      </label>
    ),
    box: (name: string) => (
      <label>
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={selected.has(name)}
          onChange={() => {
            const next = new Set(selected)
            if (!next.delete(name)) next.add(name)
            setSelected(next)
          }}
        />
      </label>
    ),
  }
}
