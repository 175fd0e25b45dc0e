import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { countBelow } from '../ground/counting.ts'
import { pointTo } from '../ground/json.ts'
import { RealDate } from '../ground/timers.ts'
import type { Remark } from './remark.ts'
import { serviceTime } from './service-time.ts'

/** What one response says about the quota of its request. Times are in seconds on the clock of the service. */
interface Sample {
  limit: number
  remaining: number
  /** The end of the window. */
  end: number
  now: number
  /** How far the clock of the service is ahead of that of the recorder. */
  ahead: number
}

/** What is known of one path. Times of requests are in milliseconds on the clock of the recorder. */
interface PathQuota {
  /** The successes that may not have been over when the latest request was sent. */
  pending: { at: number; until: number }[]
  /** When the others were sent, in ascending order; only those that a window may still have. */
  settled: number[]
  /** The first response that told of the present window, by the end of the window. */
  shown: { end: number; until: number } | undefined
  /** What the latest success said. */
  latest: Sample | undefined
  /** The first response that left nothing, if its window is not over. */
  empty: { end: number; limit: number; until: number } | undefined
  /** How many successes came after nothing was left. */
  beyond: number
}

/** How far the times of one service may differ because they are rounded, in seconds. */
const TOLERANCE = 2
/** How far the clocks of a service may differ from each other, in seconds. */
const SKEW = 120
/** So many requests of other clients may be refused at the same time and get their charge back. */
const IN_FLIGHT = 3
/** How many successes of a window are kept. More are not counted, which accuses nobody. */
const COUNTED = 20_000
const PENDING = 1_000
const REMAINING = '/components/headers/X-RateLimit-Remaining'

/** The refusals that only a request with a valid key can have, because they tell something of the account. */
const BY_STATE: ReadonlySet<string> = new Set(['not_found', 'duplicate_name', 'not_monitored', 'domain_delete_failed'])

/**
 * Follows the quota fields of one key over time. Another client may spend the same quota at any time, and requests may
 * overlap. Each success is charged once. Which refusals are charged is open, and callers without a valid key may have
 * another limit, so only responses count that show the key to be valid.
 */
export class QuotaTrack {
  readonly #paths = new Map<string, PathQuota>()

  /** What the next exchange of the key shows, together with those before it. */
  take(reading: ReadExchange): Remark[] {
    const { operation, outcome, exchange, failed } = reading
    if (operation?.quota === undefined || failed !== undefined || outcome.kind === 'unreadable') return []
    const sample = readSample(reading, operation.quota.window)
    if (sample === undefined) return []
    const remarks: Remark[] = []
    if (!isReset(reading, operation.quota.window)) remarks.push(strangeReset(reading))
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === 'rate_limited' && sample.remaining > 0) remarks.push(limitedWithRest(sample))
    const form = formOf(exchange.request.credentials)
    if (form === 'none' || form === 'wrong') return remarks
    if (code === undefined && sample.limit < operation.quota.limit) remarks.push(lowLimit(sample, operation))
    // Under an unknown key, the exchanges may belong to several accounts.
    if (form === 'unknown' || (code !== undefined && !BY_STATE.has(code))) return remarks
    return [...remarks, ...this.#follow(reading, sample, operation)]
  }

  #follow({ exchange, outcome }: ReadExchange, sample: Sample, operation: Operation): Remark[] {
    const { window = 0 } = operation.quota ?? {}
    const isSuccess = outcome.kind === 'success'
    const path = this.#pathOf(operation.path, sample)
    const remarks: Remark[] = []
    const { latest } = path
    if (isSuccess && latest !== undefined && Math.abs(latest.end - sample.end) <= TOLERANCE) {
      const isRisen = sample.limit > latest.limit && sample.limit !== operation.quota?.limit
      if (isRisen) remarks.push(risenLimit(latest, sample, operation))
    }
    settle(path, exchange, window)
    // Each success that was sent since the window began, and before this request, was charged in it. The window has begun
    // by the time of the service, or when a response has told of it; the time has whole seconds only.
    const isShown = path.shown !== undefined && Math.abs(path.shown.end - sample.end) <= TOLERANCE
    if (!isShown) path.shown = { end: sample.end, until: exchange.until }
    const age = sample.now - (sample.end - window) - TOLERANCE
    const byTime = exchange.until - age * 1000
    const begun = isShown ? Math.min(byTime, path.shown?.until ?? byTime) : byTime
    const isInside = isSuccess && exchange.at >= begun
    const charged = path.settled.length - countBelow(path.settled, begun)
    const most = Math.max(0, sample.limit - charged - (isInside ? 1 : 0))
    if (sample.remaining > most) remarks.push(risenRest(sample, most))
    if (isInside) {
      const others = charged + path.pending.filter(({ at }) => at >= begun).length
      if (isBeyond(path, sample, exchange) || others >= sample.limit) remarks.push(beyondLimit(sample, operation))
    }
    if (isSuccess && path.pending.length < PENDING && path.settled.length < COUNTED) {
      path.pending.push({ at: exchange.at, until: exchange.until })
    }
    if (isSuccess) path.latest = sample
    if (sample.remaining === 0) path.empty ??= { ...sample, until: exchange.until }
    return remarks
  }

  #pathOf(name: string, { now, ahead, limit }: Sample): PathQuota {
    const known = this.#paths.get(name)
    const { latest = { now, ahead } } = known ?? {}
    // If the clock was set, the times of requests do not tell the window of their charges.
    const isSet = now < latest.now - TOLERANCE || Math.abs(ahead - latest.ahead) > SKEW
    const isKnown = known !== undefined && !isSet
    const path = isKnown ? known : newPath()
    if (path.empty !== undefined && (now >= path.empty.end - TOLERANCE || limit > path.empty.limit)) {
      path.empty = undefined
      path.beyond = 0
    }
    this.#paths.set(name, path)
    return path
  }
}

