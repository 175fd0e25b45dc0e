import { isFailure, type JudgedDifference, partyOf } from '../conformance/finding.ts'
import type { RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { Keys } from '../exchanges/keys.ts'
import type { ExchangeJudge } from './judge.ts'
import { Judging, type JudgingLimits } from './judging.ts'
import { readSighting, type Sighting } from './sighting.ts'
import type { ProxyTarget } from './target.ts'
import { mayChange, type PassedExchange, type TrafficListener } from './traffic.ts'

/** How many exchanges may wait to be read. */
export const READING_LIMIT = 10_000
/** How many findings against the service are kept completely. */
const FIRST = 10

export interface WitnessOptions {
  target: ProxyTarget
  /** The base path of the contract. */
  basePath: string
  judge: Pick<ExchangeJudge, 'take' | 'forget'>
  /** Records the exchange, if the user asked for a recording. It must not throw. */
  record?: ((exchange: RecordedExchange) => void) | undefined
  /** Adds each exchange to the journal. */
  note?: ((sighting: Sighting, passed: PassedExchange) => void) | undefined
  /** Receives each finding. */
  found(finding: JudgedDifference): void
  /** The judge or the reader of exchanges threw an error. */
  failed(error: unknown): void
  limits?: Partial<JudgingLimits>
}

/** Counts of the traffic, and of exchanges that were not judged. */
export interface Sightings {
  exchanges: number
  /** Exchanges with paths that are not below the base URL of the service. */
  foreign: number
  unanswered: number
  redirects: number
  refusedByQuota: number
  html: number
  /** Exchanges that came faster than they could be judged. */
  skipped: number
  /** How often bytes were not understood; `unreadReason` is why they were not the first time. */
  unread: number
  unreadReason: string | undefined
  /** Exchanges that could not be judged because of a bug. */
  failures: number
}

/** Examines the traffic without delaying it: reads, records and judges what was passed on. */
export class Witness implements TrafficListener {
  readonly keys = new Keys()
  readonly #options: WitnessOptions
  readonly #judging: Judging
  #waiting: (PassedExchange | undefined)[] = []
  #reading: Promise<void> | undefined
  readonly #counts: Sightings = {
    ...{ exchanges: 0, foreign: 0, unanswered: 0, redirects: 0, refusedByQuota: 0, html: 0 },
    ...{ skipped: 0, unread: 0, unreadReason: undefined, failures: 0 },
  }
  readonly #first: JudgedDifference[] = []
  #failing = 0

  constructor(options: WitnessOptions) {
    this.#options = options
    const { judge, failed, limits } = options
    this.#judging = new Judging(judge, (findings) => this.#note(findings), failed, limits)
  }

  get sightings(): Readonly<Sightings> {
    const { failures, skipped } = this.#counts
    return {
      ...this.#counts,
      failures: failures + this.#judging.failures,
      skipped: skipped + this.#judging.skipped,
    }
  }

  /** How many exchanges wait to be judged. */
  get waiting(): number {
    return this.#waiting.length + this.#judging.waiting
  }

  /** How many findings are failures of the service, and the first of them. */
  get failures(): { count: number; first: readonly JudgedDifference[] } {
    return { count: this.#failing, first: this.#first }
  }

  exchange(passed: PassedExchange): void {
    this.#counts.exchanges++
    if (this.#waiting.length >= READING_LIMIT) {
      this.#counts.skipped++
      for (const message of [passed.request, passed.response]) message?.body.release()
      if (this.#waiting.at(-1) !== undefined) this.#waiting.push(undefined)
    } else this.#waiting.push(passed)
    this.#reading ??= this.#read()
  }

  unknown(reason: string): void {
    this.#counts.unread++
    this.#counts.unreadReason ??= reason
    this.#waiting.push(undefined)
    this.#reading ??= this.#read()
  }

  /** Resolves when everything is read and judged, or the signal is aborted. */
  async finish(signal?: AbortSignal): Promise<void> {
    while (this.#reading !== undefined) await this.#reading
    await this.#judging.finish(signal)
  }

  async #read(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const passed = this.#waiting.shift()
      if (passed === undefined) this.#judging.forget()
      else await this.#look(passed)
    }
    this.#reading = undefined
  }

  async #look(passed: PassedExchange): Promise<void> {
    const { target, basePath, record, note } = this.#options
    try {
      const sighting = await readSighting(passed, { target, basePath, keys: this.keys })
      record?.(sighting.recorded)
      note?.(sighting, passed)
      this.#count(sighting, passed.broken !== undefined)
      if (sighting.isOfService) this.#judging.add(sighting.exchange)
      // The request is outside of the contract, and it is not known what it changed.
      else if (mayChange(passed.method)) this.#judging.forget()
    } catch (error) {
      this.#counts.failures++
      this.#judging.forget()
      this.#options.failed(error)
    }
  }

  #count({ exchange: { response }, isOfService }: Sighting, isBroken: boolean): void {
    const counts = this.#counts
    if (!isOfService) counts.foreign++
    if (isBroken) counts.unanswered++
    if (response === undefined) return
    if (response.status >= 300 && response.status < 400 && response.status !== 304) counts.redirects++
    else if (response.status === 429) counts.refusedByQuota++
    if (/^\s*text\/html\b/i.test(response.headers['content-type'] ?? '')) counts.html++
  }

  #note(findings: readonly JudgedDifference[]): void {
    for (const finding of findings) {
      // The verdict of the control plane already has the failures of clients.
      if (isFailure(finding) && partyOf(finding) === 'service') {
        this.#failing++
        if (this.#first.length < FIRST) this.#first.push(finding)
      }
      this.#options.found(finding)
    }
  }
}
