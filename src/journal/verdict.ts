import type { Operation } from '../contract/api.ts'
import type { Schemas } from '../contract/control-plane.ts'
import type { AccountState, ApiKey } from '../domain/account.ts'
import { refreshDay } from '../domain/dmarc.ts'
import type { Allowance } from '../domain/quotas.ts'
import { bytesOf, type Content, NO_BODY } from '../ground/message.ts'
import type { Entry } from './entry.ts'

/** Uses of the service that its documentation asks clients to avoid. None of them violates the contract. */
const KINDS = {
  'request-before-reset': (times: string) =>
    `A path was requested ${times} after its 429 and before the instant in X-RateLimit-Reset.`,
  'immediate-retry': (times: string) =>
    `The same request was sent again ${times} within a second after a 429 or a 5xx.`,
  'repeated-read': (times: string) =>
    `GET /dmarc was read again ${times} between two daily refreshes, which gave the same bytes.`,
  'repeated-write': (times: string) => `A write was sent again ${times}, although its success had been answered.`,
}

/** A use of the service that its documentation asks clients to avoid. */
export type ImpoliteKind = keyof typeof KINDS

/** A request and its response on the wire. Times are in milliseconds, from `elapsed`. */
export interface WireEvidence {
  operation: Operation | undefined
  started: number
  ended: number
  /** `undefined` if the request has none, and `UNREAD` if a fault or a refusal came before it was read. */
  requestBody: Content | undefined
  responseBody: Content | undefined
}

/** The data about the last requests with a key. A request is named by all that makes it the same as another. */
interface Habits {
  /** By path: the end of the window with the exhausted quota, in milliseconds, and the end of the first such answer. */
  limited: Map<string, { resetAt: number; ended: number }>
  /** The last request that was answered with 429 or 5xx. */
  failed?: { name: string | undefined; ended: number; resetAt: number }
  /** The last write that succeeded. */
  written?: { name: string | undefined; ended: number }
  /** The last answer to GET /dmarc, while another object keeps it, and the refresh day of that answer. */
  read?: { day: number; body: WeakRef<Content> }
}

/** How many requests are of one kind, and the first of them. */
export interface Noted {
  count: number
  requestIds: readonly string[]
}

/** Requests with larger bodies, in bytes, are not compared, because those would have to be kept. */
export const COMPARED = 4_096
/** In milliseconds of real time: a retry sooner after a failure is too early, unless the reset has passed. */
const PATIENCE = 1_000

/** The parts of a request that are checked. */
export type ObservedConduct = Pick<Entry, 'method' | 'target' | 'status' | 'at' | 'injected'> & {
  allowance?: Pick<Allowance, 'resetAt'> | undefined
}

/**
 * Compares requests with earlier requests with the same key. The data of a key is small and lives as long as the object
 * that represents the key.
 */
export class Manners {
  readonly #refresh: string
  readonly #habits = new WeakMap<object, Habits>()

  /** `refresh` is the time of day of the daily refresh, as `HH:MM`. */
  constructor(refresh: string) {
    this.#refresh = refresh
  }

