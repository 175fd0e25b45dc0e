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

/** A way to use the service that its text asks clients to avoid. */
export type ImpoliteKind = keyof typeof KINDS
type Kind = ImpoliteKind

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
  read: { day: number; body: Pick<WeakRef<Content>, 'deref'> } | undefined
}

interface SentRequest {
  method: string
  target: string
  body: Content | undefined
  ended: number
}

/** How often something was impolite, and the first requests. */
export interface Noted {
  count: number
  requestIds: string[]
}

/** How many request ids of each kind are kept. */
export const SHOWN = 10
/** Bodies of more bytes are not compared, because they would have to be kept. */
export const COMPARED = 4_096
/** A retry that comes sooner after a failure is too early. In milliseconds. */
const PATIENCE = 1_000

/** What is looked at of a request. */
export type Conduct = Pick<
  Entry,
  'operation' | 'method' | 'target' | 'requestId' | 'status' | 'allowance' | 'at' | 'injected'
>

/**
 * Compares requests with those before them that had the same key. What it keeps of a key is small and lives as long as the
 * object that stands for the key.
 */
export class Manners {
  readonly #refresh: string
  readonly #hold: (body: Content) => Pick<WeakRef<Content>, 'deref'>
  readonly #habits = new WeakMap<object, Habits>()

  /**
   * `refresh` is the time of day of the daily refresh, as `HH:MM`. `hold` keeps a body of a response, which may be long,
   * by default for as long as somebody else keeps it.
   */
  constructor(refresh: string, hold: (body: Content) => Pick<WeakRef<Content>, 'deref'> = (body) => new WeakRef(body)) {
    this.#refresh = refresh
    this.#hold = hold
  }

  /** Tells `note` of each way in which a request of an operation is impolite. `key` is always the same for the same key. */
  look(entry: Conduct, key: object, evidence: WireEvidence, note: (kind: Kind) => void): void {
    const { operation, method, target, status, allowance, at } = entry
    if (operation === undefined) return
    const habits = this.#habitsOf(key)
    const { limited, failed, written } = habits
    const { started, ended, requestBody } = evidence
    const resetAt = limited.get(operation.path)
    if (resetAt !== undefined) {
      if (at < resetAt * 1000) note('request-before-reset')
      else limited.delete(operation.path)
    }
    const sent = { method, target, body: requestBody, ended }
    if (failed !== undefined && started < failed.ended + PATIENCE && isSame(failed, sent)) note('immediate-retry')
    habits.failed = status === 429 || (status !== undefined && status >= 500) ? keep(sent) : undefined
    if (status === 429 && allowance !== undefined) limited.set(operation.path, allowance.resetAt)
    if (operation.id === 'listDmarc') this.#lookAtRead(habits, entry, evidence, note)
    if (method === 'GET' || method === 'HEAD') return
    if (written !== undefined && isSame(written, sent)) note('repeated-write')
    if (status === operation.success.status && !entry.injected) habits.written = keep(sent)
  }

  #lookAtRead(
    habits: Habits,
    { at, status, injected, method, operation }: Conduct,
    { responseBody }: WireEvidence,
    note: (kind: Kind) => void,
  ): void {
    if (status !== operation?.success.status || injected || responseBody === undefined || method !== 'GET') return
    const day = refreshDay(at, this.#refresh)
    const { read } = habits
    const former = read?.body.deref()
    if (former !== undefined && read?.day === day && hasSameBytes(former, responseBody)) note('repeated-read')
    if (former !== responseBody || read?.day !== day) habits.read = { day, body: this.#hold(responseBody) }
  }

  #habitsOf(key: object): Habits {
    let habits = this.#habits.get(key)
    if (habits === undefined) {
      habits = { limited: new Map(), failed: undefined, written: undefined, read: undefined }
      this.#habits.set(key, habits)
    }
    return habits
  }
}

/** Notes how politely clients use the service. */
export class Politeness {
  readonly #manners: Manners
  readonly #noted = new Map<Kind, Noted>()
  /** What was noted before it was cleared. */
  readonly #cleared = new Map<Kind, Noted>()

  /** `refresh` as for `Manners`. */
  constructor(refresh: string) {
    this.#manners = new Manners(refresh)
  }

  /** Compares a request of an operation with the requests before it that had the same key. */
  note(entry: Entry, key: ApiKey, evidence: WireEvidence): void {
    this.#manners.look(entry, key, evidence, (kind) => this.#add(kind, entry.requestId))
  }

  report(): Impoliteness[] {
    return describeImpoliteness(this.#noted)
  }

  /** How often each kind was noted. */
  get counts(): Readonly<Record<string, number>> {
    return countImpoliteness(this.#noted)
  }

  /** Both as if it had never been cleared. */
  get whole(): { report: Impoliteness[]; counts: Readonly<Record<string, number>> } {
    const whole = new Map(this.#cleared)
    addTo(whole, this.#noted)
    return { report: describeImpoliteness(whole), counts: countImpoliteness(whole) }
  }

  clear(): void {
    addTo(this.#cleared, this.#noted)
    this.#noted.clear()
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

/** How often each kind was noted. */
export function countImpoliteness(noted: ReadonlyMap<Kind, Noted>): Readonly<Record<string, number>> {
  return Object.fromEntries(inOrder(noted).map(([kind, { count }]) => [kind, count]))
}

/** What was noted, in words. */
export function describeImpoliteness(noted: ReadonlyMap<Kind, Noted>): Impoliteness[] {
  return inOrder(noted).map(([kind, { count, requestIds }]) => ({
    kind,
    message: KINDS[kind](count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`),
    request_ids: [...requestIds],
  }))
}

/** In the order of the table above, whatever came first. */
function inOrder(noted: ReadonlyMap<Kind, Noted>): [kind: Kind, noted: Noted][] {
  return (Object.keys(KINDS) as Kind[]).flatMap((kind) => {
    const known = noted.get(kind)
    return known === undefined ? [] : [[kind, known]]
  })
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
