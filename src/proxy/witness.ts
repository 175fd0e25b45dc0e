import type { Exchange } from '../exchanges/exchange.ts'
import type { RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { Keys } from '../exchanges/keys.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { nextTurn } from '../ground/timers.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { Conclusion } from '../judge/judge.ts'
import { readSighting, type Sighting } from './sighting.ts'
import type { ProxyTarget } from './target.ts'
import { mayChange, type PassedExchange } from './traffic.ts'

/** How many exchanges may wait. Their bodies have a limit of their own. */
export const WAITING_LIMIT = 2_000

/** Judges exchanges one after the other. Any function may throw, because of a bug. */
export interface TrafficJudge {
  take(exchange: Exchange): Awaitable<readonly JudgedDifference[]>
  /** Must be called if exchanges before the next one are missing. */
  forget(): void
  /** How many exchanges had a behaviour that could be judged. */
  readonly judged: number
  conclude(): Conclusion
}

/** The judgement of one exchange, and whether its behaviour could be judged. */
export interface ExchangeJudgement {
  findings: readonly JudgedDifference[]
  isJudged: boolean
}

export interface WitnessOptions {
  target: ProxyTarget
  /** The base path of the contract. */
  basePath: string
  judge: TrafficJudge
  /** Records the exchange, if the user asked for a recording. It must not throw. */
  record?: ((exchange: RecordedExchange) => void) | undefined
  /** Takes each exchange with the service before it is judged. */
  seen?: ((exchange: Exchange) => void) | undefined
  /** Adds each exchange to the journal, after its judgement if there is one. */
  note?: ((sighting: Sighting, passed: PassedExchange, judgement: ExchangeJudgement) => void) | undefined
  found(finding: JudgedDifference): void
  /** The judge or the reader of exchanges threw an error. */
  failed(error: unknown): void
}

const UNJUDGED: ExchangeJudgement = { findings: [], isJudged: false }

/** Examines the traffic without delaying it: reads, records and judges what was passed on, in the order of its end. */
export class Witness {
  readonly keys = new Keys()
  readonly #options: WitnessOptions
  readonly #queue: PassedExchange[] = []
  #working: Promise<void> | undefined
  /** Whether an exchange was left out since the last one that was judged. */
  #isGap = false
  #isEnding = false
  /**
   * Counts of the traffic. `foreign` paths are not below the base URL of the service. Not judged were those that were
   * `skipped` because too many waited, `left` when the time was over, and `failures` because of a bug.
   */
  readonly sightings = {
    ...{ exchanges: 0, foreign: 0, unanswered: 0, redirects: 0, refusedByQuota: 0, html: 0 },
    ...{ skipped: 0, left: 0, failures: 0 },
  }

  constructor(options: WitnessOptions) {
    this.#options = options
  }

  /** How many exchanges wait to be judged. */
  get waiting(): number {
    return this.#queue.length
  }

  take(passed: PassedExchange): void {
    this.sightings.exchanges++
    if (this.#queue.length < WAITING_LIMIT) {
      this.#queue.push(passed)
      this.#working ??= this.#work()
      return
    }
    this.sightings.skipped++
    this.#isGap = true
    for (const message of [passed.request, passed.response]) message?.body.release()
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#working
  }

  /** From now on, what waits is recorded, and not judged any more. */
  hurry(): void {
    this.#isEnding = true
  }

  /** The traffic has its turn before each exchange. */
  async #work(): Promise<void> {
    await nextTurn()
    for (let passed = this.#queue.shift(); passed !== undefined; passed = this.#queue.shift()) {
      try {
        await this.#examine(passed)
      } catch (error) {
        this.sightings.failures++
        this.#isGap = true
        this.#options.failed(error)
      }
      await nextTurn()
    }
    this.#working = undefined
  }

  async #examine(passed: PassedExchange): Promise<void> {
    const { target, basePath, record, seen, note, found } = this.#options
    const sighting = readSighting(passed, { target, basePath, keys: this.keys })
    record?.(sighting.recorded)
    if (sighting.isOfService) seen?.(sighting.exchange)
    this.#count(sighting, passed.broken !== undefined)
    let judgement = UNJUDGED
    try {
      judgement = await this.#judge(sighting)
    } finally {
      note?.(sighting, passed, judgement)
    }
    judgement.findings.forEach(found)
  }

  async #judge({ exchange, isOfService }: Sighting): Promise<ExchangeJudgement> {
    const { judge } = this.#options
    if (!isOfService || this.#isEnding) {
      // The request may be outside of the contract, and then it is not known what it changed.
      if (isOfService) this.sightings.left++
      if (mayChange(exchange.request.method)) this.#isGap = true
      return UNJUDGED
    }
    if (this.#isGap) judge.forget()
    this.#isGap = false
    const before = judge.judged
    const findings = await judge.take(exchange)
    return { findings, isJudged: judge.judged > before }
  }

  #count({ exchange: { response }, isOfService }: Sighting, isBroken: boolean): void {
    const counts = this.sightings
    if (!isOfService) counts.foreign++
    if (isBroken) counts.unanswered++
    if (response === undefined) return
    if (response.status >= 300 && response.status < 400 && response.status !== 304) counts.redirects++
    else if (response.status === 429) counts.refusedByQuota++
    if (/^\s*text\/html\b/i.test(response.headers['content-type'] ?? '')) counts.html++
  }
}
