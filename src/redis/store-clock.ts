import { elapsed } from '../ground/clock.ts'

/** The possible drift between two clocks, as a part of the time: 1 ms in 20 seconds. */
const DRIFT = 0.00005
/** The same while a clock is being corrected. */
const SLEW = 0.0005

/** An estimate of the store's time from earlier replies, the same for all replicas. It never goes back. */
export class StoreClock {
  /** The difference between the store's time and `elapsed`, by the best reply. */
  #offset: number
  /** The possible error of the offset, and when it was determined. */
  #error = Number.POSITIVE_INFINITY
  #learnt = 0
  #latest = 0
  #seen = 0
  /** The store's time is at least `elapsed` plus this, which was determined then. */
  #bound = { offset: Number.NEGATIVE_INFINITY, at: 0 }

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
    this.see(time * 1_000)
  }

  /** A reply has named this time of the store, in microseconds since the Unix epoch. */
  see(micros: number): void {
    if (micros > this.#seen) this.#seen = micros
    const at = elapsed()
    const offset = micros / 1_000 - at
    if (offset > this.#boundAt(at)) this.#bound = { offset, at }
  }

  /** The greatest time of the store in any reply, in microseconds. The store gives later times to later requests. */
  get seen(): number {
    return this.#seen
  }

  /**
   * A time in microseconds that the store has reached, but hardly passed. What a client does after the answer to what
   * happens now gets a later time of any server.
   */
  get reached(): number {
    const at = elapsed()
    const bound = at + this.#boundAt(at)
    return bound > 0 ? Math.max(this.#seen, Math.floor(bound * 1_000)) : this.#seen
  }

  #boundAt(at: number): number {
    return this.#bound.offset - (at - this.#bound.at) * SLEW
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(elapsed() + this.#offset))
    return this.#latest
  }
}
