import { BodyBudget, CollectedBody } from '../exchanges/collected-body.ts'
import { type Clock, elapsed } from '../ground/clock.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'

/** A header field as it was sent. */
export type HeaderField = [name: string, value: string]

interface PassedMessage {
  /** Such as `HTTP/1.1`. */
  httpVersion: string
  /** In their order, with the names as they were sent. */
  fields: readonly HeaderField[]
  /** With its content coding, without the framing of chunks. */
  body: CollectedBody
}

/** A message without its body. */
type Head<Message> = Omit<Message, 'body'>

interface PassedRequest extends PassedMessage {
  method: string
  target: string
}

interface PassedResponse extends PassedMessage {
  status: number
  reason: string
}

/** A request that was passed on, and the response. */
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
  /** Absent if no response came. */
  response: PassedResponse | undefined
  /** Why the exchange is not complete, as a sentence. */
  broken: string | undefined
}

/** Receives the traffic. */
export interface TrafficListener {
  /** An exchange is over. Exchanges come in the order of their start, as far as it is known in time. */
  exchange(exchange: PassedExchange): void
  /** A change was reported too late for its place in the order, so nothing is known of the account any more. */
  unknown(): void
}

/** In milliseconds: how long an exchange waits for an earlier one that is not over yet. */
const ORDER_PATIENCE = 5_000
/** In milliseconds: how long a request without a response may still change the account. */
const LOST_REQUEST = 10_000
/** How many exchanges may wait for an earlier one. */
const WAITING_LIMIT = 1_000

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

export function mayChange(method: string): boolean {
  return !SAFE.has(method)
}

/** Everything that is in progress on all connections of a proxy. */
export class ProxyTraffic {
  readonly budget = new BodyBudget()
  readonly #listener: TrafficListener
  readonly #clock: Clock
  /** The exchanges that were not reported, in the order of their start. */
  readonly #unreported = new Set<Draft>()
  /** How many of them are over and wait for an earlier one. */
  #waiting = 0
  #ordinal = 0
  #open = 0
  #changing = 0
  #changesBegun = 0
  #timer: NodeJS.Timeout | undefined

  constructor(listener: TrafficListener, clock: Clock) {
    this.#listener = listener
    this.#clock = clock
  }

  /** How many exchanges are not over. */
  get open(): number {
    return this.#open
  }

  begin(request: Head<PassedRequest>): Draft {
    const draft = new Draft(this, {
      ordinal: ++this.#ordinal,
      at: this.#clock(),
      started: elapsed(),
      answered: undefined,
      ended: 0,
      overlaps: this.#changing > 0,
      request: { ...request, body: new CollectedBody(this.budget) },
      response: undefined,
      broken: undefined,
    })
    if (draft.isChange) {
      this.#changing++
      this.#changesBegun++
    }
    draft.changesBefore = this.#changesBegun
    this.#open++
    this.#unreported.add(draft)
    return draft
  }

  /** Must be called once for each draft. */
  end(draft: Draft): void {
    const { exchange } = draft
    this.#open--
    exchange.ended = elapsed()
    if (this.#changesBegun > draft.changesBefore) exchange.overlaps = true
    if (draft.isChange) {
      if (exchange.response === undefined) setTimeout(() => this.#changing--, LOST_REQUEST).unref()
      else this.#changing--
    }
    if (!this.#unreported.has(draft)) {
      // It lost its place to requests that began after it.
      if (draft.isChange) this.#listener.unknown()
      this.#listener.exchange(exchange)
      return
    }
    this.#waiting++
    this.#reportInOrder()
  }

  /** Reports all exchanges that are over, without waiting for the others, which lose their place. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const draft of this.#unreported) this.#report(draft)
  }

  #reportInOrder(): void {
    for (const draft of this.#unreported) {
      if (!draft.isOver) break
      this.#report(draft)
    }
    if (this.#waiting > WAITING_LIMIT) this.flush()
    else if (this.#waiting > 0) this.#timer ??= setTimeout(() => this.flush(), ORDER_PATIENCE).unref()
    else {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  #report(draft: Draft): void {
    this.#unreported.delete(draft)
    if (!draft.isOver) return
    this.#waiting--
    this.#listener.exchange(draft.exchange)
  }
}

/** An exchange that is in progress. */
export class Draft {
  readonly exchange: PassedExchange
  readonly isChange: boolean
  readonly #traffic: ProxyTraffic
  /** How many changes had begun when this exchange began, including its own. */
  changesBefore = 0
  isOver = false
  #isRequestOver = false
  #isResponseOver = false

  constructor(traffic: ProxyTraffic, exchange: PassedExchange) {
    this.#traffic = traffic
    this.exchange = exchange
    this.isChange = mayChange(exchange.request.method)
  }

  answer(response: Head<PassedResponse>): void {
    this.exchange.answered = elapsed()
    this.exchange.response = { ...response, body: new CollectedBody(this.#traffic.budget) }
  }

  endRequest(): void {
    this.#isRequestOver = true
    if (this.#isResponseOver) this.end('')
  }

  endResponse(): void {
    this.#isResponseOver = true
    if (this.#isRequestOver) this.end('')
  }

  /** Ends the exchange. `reason` says why what is missing now does not come any more, as a sentence. */
  end(reason: string): void {
    if (this.isOver) return
    this.isOver = true
    const { request, response } = this.exchange
    if (!this.#isRequestOver) request.body.drop(reason)
    if (!this.#isResponseOver) {
      response?.body.drop(reason)
      this.exchange.broken = reason
    }
    this.#traffic.end(this)
  }
}
