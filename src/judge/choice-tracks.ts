import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isRefusedUnread } from './gate.ts'
import type { ToldReset } from './service-time.ts'

/** Follows whether a service knows a key behind another spelling of the scheme. */
export class SchemeTrack {
  #wasAdmitted = false
  /** Whether the key was refused for the spelling of its scheme. It must be valid afterwards, too. */
  #isPending = false

  /** Whether the exchange shows that a key that is valid before and after was refused for the spelling. */
  take({ exchange, operation, outcome }: ReadExchange): boolean {
    if (operation === undefined) return false
    const form = formOf(exchange.request.credentials)
    const isRefused = outcome.kind === 'refusal' && outcome.code === 'unauthorized'
    if (form === 'any-case' && isRefused && this.#wasAdmitted) this.#isPending = true
    if (form !== 'exact') return false
    const isShown = this.#isPending && !isRefused
    this.#wasAdmitted = !isRefused
    this.#isPending = false
    return isShown
  }
}

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

/** What one response says about the quota of a path. */
interface Sample {
  limit: number
  remaining: number
  /** In Unix seconds. */
  end: number
  until: number
}

/** Follows whether refusals lower what is left of the quotas of one key. */
export class ChargeTrack {
  readonly #enough: typeof ENOUGH
  /** By path. */
  readonly #samples = new Map<string, Sample>()
  #steps = { refused: 0, success: 0 }

  constructor(isSoleWriter: boolean) {
    this.#enough = isSoleWriter ? ENOUGH_ALONE : ENOUGH
  }

  /** Which requests are charged, if the exchange shows it. */
  take(reading: ReadExchange, reset: ToldReset | undefined): 'authenticated' | 'successful' | undefined {
    const { operation, exchange, outcome } = reading
    if (operation?.quota === undefined) return undefined
    const { path } = operation
    const last = this.#samples.get(path)
    const sample = readSample(reading, reset)
    if (sample === undefined) {
      this.#samples.delete(path)
      return undefined
    }
    this.#samples.set(path, sample)
    if (outcome.kind === 'refusal' && (outcome.code === 'unauthorized' || outcome.code === 'rate_limited')) {
      return undefined
    }
    const isNext = last !== undefined && !exchange.overlaps && exchange.at >= last.until && isSameWindow(last, sample)
    if (!isNext || last.remaining === 0) return undefined
    const lowered = last.remaining - sample.remaining
    const kind = outcome.kind === 'success' ? 'success' : 'refused'
    if (lowered === 1) this.#steps[kind]++
    else if (lowered > 1) this.#steps = { refused: 0, success: 0 }
    else if (kind === 'refused' && -lowered <= IN_FLIGHT) return 'successful'
    const { refused, success } = this.#steps
    const isShown = kind === 'refused' && refused >= this.#enough.refused && success >= this.#enough.success
    return isShown ? 'authenticated' : undefined
  }
}

function readSample(reading: ReadExchange, reset: ToldReset | undefined): Sample | undefined {
  const { headers } = reading.response
  const limit = Number(headers['x-ratelimit-limit'])
  const remaining = Number(headers['x-ratelimit-remaining'])
  const isTold = Number.isSafeInteger(limit) && Number.isSafeInteger(remaining) && remaining <= limit
  if (reset === undefined || !isTold || isRefusedUnread(reading)) return undefined
  return { limit, remaining, end: reset.end, until: reading.exchange.until }
}

function isSameWindow(one: Sample, other: Sample): boolean {
  return one.limit === other.limit && Math.abs(one.end - other.end) <= TOLERANCE
}
