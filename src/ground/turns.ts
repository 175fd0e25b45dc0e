import { elapsed } from './clock.ts'
import { setImmediate } from './timers.ts'

/** In milliseconds, the length of a turn. Other work waits this long, or longer if one step is long. */
const TURN = 5

/**
 * Divides long work into turns, so that other work need not wait for its end: after each step, `if (turns.isOver())
 * await turns.next()`. The data of the work may have changed when its next turn begins. Works that begin at the same
 * time share one turn.
 */
export class Turns {
  #stepped = elapsed()
  readonly #length: number

  /** `length` is in milliseconds. */
  constructor(length = TURN) {
    this.#length = length
  }

  /** Whether other work should have a turn now. */
  isOver(): boolean {
    const now = elapsed()
    take(now - this.#stepped)
    this.#stepped = now
    return taken >= this.#length
  }

  /** Resolves when all other waiting work has had a turn. Only one of several long works has a turn at a time. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(giveTurn)
    })
    this.#stepped = elapsed()
  }
}

/** What the works have taken of the present turn, in milliseconds. */
let taken = 0
let willRestart = false

function take(duration: number): void {
  taken += duration
  if (willRestart) return
  willRestart = true
  setImmediate(restart)
}

function restart(): void {
  willRestart = false
  taken = 0
}

/** The works that wait for their next turn. */
const waiting: (() => void)[] = []

function giveTurn(): void {
  taken = 0
  waiting.shift()?.()
  // A turn runs before the next immediate. Work that needs another turn then queues again.
  if (waiting.length > 0) setImmediate(giveTurn)
}
