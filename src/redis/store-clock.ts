import { elapsed } from '../ground/clock.ts'

/** The possible drift between two clocks, as a part of the time: 1 ms in 20 seconds. */
const DRIFT = 0.00005

/** An estimate of the store's time from earlier replies, the same for all replicas. It never goes back. */
export class StoreClock {
  /** The difference between the store's time and `elapsed`, by the best reply. */
  #offset: number
  /** The possible error of the offset, and when it was determined. */
  #error = Number.POSITIVE_INFINITY
  #learnt = 0
  #latest = 0
  #seen = 0

  /** `start` is the time before the first reply, in milliseconds since the Unix epoch. */
  constructor(start: number) {
    this.#offset = start - elapsed()
  }

  /** A reply with the store's `time` in milliseconds has just arrived. It was requested at `asked`, by `elapsed`. */
  learn(time: number, asked: number): void {
    const came = elapsed()
    const error = (came - asked) / 2
    // The middle is the best guess, but the store's time is at least the time in the reply.
    if (error <= this.#error + (came - this.#learnt) * DRIFT) {
      this.#offset = time - (came + asked) / 2
      this.#error = error
      this.#learnt = came
    }
    this.#latest = Math.max(this.#latest, time)
  }

  /** A reply has named this time of the store, in microseconds since the Unix epoch. */
  see(micros: number): void {
    if (micros > this.#seen) this.#seen = micros
  }

  /** The greatest time of the store in any reply, in microseconds. The store gives later times to later requests. */
  get seen(): number {
    return this.#seen
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(elapsed() + this.#offset))
    return this.#latest
  }
}
