import type { Entry } from './entry.ts'
import type { Ring } from './ring.ts'

/** The direction of a walk: from the oldest to the newest, or back. */
type Direction = 1 | -1

/** An entry of a ring and its number. */
interface Cursor {
  ring: Ring
  number: number
  entry: Entry
}

/**
 * The entries of several rings in the order of their ordinals. One direction is from the first ordinal that is not
 * smaller than `ordinal` to the newest. The other is from the last smaller one to the oldest. Nothing is copied, so the
 * rings may change between two steps: a dropped entry is left out, and a new entry of these rings follows the others.
 */
export function* walk(rings: Iterable<Ring>, ordinal: number, step: Direction): Generator<Entry, void, undefined> {
  /** A binary heap: the entry of the first cursor comes next, and each cursor is before those at 2n + 1 and 2n + 2. */
  const heap: Cursor[] = []
  for (const ring of rings) {
    const cursor = cursorAt(ring, step === 1 ? ring.numberOf(ordinal) : ring.numberOf(ordinal) - 1, step)
    if (cursor !== undefined) heap.push(cursor)
  }
  for (let index = heap.length >>> 1; index >= 0; index--) sink(heap, index, step)
  for (let [first] = heap; first !== undefined; [first] = heap) {
    yield first.entry
    const next = cursorAt(first.ring, first.number + step, step) ?? heap.pop()
    if (next === undefined || heap.length === 0) return
    heap[0] = next
    sink(heap, 0, step)
  }
}

/** The cursor at an entry. On the way to the newest entry, it is at the oldest entry that was not dropped meanwhile. */
function cursorAt(ring: Ring, number: number, step: Direction): Cursor | undefined {
  const reached = step === 1 ? Math.max(number, ring.first) : number
  const entry = ring.at(reached)
  return entry && { ring, number: reached, entry }
}

/** Moves a cursor of the heap behind those that come before it. */
function sink(heap: Cursor[], from: number, step: Direction): void {
  const cursor = heap[from]
  if (cursor === undefined) return
  let index = from
  for (;;) {
    const left = heap[2 * index + 1]
    const right = heap[2 * index + 2]
    const child = right !== undefined && left !== undefined && precedes(right, left, step) ? right : left
    if (child === undefined || !precedes(child, cursor, step)) break
    heap[index] = child
    index = 2 * index + (child === left ? 1 : 2)
  }
  heap[index] = cursor
}

function precedes(one: Cursor, other: Cursor, step: Direction): boolean {
  return (one.entry.ordinal - other.entry.ordinal) * step < 0
}
