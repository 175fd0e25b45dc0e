import { type Clock, elapsed } from '../ground/clock.ts'
import { BodyBudget, CollectedBody } from './collected-body.ts'
import type { HeaderField } from './message-reader.ts'

/** A request or a response as it was passed on. */
export interface PassedMessage {
  startLine: string
  fields: readonly HeaderField[]
  /** With its content coding, without the framing of chunks. */
  body: CollectedBody
}

/** A request that was passed on, and the response. */
export interface PassedExchange {
  /** The number of the request, from 1, in the order of their start. */
  ordinal: number
  method: string
  target: string
  /** When the request began and when the exchange was over, in milliseconds since the Unix epoch. */
  at: number
  until: number
  /** The same on a monotonic clock, in milliseconds. */
  started: number
  ended: number
  /** When the head of the response came, on the monotonic clock. */
  answered: number | undefined
  /** Whether another request that may change the account was in progress at the same time. */
  overlaps: boolean
  request: PassedMessage
  /** Absent if no response came. */
  response: PassedMessage | undefined
  /** Why the exchange is not complete, as a sentence. */
  broken: string | undefined
}

/** Receives the traffic. */
export interface TrafficListener {
  /** An exchange is over. Exchanges come in the order of their start, as far as it is known in time. */
  exchange(exchange: PassedExchange): void
  /** Bytes were passed on that are not understood, so the account may have changed. */
  unknown(reason: string): void
}

/** In milliseconds: how long an exchange waits for an earlier one that is not over yet. */
export const ORDER_PATIENCE = 5_000
/** In milliseconds: how long a request without a response may still change the account. */
export const LOST_REQUEST = 10_000
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
  readonly #open = new Set<Draft>()
  /** The exchanges that are over and wait for an earlier one, by their numbers. */
  readonly #waiting = new Map<number, Draft>()
  /** The numbers of the exchanges that have begun and were not reported, in order. */
  readonly #order = new Set<number>()
  #ordinal = 0
  #changing = 0
  #changesBegun = 0
  #timer: NodeJS.Timeout | undefined

  constructor(listener: TrafficListener, clock: Clock) {
    this.#listener = listener
    this.#clock = clock
  }

  /** How many exchanges are not over. */
  get open(): number {
    return this.#open.size
  }

  now(): { at: number; started: number } {
    return { at: this.#clock(), started: elapsed() }
  }

  /** A request began at this time. */
  begin(
    head: { method: string; target: string; startLine: string; fields: readonly HeaderField[] },
    began = this.now(),
  ): Draft {
    const { method, target, startLine, fields } = head
    const draft = new Draft(this, {
      ordinal: ++this.#ordinal,
      method,
      target,
      ...began,
      until: 0,
      ended: 0,
      answered: undefined,
      overlaps: this.#changing > 0,
      request: { startLine, fields, body: new CollectedBody(this.budget) },
      response: undefined,
      broken: undefined,
    })
    draft.isChange = mayChange(method)
    if (draft.isChange) this.beginChange()
    draft.changesBefore = this.#changesBegun
    this.#open.add(draft)
    this.#order.add(draft.exchange.ordinal)
    return draft
  }

  /** Something that may change the account is in progress until `endChange`. */
  beginChange(): void {
    this.#changing++
    this.#changesBegun++
  }

  endChange(): void {
    this.#changing--
  }

  /** Bytes are passed on that are not understood, until the returned function is called. */
  beginUnknown(reason: string): () => void {
    this.beginChange()
    this.#listener.unknown(reason)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.endChange()
      this.#listener.unknown(reason)
    }
  }

  /** Must be called once for each draft. */
  end(draft: Draft): void {
    const { exchange } = draft
    this.#open.delete(draft)
    exchange.until = Math.max(exchange.at, this.#clock())
    exchange.ended = elapsed()
    if (this.#changesBegun > draft.changesBefore) exchange.overlaps = true
    if (draft.isChange) {
      if (exchange.response === undefined) setTimeout(() => this.endChange(), LOST_REQUEST).unref()
      else this.endChange()
    }
    this.#waiting.set(exchange.ordinal, draft)
    this.#tell()
  }

  /** Reports all exchanges that are over, without waiting for the others. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const ordinal of [...this.#order]) {
      const draft = this.#waiting.get(ordinal)
      // An unfinished exchange loses its place. If it may change the account, the time of the change is unknown.
      this.#order.delete(ordinal)
      if (draft !== undefined) this.#tellOf(draft)
    }
  }

  #tell(): void {
    for (const ordinal of this.#order) {
      const draft = this.#waiting.get(ordinal)
      if (draft === undefined) break
      this.#order.delete(ordinal)
      this.#tellOf(draft)
    }
    // Exchanges that were reported late, after exchanges that began later.
    for (const [ordinal, draft] of this.#waiting) {
      if (this.#order.has(ordinal)) continue
      if (draft.isChange) this.#listener.unknown('it was answered much later than requests that began after it')
      this.#tellOf(draft)
    }
    if (this.#waiting.size > WAITING_LIMIT) this.flush()
    else if (this.#waiting.size === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else this.#timer ??= setTimeout(() => this.flush(), ORDER_PATIENCE).unref()
  }

  #tellOf(draft: Draft): void {
    this.#waiting.delete(draft.exchange.ordinal)
    this.#listener.exchange(draft.exchange)
  }
}

/** An exchange that is in progress. */
export class Draft {
  readonly exchange: PassedExchange
  readonly #traffic: ProxyTraffic
  isChange = false
  changesBefore = 0
  isRequestOver = false
  #isOver = false

  constructor(traffic: ProxyTraffic, exchange: PassedExchange) {
    this.#traffic = traffic
    this.exchange = exchange
  }

  answer(startLine: string, fields: readonly HeaderField[]): void {
    this.exchange.answered = elapsed()
    this.exchange.response = { startLine, fields, body: new CollectedBody(this.#traffic.budget) }
  }

  /** Ends the exchange: complete, or broken off for a reason. */
  end(broken?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    const { exchange } = this
    exchange.broken = broken
    if (broken !== undefined) exchange.response?.body.drop(broken)
    if (broken !== undefined && !this.isRequestOver) exchange.request.body.drop(broken)
    this.#traffic.end(this)
  }
}
