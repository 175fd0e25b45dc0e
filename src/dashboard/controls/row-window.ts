/** How many rows are rendered beyond each edge, so that scrolling shows no gap before the next render. */
const MARGIN = 8

/** The state of a partly visible list with rows of equal height. Lengths are in pixels. */
export interface View {
  top: number
  height: number
  row: number
  count: number
}

/** The rows to render: from `first` to `end`, exclusive. */
export function windowOf({ top, height, row, count }: View): { first: number; end: number } {
  const reached = Math.max(0, Math.min(top, count * row - height))
  const first = Math.max(0, Math.floor(reached / row) - MARGIN)
  return { first, end: Math.min(count, Math.ceil((reached + height) / row) + MARGIN) }
}

/** The scroll position at which a row is completely visible, with the least movement. */
export function scrollToShow(index: number, { top, height, row, count }: View): number {
  const wanted = Math.max((index + 1) * row - height, Math.min(top, index * row))
  return Math.max(0, Math.min(wanted, count * row - height))
}

/** The row that a key selects; `undefined` for other keys, and if there is no row. */
export function rowAfterKey(key: string, index: number, { height, row, count }: View): number | undefined {
  const page = Math.max(1, Math.floor(height / row) - 1)
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowDown: 1, PageDown: page, End: count },
    ...{ ArrowUp: -1, PageUp: -page, Home: -count },
  }
  const step = steps[key]
  if (step === undefined || count === 0) return undefined
  return Math.max(0, Math.min(count - 1, index + step))
}
