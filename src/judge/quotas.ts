import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { type Exchange, formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { RealDate } from '../ground/timers.ts'
import type { Report } from './findings.ts'
import { OF_ACCOUNT } from './gate.ts'
import type { QuotaFields } from './quota-fields.ts'

/** What is known of one path. Times of requests are in milliseconds on the clock of the recorder. */
interface PathQuota {
  /** The latest successes: when they were sent, and when they were over. */
  successes: { at: number; until: number }[]
  /** The first response that told of the present window, by the end of the window. */
  shown: { end: number; until: number } | undefined
  /** What the latest success said. */
  latest: QuotaFields | undefined
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
/** How many successes are kept. More are not counted, which accuses nobody. */
const COUNTED = 1_000
const RESET = '/components/headers/X-RateLimit-Reset'
const REMAINING = '/components/headers/X-RateLimit-Remaining'

/**
 * Follows the quota fields of one key over time. Another client may spend the same quota at any time, and requests may
 * overlap. Each success is charged once. Which refusals are charged is open, and callers without a valid key may have
 * another limit, so only responses count that show the key to be valid.
 */
export class QuotaTrack {
  readonly #paths = new Map<string, PathQuota>()

  /** Reports what the fields of the next exchange of the key show, together with those before it. */
  take(reading: ReadExchange, fields: QuotaFields, report: Report): void {
    const { operation, outcome, exchange, failed } = reading
    if (operation?.quota === undefined || failed !== undefined || outcome.kind === 'unreadable') return
    const { limit, remaining, reset } = fields
    if (fields.isStrange) {
      const message = `X-RateLimit-Reset is ${reset}, which is neither a time within the window nor the seconds that are left of it.`
      report({ what: 'headers/x-ratelimit-reset', place: RESET, message })
    }
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === 'rate_limited' && remaining > 0) {
      const message = `The request was refused with rate_limited, and the same response says that ${remaining} of ${limit} requests are left.`
      report({ what: 'headers/x-ratelimit-remaining/limited', place: REMAINING, message })
    }
    const form = formOf(exchange.request.credentials)
    if (form === 'none' || form === 'wrong') return
    const least = operation.quota.limit
    if (code === undefined && limit < least) {
      const message = `X-RateLimit-Limit is ${limit}, less than the ${least} that the document promises.`
      const place = `${pointTo('/paths', operation.path)}/x-quota/limit`
      report({ label: 'contract violation', what: 'response/headers/x-ratelimit-limit/minimum', place, message })
    }
    // Under an unknown key, the exchanges may belong to several accounts.
    if (form === 'unknown' || (code !== undefined && !OF_ACCOUNT.has(code))) return
    this.#follow(exchange, fields, operation, code === undefined, report)
  }

  #follow(exchange: Exchange, fields: QuotaFields, operation: Operation, isSuccess: boolean, report: Report): void {
    const { limit, remaining, end, window } = fields
    const path = this.#pathOf(operation.path, fields)
    const { latest } = path
    const isSame = latest !== undefined && Math.abs(latest.end - end) <= TOLERANCE
    // The grace period of a new key can end within a window, but not begin.
    if (isSuccess && isSame && limit > latest.limit && limit !== operation.quota?.limit) {
      const message = `X-RateLimit-Limit rose from ${latest.limit} to ${limit} within one window.`
      const place = `${pointTo('/paths', operation.path)}/x-quota`
      report({ what: 'headers/x-ratelimit-limit/change', place, message })
    }
    // Each success that was sent since the window began, and before this request, was charged in it. The window has begun
    // by the time of the service, or when a response has told of it; the time has whole seconds only.
    const isShown = path.shown !== undefined && Math.abs(path.shown.end - end) <= TOLERANCE
    if (!isShown) path.shown = { end, until: exchange.until }
    const age = fields.now - (end - window) - TOLERANCE
    const byTime = exchange.until - age * 1000
    const begun = isShown ? Math.min(byTime, path.shown?.until ?? byTime) : byTime
    const isInside = isSuccess && exchange.at >= begun
    // A window can slide, so that each charge ends when the window has passed since its own request.
    const ended = exchange.until - (window - SKEW) * 1000
    path.successes = path.successes.filter(({ at }) => at >= ended)
    const inWindow = path.successes.filter(({ at }) => at >= begun)
    const charged = inWindow.filter(({ until }) => until <= exchange.at).length
    const most = Math.max(0, limit - charged - (isInside ? 1 : 0))
    if (remaining > most) {
      const message = `X-RateLimit-Remaining is ${remaining} of ${limit}, although the requests of this window that have succeeded leave ${most} at most.`
      report({ what: 'headers/x-ratelimit-remaining/rise', place: REMAINING, message })
    }
    if (isInside && (isBeyond(path, fields, exchange) || inWindow.length >= limit)) {
      const rule = operation.rules.find((each) => isRefusedBy(each, 'rate_limited', undefined))?.id
      const message = `The request succeeded although the limit of ${limit} requests was used up until ${new RealDate(end * 1000).toISOString()}.`
      report({ rule, what: 'limit', place: pointTo('/paths', operation.path), message })
    }
    if (isSuccess && path.successes.length < COUNTED) path.successes.push({ at: exchange.at, until: exchange.until })
    if (isSuccess) path.latest = fields
    if (remaining === 0) path.empty ??= { end, limit, until: exchange.until }
  }

  #pathOf(name: string, { now, ahead, limit }: QuotaFields): PathQuota {
    const known = this.#paths.get(name)
    const { latest = { now, ahead } } = known ?? {}
    // If the clock was set, the times of requests do not tell the window of their charges.
    const isSet = now < latest.now - TOLERANCE || Math.abs(ahead - latest.ahead) > SKEW
    const path = known === undefined || isSet ? newPath() : known
    if (path.empty !== undefined && (now >= path.empty.end - TOLERANCE || limit > path.empty.limit)) {
      path.empty = undefined
      path.beyond = 0
    }
    this.#paths.set(name, path)
    return path
  }
}

function newPath(): PathQuota {
  return { successes: [], shown: undefined, latest: undefined, empty: undefined, beyond: 0 }
}

/** Whether too many requests have succeeded after nothing was left. */
function isBeyond(path: PathQuota, { now }: QuotaFields, { at }: Exchange): boolean {
  const { empty } = path
  if (empty !== undefined && at >= empty.until && now < empty.end - TOLERANCE) path.beyond++
  return path.beyond > IN_FLIGHT
}
