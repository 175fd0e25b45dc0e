import { type Clock, elapsed } from '../../ground/clock.ts'
import { BodyBudget, CollectedBody } from './collected-body.ts'
import type { Field } from './message-reader.ts'

/** A request or a response as it was passed on. */
export interface PassedMessage {
  startLine: string
  fields: readonly Field[]
  /** With its content coding, without the framing of chunks. */
  body: CollectedBody
}

/** A request that was passed on, and what came back. */
export interface PassedExchange {
  /** Counts the requests of the proxy, from 1, in the order in which they began. */
  ordinal: number
  method: string
  target: string
  /** When the request began and when the exchange was over, in milliseconds since the Unix epoch. */
  at: number
  until: number
  /** The same on a clock that only counts milliseconds. */
  started: number
  ended: number
  /** When the head of the response came, on that clock. */
  answered: number | undefined
  /** Whether another request that may change the account was under way at the same time. */
  overlaps: boolean
  request: PassedMessage
  /** Absent where none came. */
  response: PassedMessage | undefined
  /** Why the exchange is not complete, as a sentence. */
  broken: string | undefined
}

/** What becomes of the traffic. */
export interface TrafficListener {
  /** An exchange is over, in the order in which they began, as far as that is known in time. */
  exchange(exchange: PassedExchange): void
  /** Something was passed on that is not understood, so the account may have changed. */
  unknown(reason: string): void
}

/** In milliseconds: how long an exchange waits for one that began before it and is not over yet. */
export const ORDER_PATIENCE = 5_000
/** In milliseconds: how long a request without a response may still change the account. */
export const LOST_REQUEST = 10_000
/** How many exchanges wait at most for one that began before them. */
const WAITING_LIMIT = 1_000

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

export function mayChange(method: string): boolean {
  return !SAFE.has(method)
}

/** What is under way on all connections of a proxy. */
export class Traffic {
  readonly budget = new BodyBudget()
  readonly #listener: TrafficListener
  readonly #clock: Clock
  readonly #open = new Set<Draft>()
  /** Those that are over and wait for an earlier one, by their ordinals. */
  readonly #waiting = new Map<number, Draft>()
  /** The ordinals that were begun and not told, in their order. */
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

  /** A request has begun at that moment. */
  begin(
    head: { method: string; target: string; startLine: string; fields: readonly Field[] },
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

  /** Something that may change the account is under way until `endChange`. */
  beginChange(): void {
    this.#changing++
    this.#changesBegun++
  }

  endChange(): void {
    this.#changing--
  }

  /** Bytes are passed on that nobody understands, until the function is called that it returns. */
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

  /** To be called once for each draft. */
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

  /** Tells of everything that is over, without waiting for what is not. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const ordinal of [...this.#order]) {
      const draft = this.#waiting.get(ordinal)
      // What is not over has its place no more; if it may change something, nobody knows when.
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
    // Those that come later than others that began after them.
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

/** An exchange that is under way. */
export class Draft {
  readonly exchange: PassedExchange
  readonly #traffic: Traffic
  isChange = false
  changesBefore = 0
  isRequestOver = false
  #isOver = false

  constructor(traffic: Traffic, exchange: PassedExchange) {
    this.#traffic = traffic
    this.exchange = exchange
  }

  answer(startLine: string, fields: readonly Field[]): void {
    this.exchange.answered = elapsed()
    this.exchange.response = { startLine, fields, body: new CollectedBody(this.#traffic.budget) }
  }

  /** It is over: complete, or broken off for a reason. */
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
