import { doubtWhatIsNamed } from './behaviour.ts'
import type { Belief } from './belief.ts'
import type { AskedRequest } from './request.ts'

/** In milliseconds: after this time, nobody carries out any more what nobody waits for. */
const HORIZON = 15 * 60_000
/** How many requests are kept. While there are more, everything is in doubt. */
const KEPT = 50

/**
 * The latest requests to change an account that got no answer of the service. It may carry each of them out much later:
 * what a list shows before that is true, and not so any more afterwards.
 */
export class UnansweredWrites {
  #latest: { asked: AskedRequest; end: number }[] = []
  /** Until when everything is in doubt. */
  #end = Number.NEGATIVE_INFINITY

  /** `until` is when the client stopped to wait. */
  note(asked: AskedRequest, until: number): void {
    this.#latest.push({ asked, end: until + HORIZON })
    if (this.#latest.length > KEPT) this.#end = Math.max(this.#end, this.#latest.shift()?.end ?? 0)
  }

  /** Puts in doubt what they may still change, after an exchange that was sent at this time has shown it. */
  doubt(belief: Belief, at: number): void {
    if (at <= this.#end) belief.forget()
    if (this.#latest.length === 0) return
    this.#latest = this.#latest.filter(({ end }) => at <= end)
    for (const { asked } of this.#latest) doubtWhatIsNamed(asked, belief)
  }
}
