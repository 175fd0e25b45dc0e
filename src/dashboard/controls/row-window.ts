/** Rows beyond each edge that are drawn, too, so that a scroll shows no gap before the next drawing. */
const MARGIN = 8

/** A list of rows of one height, of which a part is seen. Lengths are in pixels. */
export interface View {
  /** How far it is scrolled. */
  top: number
  /** The height of the part that is seen. */
  height: number
  /** The height of a row. */
  row: number
  /** How many rows there are. */
  count: number
}

/** The rows to draw: from `first` to before `end`. */
export function windowOf({ top, height, row, count }: View): { first: number; end: number } {
  const reached = Math.max(0, Math.min(top, count * row - height))
  const first = Math.max(0, Math.floor(reached / row) - MARGIN)
  return { first, end: Math.min(count, Math.ceil((reached + height) / row) + MARGIN) }
}

/** How far to scroll so that a whole row is seen, with as little movement as possible. */
export function scrollToShow(index: number, { top, height, row, count }: View): number {
  const wanted = Math.max((index + 1) * row - height, Math.min(top, index * row))
  return Math.max(0, Math.min(wanted, count * row - height))
}

/** The row that a key moves to; `undefined` for any other key, and where there is no row. */
export function rowAfterKey(key: string, index: number, { height, row, count }: View): number | undefined {
  const page = Math.max(1, Math.floor(height / row) - 1)
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -count,
    End: count,
  }
  const step = steps[key]
  if (step === undefined || count === 0) return undefined
  return Math.max(0, Math.min(count - 1, index + step))
}
