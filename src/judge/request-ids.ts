import type { ReadExchange } from '../exchanges/reading.ts'
import type { Remark } from './remark.ts'

/** How many ids are remembered at least; of older ones, as many again. */
const REMEMBERED = 5_000
/** So many requests with one id are not one answer that a cache or a recorder has repeated. */
const TOO_MANY = 3

/** Follows the X-Request-Ids of all responses. Support finds a request by its id, so each request has its own. */
export class RequestIdTrack {
  /** By id: when its requests were sent. */
  #times = new Map<string, readonly number[]>()
  #older: ReadonlyMap<string, readonly number[]> = new Map()

  take({ exchange, response }: ReadExchange): Remark | undefined {
    const id = response.headers['x-request-id']
    // A service may repeat the id that the client has sent.
    const { headers, hidden } = exchange.request
    if (id === undefined || id === '' || id === headers['x-request-id']) return undefined
    if (hidden?.includes('x-request-id')) return undefined
    const times = this.#times.get(id) ?? this.#older.get(id) ?? []
    // It is reported, and a service that always sends the same id must not fill the memory.
    if (times.length === TOO_MANY || times.includes(exchange.at)) return undefined
    if (this.#times.size === REMEMBERED) {
      this.#older = this.#times
      this.#times = new Map()
    }
    this.#times.set(id, [...times, exchange.at])
    if (times.length + 1 < TOO_MANY) return undefined
    const message = `${TOO_MANY} requests were answered with the same X-Request-Id, so support cannot tell them apart.`
    return { what: 'headers/x-request-id/repeated', place: '/components/headers/X-Request-Id', message }
  }
}