  /** The impolite uses in a request of an operation. `key` is the same object for the same key. */
  look(entry: ObservedConduct, key: object, evidence: WireEvidence): ImpoliteKind[] {
    const found: ImpoliteKind[] = []
    const { method, target, status, allowance, at } = entry
    const { operation, started, ended, requestBody } = evidence
    if (operation === undefined) return found
    const habits = this.#habitsOf(key)
    const { limited, failed, written } = habits
    // A client that sends several requests at a time has no answer yet that tells it to wait.
    const isAfter = (earlier: { ended: number }) => started >= earlier.ended
    const limit = limited.get(operation.path)
    if (limit !== undefined && at >= limit.resetAt) limited.delete(operation.path)
    else if (limit !== undefined && isAfter(limit)) found.push('request-before-reset')
    // If a response gives no reset, a client cannot wait for it.
    const resetAt = allowance === undefined ? Number.POSITIVE_INFINITY : allowance.resetAt * 1000
    // What the operation does not read makes no other request.
    const body = operation.readsBody ? (requestBody ?? NO_BODY) : NO_BODY
    // A body that was not read is equal to none.
    const { held, size } = body
    const text = typeof held === 'string' ? held : held.toString('latin1')
    const name = size <= COMPARED ? `${method} ${target} ${text}` : undefined
    const isSame = (earlier: { name: string | undefined }) => name !== undefined && earlier.name === name
    if (failed !== undefined && isAfter(failed) && isSame(failed)) {
      if (started < failed.ended + PATIENCE && at < failed.resetAt) found.push('immediate-retry')
    }
    if (status === 429 || (status !== undefined && status >= 500)) habits.failed = { name, ended, resetAt }
    else delete habits.failed
    if (status === 429 && allowance !== undefined && limited.get(operation.path)?.resetAt !== resetAt) {
      limited.set(operation.path, { resetAt, ended })
    }
    if (operation.id === 'listDmarc' && this.#isRepeatedRead(habits, entry, evidence)) found.push('repeated-read')
    if (method === 'GET' || method === 'HEAD') return found
    if (written !== undefined && isAfter(written) && isSame(written)) found.push('repeated-write')
    if (status === operation.success.status && !entry.injected) habits.written = { name, ended }
    return found
  }

  #isRepeatedRead(
    habits: Habits,
    { at, status, injected, method }: ObservedConduct,
    { operation, responseBody }: WireEvidence,
  ): boolean {
    if (status !== operation?.success.status || injected || responseBody === undefined || method !== 'GET') return false
    const day = refreshDay(at, this.#refresh)
    const { read } = habits
    const former = read?.body.deref()
    if (former !== responseBody || read?.day !== day) habits.read = { day, body: new WeakRef(responseBody) }
    return former !== undefined && read?.day === day && hasSameBytes(former, responseBody)
  }

  #habitsOf(key: object): Habits {
    const habits = this.#habits.get(key) ?? { limited: new Map() }
    this.#habits.set(key, habits)
    return habits
  }
}

