import { elapsed } from '../../ground/clock.ts'

/** How much more exact a reply counts for each millisecond that the last exact one is older: clocks drift apart. */
const DRIFT = 0.00005

/** An estimate of the store's time from earlier replies. It never goes back. */
export class StoreClock {
  /** The difference between the store's time and `elapsed`, by the best reply. */
  #offset: number
  /** The possible error of the offset, and when it was determined. */
  #error = Number.POSITIVE_INFINITY
  #learnt = 0
  #latest = 0

  /** `start` is the time before the first reply, in milliseconds since the Unix epoch. */
  constructor(start: number) {
    this.#offset = start - elapsed()
  }

  /** A reply with the store's `time` in milliseconds has just arrived. It was requested at `asked`, by `elapsed`. */
  learn(time: number, asked: number): void {
    const came = elapsed()
    const error = (came - asked) / 2
    if (error > this.#error + (came - this.#learnt) * DRIFT) return
    this.#offset = time - (came + asked) / 2
    this.#error = error
    this.#learnt = came
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(elapsed() + this.#offset))
    return this.#latest
  }
}
