import { elapsed } from './clock.ts'

/** In milliseconds, how long a turn is. Others wait so long, and a little longer where one step of the work is long. */
const TURN = 5

/**
 * Divides long work into turns, so that others need not wait for its end: after each step,
 * `if (turns.isOver()) await turns.next()`. What the work looks at may have changed when its next turn begins.
 */
export class Turns {
  #began = elapsed()

  /** Whether it is the turn of others. */
  isOver(): boolean {
    return elapsed() - this.#began >= TURN
  }

  /** Resolves when everybody who was waiting has had a turn. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#began = elapsed()
  }
}