/** The impolite uses in words, in the order of the table above. */
export function reportImpoliteness(
  notedOf: (kind: ImpoliteKind) => Noted | undefined,
): Schemas['Verdict']['politeness'] {
  return (Object.keys(KINDS) as ImpoliteKind[]).flatMap((kind) => {
    const { count, requestIds } = notedOf(kind) ?? { count: 0, requestIds: [] }
    const message = KINDS[kind](count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`)
    return count === 0 ? [] : [{ kind, message, request_ids: [...requestIds] }]
  })
}

function hasSameBytes(one: Content, other: Content): boolean {
  return one.size === other.size && (one.held === other.held || bytesOf(one).equals(bytesOf(other)))
}

/** The facts about an exchange that the verdict needs besides its entry. */
export interface Judged extends WireEvidence {
  /** Whether the request was checked against the whole contract. An earlier refusal, as for its key, prevents that. */
  judged: boolean
  /** The account and the valid key of the request, if it has one. The account is as it was before the request. */
  principal: { account: AccountState; key: ApiKey } | undefined
  /** The account whose key the request presents, if the request was refused before its key counted. */
  owner: { account: AccountState } | undefined
}

/** The counts behind the verdict, with the impolite requests. */
export interface VerdictCounts {
  requests: number
  judged: number
  injected: number
  violations: number
  byCode: Readonly<Record<string, number>>
  politeness: Schemas['Verdict']['politeness']
}

/** The number of violations that are kept in full, and of ids of other requests for each count. */
export const EXAMPLES = 10

/** What the names of the counts of a code, and of a kind of impolite use, begin with. */
const CODE = 'code '
export const IMPOLITE = 'impolite '

/** The names of the counts to which an exchange adds one. A shared store counts by the same names. */
export function countsOf(
  entry: Pick<Entry, 'injected' | 'violatesContract' | 'decided' | 'code' | 'problems'>,
  { judged }: Pick<Judged, 'judged'>,
  impolite: readonly ImpoliteKind[],
): string[] {
  const names = ['requests']
  if (judged) names.push('judged')
  if (entry.injected) names.push('injected')
  if (entry.violatesContract) names.push('violations', `${CODE}${violatedCode(entry)}`)
  for (const kind of impolite) names.push(`${IMPOLITE}${kind}`)
  return names
}

/** The counts that were made by these names. */
export function readCounts(noted: ReadonlyMap<string, Noted>): VerdictCounts {
  const read = (name: string) => noted.get(name)?.count ?? 0
  const codes = [...noted.keys()].filter((name) => name.startsWith(CODE))
  return {
    ...{ requests: read('requests'), judged: read('judged'), injected: read('injected') },
    violations: read('violations'),
    byCode: orderCodes(codes.map((name) => [name.slice(CODE.length), read(name)])),
    politeness: reportImpoliteness((kind) => noted.get(`${IMPOLITE}${kind}`)),
  }
}

/** A request that violates the contract. */
export interface Violation {
  entry: Entry
  /** The account of its key, as the request found it; absent if it has none, or if the account is gone. */
  account: AccountState | undefined
}

/** The counts, and the first violations. */
export interface Reckoning {
  readonly counts: VerdictCounts
  readonly first: readonly Violation[]
}

/** The reckoning since some moment. */
class Tally implements Reckoning {
  readonly #noted = new Map<string, { count: number; requestIds: string[] }>()
  readonly first: Violation[] = []

  add(name: string, requestId: string): void {
    const noted = this.#noted.get(name) ?? { count: 0, requestIds: [] }
    noted.count++
    if (noted.requestIds.length < EXAMPLES) noted.requestIds.push(requestId)
    this.#noted.set(name, noted)
  }

  get counts(): VerdictCounts {
    return readCounts(this.#noted)
  }
}

/**
 * Whether the clients of this process have kept the contract since its start. The verdict does not depend on the
 * journal. It survives the reset and the deletion of accounts, and a journal that is cleared, full or switched off.
 */
export class Verdict {
  readonly #manners: Manners
  sinceClearing = new Tally()
  readonly sinceStart = new Tally()

  /** `refresh` is the time of day of the daily refresh, as `HH:MM`. */
  constructor({ refresh }: { refresh: string }) {
    this.#manners = new Manners(refresh)
  }

  note(entry: Entry, exchange: Judged): void {
    const { principal, owner } = exchange
    const impolite = principal === undefined ? [] : this.#manners.look(entry, principal.key, exchange)
    const names = countsOf(entry, exchange, impolite)
    const violation = { entry, account: (principal ?? owner)?.account }
    for (const tally of [this.sinceClearing, this.sinceStart]) {
      for (const name of names) tally.add(name, entry.requestId)
      if (entry.violatesContract && tally.first.length < EXAMPLES) tally.first.push(violation)
    }
  }

  clear(): void {
    this.sinceClearing = new Tally()
  }
}

/** The code of a violation. If a fault changed the response, it is the service's own code. */
function violatedCode({ decided, code, problems }: Pick<Entry, 'decided' | 'code' | 'problems'>): string {
  return (decided === undefined ? code : decided.code) ?? problems[0]?.code ?? ''
}

/** Whether the clients kept the contract. Without a judged request, this is unknown and counts as not passed. */
export function hasPassed({ violations, judged }: Pick<VerdictCounts, 'violations' | 'judged'>): boolean {
  return violations === 0 && judged > 0
}

/** The counts of codes, the greatest first. The order of equal counts does not depend on the order of the requests. */
export function orderCodes(counts: Iterable<readonly [code: string, count: number]>): VerdictCounts['byCode'] {
  const sorted = [...counts].sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1))
  return Object.fromEntries(sorted)
}
