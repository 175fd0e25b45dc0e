import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { type Exchange, formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { RealDate } from '../ground/timers.ts'
import type { Report } from './findings.ts'
import { isKeyless, OF_ACCOUNT } from './gate.ts'
import { IN_FLIGHT, type QuotaFields, SKEW, TOLERANCE } from './quota-fields.ts'

/** What is known of one path. Times of requests are in milliseconds on the clock of the recorder. */
interface PathQuota {
  /** The latest successes. */
  successes: Pick<Exchange, 'at' | 'until'>[]
  /** The first response that told of the present window, by the end of the window. */
  shown?: { end: number; until: number }
  /** How many successes have told that they were charged in this window. */
  charged?: { end: number; count: number }
  /** What the latest success said. */
  latest?: QuotaFields
  /** The first response that left nothing, if its window is not over. */
  empty?: { end: number; limit: number; until: number } | undefined
  /** How many successes came after nothing was left. */
  beyond: number
}

/** How many successes are kept. More are not counted, which accuses nobody. */
const COUNTED = 1_000
const HEADERS = '/components/headers'

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
      report({ what: 'headers/x-ratelimit-reset', place: `${HEADERS}/X-RateLimit-Reset`, message })
    }
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === 'rate_limited' && remaining > 0) {
      const message = `The request was refused with rate_limited, and the same response says that ${remaining} of ${limit} requests are left.`
      report({ what: 'headers/x-ratelimit-remaining/limited', place: `${HEADERS}/X-RateLimit-Remaining`, message })
    }
    if (isKeyless(exchange)) return
    const least = operation.quota.limit
    if (code === undefined && limit < least) {
      const message = `X-RateLimit-Limit is ${limit}, less than the ${least} that the document promises.`
      const place = `${pointTo('/paths', operation.path)}/x-quota/limit`
      report({ label: 'contract violation', what: 'response/headers/x-ratelimit-limit/minimum', place, message })
    }
    // Under an unknown key, the exchanges may belong to several accounts.
    const isUnknown = formOf(exchange.request.credentials) === 'unknown'
    if (isUnknown || (code !== undefined && !OF_ACCOUNT.has(code))) return
    this.#follow(exchange, fields, operation, code === undefined, report)
  }

  #follow(exchange: Exchange, fields: QuotaFields, operation: Operation, isSuccess: boolean, report: Report): void {
    const { limit, remaining, end, window } = fields
    const path = this.#pathOf(operation.path, fields)
    const { latest } = path
    const place = pointTo('/paths', operation.path)
    // The grace period of a new key can end within a window, but not begin.
    if (isSuccess && isNear(latest, end) && limit > latest.limit && limit !== operation.quota?.limit) {
      const message = `X-RateLimit-Limit rose from ${latest.limit} to ${limit} within one window.`
      report({ what: 'headers/x-ratelimit-limit/change', place: `${place}/x-quota`, message })
    }
    // Each success that was sent since the window began, and before this request, was charged in it. The window has begun
    // by the time of the service, or when a response has told of it; the time has whole seconds only.
    const byTime = exchange.until - (fields.now - (end - window) - TOLERANCE) * 1000
    if (!isNear(path.shown, end)) path.shown = { end, until: Number.POSITIVE_INFINITY }
    const begun = Math.min(byTime, path.shown.until)
    path.shown.until = Math.min(path.shown.until, exchange.until)
    const isInside = isSuccess && exchange.at >= begun
    // A window can slide, so that each charge ends when the window has passed since its own request.
    const ended = exchange.until - (window - SKEW) * 1000
    path.successes = path.successes.filter(({ at }) => at >= ended)
    const inWindow = path.successes.filter(({ at }) => at >= begun)
    const charged = inWindow.filter(({ until }) => until <= exchange.at).length
    const most = Math.max(0, limit - charged - (isInside ? 1 : 0))
    if (remaining > most) {
      const message = `X-RateLimit-Remaining is ${remaining} of ${limit}, although the requests of this window that have succeeded leave ${most} at most.`
      report({ what: 'headers/x-ratelimit-remaining/rise', place: `${HEADERS}/X-RateLimit-Remaining`, message })
    }
    const { empty } = path
    const isEmpty = empty !== undefined && exchange.at >= empty.until
    if (isInside && isEmpty && fields.now < empty.end - TOLERANCE) path.beyond++
    const isUsedUp = isInside && (path.beyond > IN_FLIGHT || inWindow.length >= limit)
    // Another client may get a charge back, but nobody gets back that of a success.
    const isOneTooMany = isSuccess && isEmpty && countCharged(path, end) >= limit
    if (isUsedUp || isOneTooMany) {
      const rule = operation.rules.find((each) => isRefusedBy(each, 'rate_limited', undefined))?.id
      const message = `The request succeeded although the limit of ${limit} requests was used up until ${new RealDate(end * 1000).toISOString()}.`
      report({ rule, what: 'limit', place, message })
    }
    if (isSuccess) path.charged = { end, count: countCharged(path, end) + (remaining < limit ? 1 : 0) }
    if (isSuccess && path.successes.length < COUNTED) path.successes.push({ at: exchange.at, until: exchange.until })
    if (isSuccess) path.latest = fields
    if (remaining === 0) path.empty ??= { end, limit, until: exchange.until }
  }

  #pathOf(name: string, { now, ahead, limit }: QuotaFields): PathQuota {
    const known = this.#paths.get(name)
    const { latest = { now, ahead } } = known ?? {}
    // If the clock was set, the times of requests do not tell the window of their charges.
    const isSet = now < latest.now - TOLERANCE || Math.abs(ahead - latest.ahead) > SKEW
    const path = known === undefined || isSet ? { successes: [], beyond: 0 } : known
    if (path.empty !== undefined && (now >= path.empty.end - TOLERANCE || limit > path.empty.limit)) {
      path.empty = undefined
      path.beyond = 0
    }
    this.#paths.set(name, path)
    return path
  }
}

/** How many successes have told that they were charged in this window. One that leaves the whole limit was not. */
function countCharged({ charged }: PathQuota, end: number): number {
  return isNear(charged, end) ? charged.count : 0
}

/** Whether the window is the one that ends at this time. */
function isNear<Window extends { end: number }>(window: Window | undefined, end: number): window is Window {
  return window !== undefined && Math.abs(window.end - end) <= TOLERANCE
}
