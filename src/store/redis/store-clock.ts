import { elapsed } from '../../ground/clock.ts'

/** By how much two clocks may drift apart, as a part of the time: 1 ms in 20 seconds. */
const DRIFT = 0.00005

/**
 * The time of the store, which all replicas share, as it can be told without asking: from the replies that told it. It
 * never goes back.
 */
export class StoreClock {
  /** What has to be added to `elapsed`, by the best reply. */
  #offset: number
  /** By how much that may be wrong, and when that was so. */
  #error = Number.POSITIVE_INFINITY
  #learnt = 0
  #latest = 0

  /** `start` is the time that is told before the first reply, in milliseconds since the Unix epoch. */
  constructor(start: number) {
    this.#offset = start - elapsed()
  }

  /** A reply says that the time was `time` in milliseconds; it was asked at `asked` by `elapsed`, and came just now. */
  learn(time: number, asked: number): void {
    const came = elapsed()
    const error = (came - asked) / 2
    // The middle is the best guess, but the time has come at least to what the store says.
    if (error <= this.#error + (came - this.#learnt) * DRIFT) {
      this.#offset = time - (came + asked) / 2
      this.#error = error
      this.#learnt = came
    }
    this.#latest = Math.max(this.#latest, time)
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(elapsed() + this.#offset))
    return this.#latest
  }

  /** Forgets what it has learnt, for a store that another one has replaced. */
  reset(time: number): void {
    this.#error = Number.POSITIVE_INFINITY
    this.#latest = time
  }
}
