import type { Exchange } from '../exchanges/exchange.ts'
import type { RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { Keys } from '../exchanges/keys.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { ExchangeJudge, ExchangeJudgement } from './judge.ts'
import { readSighting, type Sighting } from './sighting.ts'
import type { ProxyTarget } from './target.ts'
import { mayChange, type PassedExchange, type TrafficListener } from './traffic.ts'
import { WorkLine } from './work-line.ts'

/** How many exchanges may wait to be read. */
const READING_LIMIT = 10_000
/** How many exchanges may wait to be judged, and how many bytes of bodies they may have. */
export const JUDGING_LIMITS = { exchanges: 2_000, bytes: 64 << 20 }

export interface WitnessOptions {
  target: ProxyTarget
  /** The base path of the contract. */
  basePath: string
  judge: Pick<ExchangeJudge, 'take' | 'forget'>
  /** Records the exchange, if the user asked for a recording. It must not throw. */
  record?: ((exchange: RecordedExchange) => void) | undefined
  /** Takes each exchange with the service before it is judged. */
  seen?: ((exchange: Exchange) => void) | undefined
  /** Adds each exchange to the journal, after its judgement if there is one. */
  note?: ((sighting: Sighting, passed: PassedExchange, judgement: ExchangeJudgement) => void) | undefined
  /** Receives each finding. */
  found(finding: JudgedDifference): void
  /** The judge or the reader of exchanges threw an error. */
  failed(error: unknown): void
  limits?: Partial<typeof JUDGING_LIMITS>
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
  /** How often a change was reported so late that what was known of the accounts was forgotten. */
  late: number
  /** Exchanges that came faster than they could be judged. */
  skipped: number
  /** Exchanges that waited for their judgement when the time for it was over. */
  left: number
  /** Exchanges that could not be judged because of a bug. */
  failures: number
}

const UNJUDGED: ExchangeJudgement = { findings: [], isJudged: false }

/** An exchange on its way to the judge; 'gap' if exchanges are missing here. */
type Waiting = { sighting: Sighting; passed: PassedExchange } | 'gap'

/** Examines the traffic without delaying it: reads, records and judges what was passed on. */
export class Witness implements TrafficListener {
  readonly keys = new Keys()
  readonly #options: WitnessOptions
  readonly #limits: typeof JUDGING_LIMITS
  readonly #reading = new WorkLine((each: PassedExchange | 'gap') => this.#read(each))
  readonly #judging = new WorkLine((each: Waiting) => this.#judge(each))
  /** The bytes of the bodies that wait to be judged. */
  #bytes = 0
  #isEnding = false
  readonly sightings: Sightings = {
    ...{ exchanges: 0, foreign: 0, unanswered: 0, redirects: 0, refusedByQuota: 0, html: 0 },
    ...{ late: 0, skipped: 0, left: 0, failures: 0 },
  }

  constructor(options: WitnessOptions) {
    this.#options = options
    this.#limits = { ...JUDGING_LIMITS, ...options.limits }
  }

  /** How many exchanges wait to be judged. */
  get waiting(): number {
    return this.#reading.waiting + this.#judging.waiting
  }

  exchange(passed: PassedExchange): void {
    this.sightings.exchanges++
    if (this.#reading.waiting < READING_LIMIT) {
      this.#reading.add(passed)
      return
    }
    this.sightings.skipped++
    for (const message of [passed.request, passed.response]) message?.body.release()
    this.#reading.addOnce('gap')
  }

  unknown(): void {
    this.sightings.late++
    this.#reading.addOnce('gap')
  }

  /** Resolves when everything is read and judged, or the signal is aborted. What waits then is not judged. */
  async finish(signal: AbortSignal): Promise<void> {
    const end = () => {
      this.#isEnding = true
      for (const each of this.#judging.clear()) if (each !== 'gap') this.#leave(each, 'left')
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
    await this.#reading.done()
    await this.#judging.done()
  }

  /** Resolves when nothing waits, or after this time in milliseconds. */
  async catchUp(patience: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise((resolve) => {
      timer = setTimeout(resolve, patience)
    })
    await Promise.race([this.#reading.done().then(() => this.#judging.done()), over])
    clearTimeout(timer)
  }

  async #read(passed: PassedExchange | 'gap'): Promise<void> {
    if (passed === 'gap') {
      this.#judging.addOnce('gap')
      return
    }
    const { target, basePath, record, seen } = this.#options
    try {
      const sighting = await readSighting(passed, { target, basePath, keys: this.keys })
      record?.(sighting.recorded)
      if (sighting.isOfService) seen?.(sighting.exchange)
      this.#count(sighting, passed.broken !== undefined)
      this.#add({ sighting, passed })
    } catch (error) {
      this.#fail(error)
      this.#judging.addOnce('gap')
    }
  }

  #add(waiting: Exclude<Waiting, 'gap'>): void {
    const { exchange } = waiting.sighting
    const size = sizeOf(exchange)
    if (this.#isEnding) this.#leave(waiting, 'left')
    else if (this.#judging.waiting >= this.#limits.exchanges || this.#bytes + size > this.#limits.bytes) {
      this.#leave(waiting, 'skipped')
      this.#judging.addOnce('gap')
    } else {
      this.#bytes += size
      this.#judging.add(waiting)
    }
  }

  #leave({ sighting, passed }: Exclude<Waiting, 'gap'>, as: 'left' | 'skipped'): void {
    if (sighting.isOfService) this.sightings[as]++
    this.#options.note?.(sighting, passed, UNJUDGED)
  }

  async #judge(waiting: Waiting): Promise<void> {
    const { judge, note, found } = this.#options
    // A judge that cannot forget has ended, so it judges nothing more.
    const forget = () => judge.forget().catch(() => {})
    if (waiting === 'gap') return forget()
    const { sighting, passed } = waiting
    this.#bytes -= sizeOf(sighting.exchange)
    try {
      let judgement = UNJUDGED
      try {
        if (sighting.isOfService) judgement = await judge.take(sighting.exchange)
        // The request is outside of the contract, and it is not known what it changed.
        else if (mayChange(passed.request.method)) await forget()
      } finally {
        note?.(sighting, passed, judgement)
      }
      judgement.findings.forEach(found)
    } catch (error) {
      this.#fail(error)
      await forget()
    }
  }

  #fail(error: unknown): void {
    this.sightings.failures++
    this.#options.failed(error)
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

function sizeOf({ request, response }: Exchange): number {
  const sent = request.body.isKnown ? request.body.bytes.length : 0
  const received = response?.body.isKnown ? response.body.bytes.length : 0
  return sent + received
}
