import { elapsed } from './clock.ts'

/** In milliseconds, how long a turn is. Others wait so long, and a little longer where one step of the work is long. */
const TURN = 5

/**
 * Divides long work into turns, so that others need not wait for its end: after each step,
 * `if (turns.isOver()) await turns.next()`. What the work looks at may have changed when its next turn begins.
 */
export class Turns {
  #began = elapsed()
  readonly #length: number

  /** `length` is in milliseconds. */
  constructor(length = TURN) {
    this.#length = length
  }

  /** Whether it is the turn of others. */
  isOver(): boolean {
    return elapsed() - this.#began >= this.#length
  }

  /** Resolves when everybody who was waiting has had a turn. Of several long works, one has its turn at a time. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(giveTurn)
    })
    this.#began = elapsed()
  }
}

/** The works that wait for their next turn. */
const waiting: (() => void)[] = []

function giveTurn(): void {
  waiting.shift()?.()
  // The turn is taken before the next immediate; whoever wants another then asks for it.
  if (waiting.length > 0) setImmediate(giveTurn)
}