function newPath(): PathQuota {
  return { pending: [], settled: [], shown: undefined, latest: undefined, empty: undefined, beyond: 0 }
}

/** Whether too many requests have succeeded after nothing was left. */
function isBeyond(path: PathQuota, { now }: Sample, { at }: Exchange): boolean {
  const { empty } = path
  if (empty !== undefined && at >= empty.until && now < empty.end - TOLERANCE) path.beyond++
  return path.beyond > IN_FLIGHT
}

/** Settles the successes that were over before this request was sent, and drops those whose charge may have ended. */
function settle({ pending, settled }: PathQuota, { at, until }: Exchange, window: number): void {
  let isInOrder = true
  let open = 0
  for (const success of pending) {
    if (success.until > at) pending[open++] = success
    else {
      isInOrder &&= (settled.at(-1) ?? 0) <= success.at
      settled.push(success.at)
    }
  }
  pending.length = open
  if (!isInOrder) settled.sort((one, other) => one - other)
  // A window can slide, so that each charge ends when the window has passed since its own request.
  const ended = countBelow(settled, until - (window - SKEW) * 1000)
  if (ended > 0) settled.splice(0, ended)
}

function beyondLimit({ limit, end }: Sample, { path, rules }: Operation): Remark {
  const rule = rules.find((each) => isRefusedBy(each, 'rate_limited', undefined))?.id
  const message = `The request succeeded although the limit of ${limit} requests was used up until ${new RealDate(end * 1000).toISOString()}.`
  return { rule, what: 'limit', place: pointTo('/paths', path), message }
}

/** What the quota fields say; `undefined` if they are absent or not well-formed, which is judged elsewhere. */
function readSample(reading: ReadExchange, window: number): Sample | undefined {
  const { headers } = reading.response
  const limit = readNumber(headers['x-ratelimit-limit'])
  const remaining = readNumber(headers['x-ratelimit-remaining'])
  const reset = readNumber(headers['x-ratelimit-reset'])
  if (limit === undefined || remaining === undefined || reset === undefined || remaining > limit) return undefined
  const date = serviceTime(reading)
  const isLeft = reset <= window + 1
  if (isLeft && date === undefined) return undefined
  const now = (date ?? reading.exchange.until) / 1000
  const ahead = now - reading.exchange.until / 1000
  return { limit, remaining, end: isLeft ? now + reset : reset, now, ahead }
}

function readNumber(text = ''): number | undefined {
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/** Whether the reset is a time within the window, or the seconds that are left of it. */
function isReset(reading: ReadExchange, window: number): boolean {
  const reset = Number(reading.response.headers['x-ratelimit-reset'])
  const date = serviceTime(reading)
  if (reset <= window + 1 || (date === undefined && reset >= 1e9)) return true
  return date === undefined || (reset >= date / 1000 - SKEW && reset <= date / 1000 + window + SKEW)
}

function strangeReset({ response: { headers } }: ReadExchange): Remark {
  const message = `X-RateLimit-Reset is ${headers['x-ratelimit-reset']}, which is neither a time within the window nor the seconds that are left of it.`
  return { what: 'headers/x-ratelimit-reset', place: '/components/headers/X-RateLimit-Reset', message }
}

function limitedWithRest({ limit, remaining }: Sample): Remark {
  const message = `The request was refused with rate_limited, and the same response says that ${remaining} of ${limit} requests are left.`
  return { what: 'headers/x-ratelimit-remaining/limited', place: REMAINING, message }
}

function lowLimit({ limit }: Sample, { quota, path }: Operation): Remark {
  const message = `X-RateLimit-Limit is ${limit}, less than the ${quota?.limit} that the document promises.`
  const place = `${pointTo('/paths', path)}/x-quota/limit`
  return { label: 'contract violation', what: 'response/headers/x-ratelimit-limit/minimum', place, message }
}

/** The grace period of a new key can end within a window, but not begin. */
function risenLimit(known: Sample, { limit }: Sample, { path }: Operation): Remark {
  const message = `X-RateLimit-Limit rose from ${known.limit} to ${limit} within one window.`
  return { what: 'headers/x-ratelimit-limit/change', place: `${pointTo('/paths', path)}/x-quota`, message }
}

function risenRest({ limit, remaining }: Sample, most: number): Remark {
  const message = `X-RateLimit-Remaining is ${remaining} of ${limit}, although the requests of this window that have succeeded leave ${most} at most.`
  return { what: 'headers/x-ratelimit-remaining/rise', place: REMAINING, message }
}
