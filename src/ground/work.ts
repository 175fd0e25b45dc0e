import type { Awaitable } from './awaitable.ts'
import { Turns } from './turns.ts'

/** Work that can pause: it yields at every possible pause, at least every millisecond or so. */
export type Work<Result> = Generator<undefined, Result, undefined>

/** Does the whole work at once. */
export function runAtOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Nobody waits for the result of a work any more, so the work was given up. */
export class Abandoned extends Error {
  override name = 'Abandoned'
}

/**
 * Does the work in short turns, so that the process can do other work in between. Work that ends within its first turn
 * is done at once. Of several longer works, one has a turn at a time. Rejects with `Abandoned` if `isUnwanted` answers
 * true between two turns.
 */
export function runInTurns<Result>(work: Work<Result>, isUnwanted = () => false): Awaitable<Result> {
  const turns = new Turns()
  const step = takeTurn(work, turns)
  return step.done ? step.value : runLater(work, turns, isUnwanted)
}

async function runLater<Result>(work: Work<Result>, turns: Turns, isUnwanted: () => boolean): Promise<Result> {
  for (;;) {
    await turns.next()
    if (isUnwanted()) throw new Abandoned()
    const step = takeTurn(work, turns)
    if (step.done) return step.value
  }
}

function takeTurn<Result>(work: Work<Result>, turns: Turns): IteratorResult<undefined, Result> {
  for (;;) {
    const step = work.next()
    if (step.done || turns.isOver()) return step
  }
}

/** Maps a list, with a pause after every few items. */
export function* mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Work<Result[]> {
  const results: Result[] = []
  for (let index = 0; index < items.length; index++) {
    results.push(map(items[index] as Item, index))
    if (index % PAUSE === PAUSE - 1) yield
  }
  return results
}

/** After how many small items the work pauses. */
export const PAUSE = 200
