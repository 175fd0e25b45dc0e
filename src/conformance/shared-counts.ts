/** A request with one key, and how it relates to the count of its path. */
export interface CountedRequest {
  path: string
  /** Successes are charged. It is open for requests refused for their content, and unknown for others. */
  kind: 'success' | 'refused' | 'limited' | undefined
  /** What the response says is left, and the window it is about; absent if the response does not say it. */
  sample: { remaining: number; window: object } | undefined
  /** Whether it was sent before an earlier request was answered. */
  overlaps: boolean
}

/** What the last sample of a path said, and which requests were sent since. */
interface Interval {
  remaining: number
  window: object
  /** Requests to this path. */
  own: Counts
  /** Requests to other paths. */
  others: Counts
  /** Whether it is unknown if one of the requests was charged, even when the rule for refusals is known. */
  isVague: boolean
}

interface Counts {
  success: number
  refused: number
}

/** By how much the remaining quota of a path fell, and how many requests were charged meanwhile. */
export interface Fall {
  by: number
  own: number
  others: number
}

/**
 * The paths certainly share a count once requests to other paths lowered the count exactly this many times (`busy`).
 * The count must also have stayed exact this many times without such requests (`quiet`). Another client would have to
 * spend exactly then, exactly as much, and never at another time.
 */
const ENOUGH = { busy: 6, quiet: 20 }
const ENOUGH_ALONE = { busy: 2, quiet: 0 }

/** The hypothesis that paths share a count, with or without refusals. */
class Hypothesis {
  readonly #countsRefusals: boolean
  readonly #enough: typeof ENOUGH
  #matches = { busy: 0, quiet: 0 }
  #isRefuted = false

  constructor(countsRefusals: boolean, enough: typeof ENOUGH) {
    this.#countsRefusals = countsRefusals
    this.#enough = enough
  }

  /** Returns the fall that makes the hypothesis certain. */
  compare(interval: Interval, by: number): Fall | undefined {
    const [own, others] = [interval.own, interval.others].map(
      ({ success, refused }) => success + (this.#countsRefusals ? refused : 0),
    ) as [number, number]
    if (this.#isRefuted) return undefined
    if (by < own + others) {
      this.#isRefuted = true
      return undefined
    }
    // The requests to this path alone may have lowered the count, if the service charges what it refuses.
    if (others > 0 && by <= interval.own.success + interval.own.refused) return undefined
    // Another client spends, so the fall shows nothing.
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
 * Finds out from the remaining quotas whether all paths of a service share one count. They do not if one interval took
 * less than the number of requests to all paths.
 */
export class SharedCounts {
  readonly #intervals = new Map<string, Interval>()
  readonly #hypotheses: readonly Hypothesis[]
  #isCertain = false

  constructor(isSoleClient: boolean) {
    const enough = isSoleClient ? ENOUGH_ALONE : ENOUGH
    this.#hypotheses = [true, false].map((countsRefusals) => new Hypothesis(countsRefusals, enough))
  }

  /** Takes the next request in order. Returns, once, the fall that makes it certain that paths share a count. */
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
    // The count never falls below zero.
    if (sample.remaining === 0) return undefined
    const falls = this.#hypotheses.map((each) => each.compare(interval, interval.remaining - sample.remaining))
    const fall = falls.find((each) => each !== undefined)
    this.#isCertain = fall !== undefined
    return fall
  }
}
