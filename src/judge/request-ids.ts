import type { ReadExchange } from '../exchanges/reading.ts'
import type { Remark } from './remark.ts'

/** How many ids are remembered; the oldest are forgotten. */
const REMEMBERED = 10_000
/** So many requests with one id are not one answer that a cache or a recorder has repeated. */
const TOO_MANY = 3

/** Follows the X-Request-Ids of all responses. Support finds a request by its id, so each request has its own. */
export class RequestIdTrack {
  /** By id: when its requests were sent. */
  readonly #times = new Map<string, Set<number>>()

  take({ exchange, response }: ReadExchange): Remark | undefined {
    const id = response.headers['x-request-id']
    // A service may repeat the id that the client has sent.
    const { headers, hidden } = exchange.request
    if (id === undefined || id === '' || id === headers['x-request-id']) return undefined
    if (hidden?.includes('x-request-id')) return undefined
    const times = this.#times.get(id) ?? new Set()
    // It is reported, and a service that always sends the same id must not fill the memory.
    if (times.size === TOO_MANY) return undefined
    this.#times.set(id, times.add(exchange.at))
    const [oldest] = this.#times.keys()
    if (this.#times.size > REMEMBERED && oldest !== undefined) this.#times.delete(oldest)
    if (times.size !== TOO_MANY) return undefined
    const message = `${TOO_MANY} requests were answered with the same X-Request-Id, so support cannot tell them apart.`
    return { what: 'headers/x-request-id/repeated', place: '/components/headers/X-Request-Id', message }
  }
}
