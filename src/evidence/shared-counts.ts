/** A request with one key, and what it has to do with the count of its path. */
export interface CountedRequest {
  path: string
  /** Successes are charged. Of requests that are refused for what they ask, that is open; of others, nothing is known. */
  kind: 'success' | 'refused' | 'limited' | undefined
  /** What the response says is left, and the window that it speaks of; absent where it does not say it. */
  sample: { remaining: number; window: object } | undefined
  /** Whether it was sent before an earlier one was answered. */
  overlaps: boolean
}

/** What the last sample of a path said, and what was sent since. */
interface Interval {
  remaining: number
  window: object
  /** Requests to this path. */
  own: Counts
  /** Requests to other paths. */
  others: Counts
  /** Whether one of the requests may have been charged or not, whatever is true of refusals. */
  isVague: boolean
}

interface Counts {
  success: number
  refused: number
}

/** By how much less is left of the quota of a path, and how many requests were charged meanwhile. */
export interface Fall {
  by: number
  own: number
  others: number
}

/**
 * So many times, requests to other paths must have been taken from the count of a path, each of them exactly, and so many
 * times nothing when there were none, before it is taken for certain that the paths share it. Another client would have to
 * spend just then, just as much, and never else.
 */
const ENOUGH = { busy: 6, quiet: 20 }
const ENOUGH_ALONE = { busy: 2, quiet: 0 }

/** If paths share a count, and refusals count or not. */
class Hypothesis {
  readonly #countsRefusals: boolean
  readonly #enough: typeof ENOUGH
  #matches = { busy: 0, quiet: 0 }
  #isRefuted = false

  constructor(countsRefusals: boolean, enough: typeof ENOUGH) {
    this.#countsRefusals = countsRefusals
    this.#enough = enough
  }

  /** Returns the fall that makes it certain. */
  compare(interval: Interval, by: number): Fall | undefined {
    const [own, others] = [interval.own, interval.others].map(
      ({ success, refused }) => success + (this.#countsRefusals ? refused : 0),
    ) as [number, number]
    if (this.#isRefuted) return undefined
    if (by < own + others) {
      this.#isRefuted = true
      return undefined
    }
    // Another client spends, so what falls tells nothing.
    if (by > own + others) {
      this.#matches = { busy: 0, quiet: 0 }
      return undefined
    }
    this.#matches[others === 0 ? 'quiet' : 'busy']++
    const { busy, quiet } = this.#matches
    return others > 0 && busy >= this.#enough.busy && quiet >= this.#enough.quiet ? { by, own, others } : undefined
  }
}

/**
 * Finds out from what is left of each path whether all paths of a service share one count. A single interval in which less
 * was taken than was sent to all paths shows that they do not.
 */
export class SharedCounts {
  readonly #intervals = new Map<string, Interval>()
  readonly #hypotheses: readonly Hypothesis[]
  #isCertain = false

  constructor(isSoleClient: boolean) {
    const enough = isSoleClient ? ENOUGH_ALONE : ENOUGH
    this.#hypotheses = [true, false].map((countsRefusals) => new Hypothesis(countsRefusals, enough))
  }

  /** Takes the next request in order. Returns the fall that makes it certain that paths share a count, once. */
  take({ path, kind, sample, overlaps }: CountedRequest): Fall | undefined {
    if (this.#isCertain) return undefined
    if (overlaps) this.#intervals.clear()
    for (const [of, interval] of this.#intervals) {
      if (kind === 'success' || kind === 'refused') interval[of === path ? 'own' : 'others'][kind]++
      else interval.isVague = true
    }
    if (sample === undefined) return undefined
    const interval = this.#intervals.get(path)
    const nothing = { success: 0, refused: 0 }
    this.#intervals.set(path, { ...sample, own: { ...nothing }, others: { ...nothing }, isVague: false })
    if (interval === undefined || interval.isVague || interval.window !== sample.window) return undefined
    // Nothing falls below zero.
    if (sample.remaining === 0) return undefined
    const falls = this.#hypotheses.map((each) => each.compare(interval, interval.remaining - sample.remaining))
    const fall = falls.find((each) => each !== undefined)
    this.#isCertain = fall !== undefined
    return fall
  }
}
