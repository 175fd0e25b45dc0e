import { refreshDay } from '../domain/dmarc.ts'
import type { ApiKey } from '../domain/keys.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { Entry } from './entry.ts'

/** Ways to use the service that its text asks clients to avoid. None of them violates the contract. */
const KINDS = {
  'request-before-reset': (times: string) =>
    `A path was requested ${times} after its 429 and before the instant in X-RateLimit-Reset.`,
  'immediate-retry': (times: string) =>
    `The same request was sent again ${times} within a second after a 429 or a 5xx.`,
  'repeated-read': (times: string) =>
    `GET /dmarc was read again ${times} between two daily refreshes, which gave the same bytes.`,
  'repeated-write': (times: string) => `A write was sent again ${times}, although its success had been answered.`,
}

type Kind = keyof typeof KINDS

/** What was impolite, how often, and the first requests of the kind. */
export interface Impoliteness {
  kind: Kind
  message: string
  request_ids: string[]
}

/** What a request and its response looked like on the wire. Times in milliseconds, by `elapsed`. */
export interface WireEvidence {
  started: number
  ended: number
  requestBody: Content | undefined
  responseBody: Content | undefined
}

/** What is remembered of the last requests with a key. */
interface Habits {
  /** By path: the end of the window whose quota is used up, in Unix seconds. */
  limited: Map<string, number>
  /** The request that was answered with 429 or 5xx last. */
  failed: SentRequest | undefined
  /** The write that succeeded last. */
  written: SentRequest | undefined
  /** The last answer to GET /dmarc, as long as something else keeps it, and the refresh day on which it was given. */
  read: { day: number; body: WeakRef<Content> } | undefined
}

interface SentRequest {
  method: string
  target: string
  body: Content | undefined
  ended: number
}

interface Noted {
  count: number
  requestIds: string[]
}

/** How many request ids of each kind are kept. */
const SHOWN = 10
/** Bodies of more bytes are not compared, because they would have to be kept. */
const COMPARED = 4_096
/** A retry that comes sooner after a failure is too early. In milliseconds. */
const PATIENCE = 1_000

/** Notes how politely clients use the service. What it keeps of a key is small and lives as long as the key. */
export class Politeness {
  readonly #refresh: string
  readonly #habits = new WeakMap<ApiKey, Habits>()
  readonly #noted = new Map<Kind, Noted>()
  /** What was noted before it was cleared. */
  readonly #cleared = new Map<Kind, Noted>()

  /** `refresh` is the time of day of the daily refresh, as `HH:MM`. */
  constructor(refresh: string) {
    this.#refresh = refresh
  }

  /** Compares a request of an operation with the requests before it that had the same key. */
  note(entry: Entry, key: ApiKey, evidence: WireEvidence): void {
    const { operation, method, target, requestId, status, allowance, at } = entry
    if (operation === undefined) return
    const habits = this.#habitsOf(key)
    const { limited, failed, written } = habits
    const { started, ended, requestBody } = evidence
    const resetAt = limited.get(operation.path)
    if (resetAt !== undefined) {
      if (at < resetAt * 1000) this.#add('request-before-reset', requestId)
      else limited.delete(operation.path)
    }
    const sent = { method, target, body: requestBody, ended }
    if (failed !== undefined && started < failed.ended + PATIENCE && isSame(failed, sent))
      this.#add('immediate-retry', requestId)
    habits.failed = status === 429 || (status !== undefined && status >= 500) ? keep(sent) : undefined
    if (status === 429 && allowance !== undefined) limited.set(operation.path, allowance.resetAt)
    if (operation.id === 'listDmarc') this.#noteRead(habits, entry, evidence)
    if (method === 'GET' || method === 'HEAD') return
    if (written !== undefined && isSame(written, sent)) this.#add('repeated-write', requestId)
    if (status === operation.success.status && !entry.injected) habits.written = keep(sent)
  }

  report(): Impoliteness[] {
    return describe(this.#noted)
  }

  /** How often each kind was noted. */
  get counts(): Readonly<Record<string, number>> {
    return countsOf(this.#noted)
  }

  /** Both as if it had never been cleared. */
  get whole(): { report: Impoliteness[]; counts: Readonly<Record<string, number>> } {
    const whole = new Map(this.#cleared)
    addTo(whole, this.#noted)
    return { report: describe(whole), counts: countsOf(whole) }
  }

  clear(): void {
    addTo(this.#cleared, this.#noted)
    this.#noted.clear()
  }

  #noteRead(habits: Habits, entry: Entry, { responseBody }: WireEvidence): void {
    const { at, status, injected, requestId, method, operation } = entry
    if (status !== operation?.success.status || injected || responseBody === undefined || method !== 'GET') return
    const day = refreshDay(at, this.#refresh)
    const { read } = habits
    const former = read?.body.deref()
    if (former !== undefined && read?.day === day && hasSameBytes(former, responseBody))
      this.#add('repeated-read', requestId)
    if (former !== responseBody || read?.day !== day) habits.read = { day, body: new WeakRef(responseBody) }
  }

  #habitsOf(key: ApiKey): Habits {
    let habits = this.#habits.get(key)
    if (habits === undefined) {
      habits = { limited: new Map(), failed: undefined, written: undefined, read: undefined }
      this.#habits.set(key, habits)
    }
    return habits
  }

  #add(kind: Kind, requestId: string): void {
    const noted = this.#noted.get(kind) ?? { count: 0, requestIds: [] }
    noted.count++
    if (noted.requestIds.length < SHOWN) noted.requestIds.push(requestId)
    this.#noted.set(kind, noted)
  }
}

function addTo(noted: Map<Kind, Noted>, more: ReadonlyMap<Kind, Noted>): void {
  for (const [kind, { count, requestIds }] of more) {
    const { count: before, requestIds: first } = noted.get(kind) ?? { count: 0, requestIds: [] }
    noted.set(kind, { count: before + count, requestIds: [...first, ...requestIds].slice(0, SHOWN) })
  }
}

function countsOf(noted: ReadonlyMap<Kind, Noted>): Readonly<Record<string, number>> {
  return Object.fromEntries([...noted].map(([kind, { count }]) => [kind, count]))
}

function describe(noted: ReadonlyMap<Kind, Noted>): Impoliteness[] {
  return [...noted].map(([kind, { count, requestIds }]) => ({
    kind,
    message: KINDS[kind](count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`),
    request_ids: [...requestIds],
  }))
}

/** The request without the memory of a long body; `undefined` if it cannot be compared without that. */
function keep(sent: SentRequest): SentRequest | undefined {
  return (sent.body?.size ?? 0) <= COMPARED ? sent : undefined
}

/** Whether two requests look the same. A body that was not read, as before a fault, may be any. */
function isSame(one: SentRequest, other: SentRequest): boolean {
  if (one.method !== other.method || one.target !== other.target) return false
  return one.body === undefined || other.body === undefined || hasSameBytes(one.body, other.body)
}

function hasSameBytes(one: Content, other: Content): boolean {
  if (one.held === other.held) return true
  if (one.size !== other.size) return false
  return bytesOf(one).equals(bytesOf(other))
}
