import { BodyBudget, CollectedBody } from '../exchanges/collected-body.ts'
import { changesSomething } from '../exchanges/reading.ts'
import { type Clock, elapsed, setTimeout } from '../ground/timers.ts'

/** A header field as it was sent. */
export type HeaderField = [name: string, value: string]

export interface PassedMessage {
  /** Such as `HTTP/1.1`. */
  httpVersion: string
  /** In their order, with the names as they were sent. */
  fields: readonly HeaderField[]
  /** With its content coding, without the framing of chunks. */
  body: CollectedBody
}

interface PassedRequest extends PassedMessage {
  method: string
  target: string
}

interface PassedResponse extends PassedMessage {
  status: number
  reason: string
}

/** A request that was passed on, and the response of the service. */
export interface PassedExchange {
  /** The number of the request, from 1, in the order of their start. */
  ordinal: number
  /** When the request began, in milliseconds since the Unix epoch. */
  at: number
  /** When the request began, when the response began, and when all was over, on a monotonic clock in milliseconds. */
  started: number
  answered: number | undefined
  ended: number
  /** Whether another request that may change the account was in progress at the same time. */
  overlaps: boolean
  request: PassedRequest
  /** Absent if the service gave no response that could be passed on. */
  response: PassedResponse | undefined
  /** Why the exchange is not complete, as a sentence. */
  broken: string | undefined
}

/** In milliseconds: how long a request without a response may still change the account. */
const LOST_REQUEST = 10_000

/** Everything that is in progress on all connections of a proxy. It reports each exchange as soon as it is over. */
export class ProxyTraffic {
  readonly budget = new BodyBudget()
  readonly #report: (exchange: PassedExchange) => void
  readonly #clock: Clock
  readonly #open = new Set<PassedExchange>()
  #ordinal = 0
  /** How many requests that may change the account are in progress. */
  #changing = 0

  constructor(report: (exchange: PassedExchange) => void, clock: Clock) {
    this.#report = report
    this.#clock = clock
  }

  begin(request: Omit<PassedRequest, 'body'>): PassedExchange {
    const exchange: PassedExchange = {
      ...{ ordinal: ++this.#ordinal, at: this.#clock(), started: elapsed(), answered: undefined, ended: 0 },
      overlaps: this.#changing > 0,
      request: { ...request, body: new CollectedBody(this.budget) },
      ...{ response: undefined, broken: undefined },
    }
    if (changesSomething(request.method)) {
      this.#changing++
      for (const other of this.#open) other.overlaps = true
    }
    this.#open.add(exchange)
    return exchange
  }

  /** Adds the head of the response. Returns its body, which is still empty. */
  answer(exchange: PassedExchange, response: Omit<PassedResponse, 'body'>): CollectedBody {
    const body = new CollectedBody(this.budget)
    exchange.answered = elapsed()
    exchange.response = { ...response, body }
    return body
  }

  /** Ends an exchange, once. `reason` says why what is not `whole` will never be, as a sentence. */
  end(exchange: PassedExchange, reason: string, whole: { request: boolean; response: boolean }): void {
    if (!this.#open.delete(exchange)) return
    const { request, response } = exchange
    if (!whole.request) request.body.drop(reason)
    if (!whole.response) {
      response?.body.drop(reason)
      exchange.broken = reason
    }
    exchange.ended = elapsed()
    if (changesSomething(request.method)) {
      if (response === undefined) setTimeout(() => this.#changing--, LOST_REQUEST).unref()
      else this.#changing--
    }
    this.#report(exchange)
  }

  /** Ends all exchanges that are in progress. */
  stop(reason: string): void {
    for (const exchange of this.#open) this.end(exchange, reason, { request: false, response: false })
  }
}
