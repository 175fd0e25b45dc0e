import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject } from '../ground/json.ts'
import { isRefusedUnread } from './gate.ts'
import type { ChoiceReading, OpenChoice, SeenExchange } from './open-choice.ts'
import type { ToldReset } from './service-time.ts'

/**
 * So many refusals and so many successes must each lower what is left by exactly one, and nothing else may lower it.
 * Then it is certain that refusals are charged: another client would have to spend at exactly these moments.
 */
const ENOUGH = { refused: 8, success: 2 }
const ENOUGH_ALONE = { refused: 3, success: 1 }
/** So many requests of other clients may be refused at the same time and get their charge back. */
const IN_FLIGHT = 3
/** How far the times of one service may differ, in seconds. */
const TOLERANCE = 2
/** In seconds: a window that began so long before its first request did not begin with it. */
const BEFORE = 60
/** In milliseconds. Two reads that are further apart do not show when the figures changed between them. */
const APART = 3 * 3_600_000
const DAY = 86_400_000
const SKEW = 60_000

/** What one response says about the quota of a path. */
interface Sample {
  limit: number
  remaining: number
  /** In Unix seconds. */
  end: number
  until: number
}

/** What several exchanges of one key show together. */
export class ChoiceTrack {
  readonly #choices: ReadonlyMap<string, OpenChoice>
  readonly #enough: typeof ENOUGH
  /** By path. */
  readonly #samples = new Map<string, Sample>()
  #steps = { refused: 0, success: 0 }
  #areRefusalsCharged = false
  #wasAdmitted = false
  /** Whether the key was refused for the spelling of its scheme. It must be valid afterwards, too. */
  #isPending = false
  #figures: { at: number; domains: string; text: string; byDomain: ReadonlyMap<string, string> } | undefined

  constructor(choices: ReadonlyMap<string, OpenChoice>, isSoleWriter: boolean) {
    this.#choices = choices
    this.#enough = isSoleWriter ? ENOUGH_ALONE : ENOUGH
  }

  *take(seen: SeenExchange): Generator<ChoiceReading> {
    yield* this.#readScheme(seen.reading)
    yield* this.#readCharges(seen)
    if (seen.reading.operation?.id === 'listDmarc') yield* this.#readRefresh(seen)
  }

  *#permit(id: string, ...values: readonly string[]): Generator<ChoiceReading> {
    const permits = this.#choices.get(id)?.of(...values)
    if (permits !== undefined) yield { id, permits }
  }

  /** A key that is valid before and after is refused for the spelling of its scheme. */
  *#readScheme({ exchange, operation, outcome }: ReadExchange): Generator<ChoiceReading> {
    if (operation === undefined) return
    const form = formOf(exchange.request.credentials)
    const isRefused = outcome.kind === 'refusal' && outcome.code === 'unauthorized'
    if (form === 'any-case' && isRefused && this.#wasAdmitted) this.#isPending = true
    if (form !== 'exact') return
    this.#wasAdmitted = !isRefused
    if (this.#isPending && !isRefused) yield* this.#permit('authorization-scheme', 'exact')
    this.#isPending = false
  }

  /** Whether refusals lower what is left of the quota. */
  *#readCharges({ reading, reset }: SeenExchange): Generator<ChoiceReading> {
    const { operation, exchange, outcome } = reading
    if (operation?.quota === undefined) return
    const { path } = operation
    const last = this.#samples.get(path)
    const sample = readSample(reading, reset)
    if (sample === undefined) {
      this.#samples.delete(path)
      return
    }
    this.#samples.set(path, sample)
    if (outcome.kind === 'refusal' && (outcome.code === 'unauthorized' || outcome.code === 'rate_limited')) return
    yield* this.#readBeginning(reset, sample)
    const isNext = last !== undefined && !exchange.overlaps && exchange.at >= last.until && isSameWindow(last, sample)
    if (!isNext || last.remaining === 0) return
    const lowered = last.remaining - sample.remaining
    const kind = outcome.kind === 'success' ? 'success' : 'refused'
    if (lowered === 1) this.#steps[kind]++
    else if (lowered > 1) this.#steps = { refused: 0, success: 0 }
    else if (kind === 'refused' && -lowered <= IN_FLIGHT) yield* this.#permit('charged-requests', 'successful')
    const { refused, success } = this.#steps
    if (kind !== 'refused' || refused < this.#enough.refused || success < this.#enough.success) return
    this.#areRefusalsCharged = true
    yield* this.#permit('charged-requests', 'authenticated')
  }

  /** If each request is charged, a window in which nothing was spent began with its first request, or at a full hour. */
  *#readBeginning(reset: ToldReset | undefined, { limit, remaining, end }: Sample): Generator<ChoiceReading> {
    if (!this.#areRefusalsCharged || reset === undefined || remaining !== limit - 1) return
    const { window, now } = reset
    const beyond = end % window
    const isFull = Math.min(beyond, window - beyond) <= TOLERANCE
    if (isFull && now > end - window + BEFORE && now < end) yield* this.#permit('quota-window', 'aligned')
  }

  /**
   * Between which times of day the figures change. Only changes from non-zero figures to others count: a domain that
   * another client removes and adds again has no mail until the next refresh.
   */
  *#readRefresh({ reading: { outcome }, now }: SeenExchange): Generator<ChoiceReading> {
    const choice = this.#choices.get('refresh-time')
    if (choice === undefined || outcome.kind !== 'success' || !Array.isArray(outcome.data)) return
    const last = this.#figures
    if (last?.text === outcome.text) {
      last.at = Math.max(last.at, now)
      return
    }
    const byDomain = new Map<string, string>()
    for (const record of outcome.data) {
      if (!isObject(record) || typeof record['domain'] !== 'string') return
      const { domain, dmarc, dkim, spf, count } = record
      byDomain.set(domain, Number(count) > 0 ? JSON.stringify([dmarc, dkim, spf, count]) : '')
    }
    const domains = JSON.stringify([...byDomain.keys()].toSorted())
    this.#figures = { at: now, domains, text: outcome.text, byDomain }
    if (last === undefined || last.domains !== domains || now < last.at || now - last.at > APART) return
    const isChanged = [...byDomain].some(([domain, text]) => {
      const former = last.byDomain.get(domain)
      return text !== '' && former !== '' && former !== text
    })
    const permits = isChanged ? choice.those(({ value }) => isBetween(String(value), last.at, now)) : undefined
    if (permits !== undefined) yield { id: choice.id, permits }
  }
}

/** Whether a time of day, such as `04:00`, comes between two moments. */
function isBetween(time: string, after: number, until: number): boolean {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const offset = (hours * 60 + minutes) * 60_000
  const next = Math.ceil((after - SKEW - offset) / DAY) * DAY + offset
  return next <= until + SKEW
}

function readSample(reading: ReadExchange, reset: ToldReset | undefined): Sample | undefined {
  const { headers } = reading.response
  const [limit, remaining] = ['limit', 'remaining'].map((name) => Number(headers[`x-ratelimit-${name}`] ?? Number.NaN))
  if (reset === undefined || limit === undefined || remaining === undefined || isRefusedUnread(reading))
    return undefined
  if (!Number.isSafeInteger(limit) || !Number.isSafeInteger(remaining) || remaining > limit) return undefined
  return { limit, remaining, end: reset.end, until: reading.exchange.until }
}

function isSameWindow(one: Sample, other: Sample): boolean {
  return one.limit === other.limit && Math.abs(one.end - other.end) <= TOLERANCE
}
