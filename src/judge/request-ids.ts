import type { ReadExchange } from '../exchanges/reading.ts'
import type { Report } from './findings.ts'
import { isOfClient } from './header-check.ts'

/** How many ids are remembered at least; of older ones, as many again. */
const REMEMBERED = 5_000
/** So many requests with one id are not one answer that a cache or a recorder has repeated. */
const TOO_MANY = 3

/** Follows the X-Request-Ids of all responses. Support finds a request by its id, so each request has its own. */
export class RequestIdTrack {
  /** By id: when its requests were sent. */
  #times = new Map<string, readonly number[]>()
  #older: ReadonlyMap<string, readonly number[]> = new Map()

  take({ exchange, response }: ReadExchange, report: Report): void {
    const id = response.headers['x-request-id']
    if (id === undefined || id === '' || isOfClient(id, exchange.request)) return
    const times = this.#times.get(id) ?? this.#older.get(id) ?? []
    // It is reported, and a service that always sends the same id must not fill the memory.
    if (times.length === TOO_MANY || times.includes(exchange.at)) return
    if (this.#times.size === REMEMBERED) {
      this.#older = this.#times
      this.#times = new Map()
    }
    this.#times.set(id, times.length === 0 ? [exchange.at] : [...times, exchange.at])
    if (times.length + 1 < TOO_MANY) return
    const message = `${TOO_MANY} requests were answered with the same X-Request-Id, so support cannot tell them apart.`
    report({ what: 'headers/x-request-id/repeated', place: '/components/headers/X-Request-Id', message })
  }
}
