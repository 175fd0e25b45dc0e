import type { VerdictReport } from '../admin/reports.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { isObject } from '../ground/json.ts'
import { hashKey } from '../ground/secrets.ts'
import { nextTurn } from '../ground/timers.ts'
import { readOptions } from './arguments.ts'

/** A request that violates the contract, with a request that would be accepted. */
export type ViolationReport = VerdictReport['violations']['first'][number]

/** The maximum number of kinds of violations that an error describes. The others are counted. */
export const DESCRIBED = 3
/** The number of accounts that are remembered after their watch. So a late request is not charged to another watch. */
export const FORMER = 1_000
/** After this many passes of the event loop, all data that has arrived at the server is processed. */
const PASSES = 10

/** A client has violated the contract, independent of the account's contents. `message` has a few lines. */
export class ViolationError extends Error {
  override name = 'ViolationError'
  // These are behind getters, because a test runner prints every field of an error below its message.
  readonly #violations: readonly ViolationReport[]
  readonly #count: number

  constructor(message: string, violations: readonly ViolationReport[], count: number) {
    super(message)
    this.#violations = violations
    this.#count = count
    // No line of the program is the cause, so none is shown.
    this.stack = `${this.name}: ${message}`
  }

  /** The first violation of each kind, of three kinds at most. */
  get violations(): readonly ViolationReport[] {
    return this.#violations
  }

  /** The number of violations. */
  get count(): number {
    return this.#count
  }
}

/** The purpose of a watch. */
export interface WatchOptions {
  /** The account whose violations the watch sees. Without an account, it sees those that no other watch sees. */
  account?: { readonly id: string; readonly apiKey: string | undefined } | undefined
  /** The user of the account, such as the name of a test. */
  name?: string | undefined
  /**
   * Whether the watch also sees violations that belong to no watch, as long as it is the only watch of an account.
   * These are requests without a key, with the key of no account, or of an account without a watch. By default true.
   */
  seesOthers?: boolean | undefined
  /** Whether violations are permitted during the watch. They are charged to no other watch. */
  permits?: boolean | undefined
}

/** Observes the violations of a test. */
export interface ViolationWatch {
  /** Ends the watch. Rejects with a `ViolationError` if it has seen a violation that it does not permit. */
  end(): Promise<void>
}

/** A violation when it becomes known. */
export interface KnownViolation {
  /** The account of the request's key, even if the account was deleted meanwhile. */
  account: string | undefined
  /** The hash of the presented key, if it belongs to no account. */
  presented: string | undefined
  /** Violations of the same kind have the same name. */
  kind: string
  /** Describes the violation. The first call must come before the account is gone. */
  describe(): Promise<ViolationReport>
}

/** Where the violations come from. */
export interface ViolationSource {
  /** Calls `listener` with each violation. The returned function ends this. */
  subscribe(listener: (violation: KnownViolation) => void): () => void
  /** Resolves when the listeners have been told of every violation so far. */
  caughtUp(): Awaitable<void>
  /** Whether its server goes on after the tests, so that the address of a request can still be opened. */
  readonly lasts: boolean
}

/** Assigns each violation to a watch. */
export class ViolationWatches {
  readonly #source: ViolationSource
  readonly #open = new Set<Watch>()
  /** The name of the former user of an account, by the account's id and its key's hash. The oldest are dropped. */
  readonly #former = new Map<string, string>()
  #unsubscribe: (() => void) | undefined

  constructor(source: ViolationSource) {
    this.#source = source
  }

  /** Invalid options are reported by `end`. */
  open(options: unknown): ViolationWatch {
    let watch: Watch
    try {
      watch = new Watch(readOptions('watchViolations', options, OPTIONS) as WatchOptions)
    } catch (error) {
      return { end: () => Promise.reject(error) }
    }
    this.#open.add(watch)
    this.#unsubscribe ??= this.#source.subscribe((violation) => this.#assign(violation))
    let ended: Promise<void> | undefined
    return { end: () => (ended ??= this.#end(watch)) }
  }

  async #end(watch: Watch): Promise<void> {
    if ([...this.#open].some(({ permits }) => !permits)) {
      // A client that did not wait for its response may have sent more requests than the server has read.
      for (let pass = 0; pass < PASSES; pass++) await nextTurn()
      await this.#source.caughtUp()
    }
    this.#open.delete(watch)
    if (this.#open.size === 0) {
      this.#unsubscribe?.()
      this.#unsubscribe = undefined
      this.#former.clear()
    } else this.#remember(watch)
    await watch.judge(this.#source.lasts)
  }

  #remember({ account, name }: Watch): void {
    for (const trace of account === undefined ? [] : [account.id, hashOf(account.apiKey)]) {
      if (trace === undefined) continue
      this.#former.delete(trace)
      this.#former.set(trace, name ?? account?.id ?? '')
    }
    for (const [trace] of this.#former) {
      if (this.#former.size <= 2 * FORMER) break
      this.#former.delete(trace)
    }
  }

  /** Charges a violation to a watch. */
  #assign(violation: KnownViolation): void {
    const { account: id, presented } = violation
    const watches = [...this.#open]
    const rest = watches.find(({ account }) => account === undefined)
    const known = watches.find(({ account }) => {
      return (
        account !== undefined &&
        (account.id === id || (presented !== undefined && hashOf(account.apiKey) === presented))
      )
    })
    const former = this.#former.get(id ?? presented ?? '')
    const [only, ...others] = watches.filter((watch) => watch !== rest)
    const alone = others.length === 0 && only?.seesOthers === true ? only : rest
    if (known !== undefined) known.charge(violation)
    else if (former !== undefined) rest?.charge(violation, former)
    else alone?.charge(violation)
  }
}

const isSwitch = { words: 'true or false', fits: (value: unknown) => typeof value === 'boolean' }
const OPTIONS = {
  account: { words: 'an account', fits: isAccount },
  name: { words: 'a text', fits: (value: unknown) => typeof value === 'string' },
  seesOthers: isSwitch,
  permits: isSwitch,
}

function isAccount(value: unknown): boolean {
  try {
    return isObject(value) && typeof value['id'] === 'string'
  } catch {
    // JavaScript can pass any object, including one with a field that throws.
    return false
  }
}

/** Violations of the same kind: their number, and the first of them. */
interface ViolationKind {
  count: number
  first: Promise<{ report: ViolationReport; former: string | undefined }>
}

class Watch {
  readonly account: WatchOptions['account']
  readonly name: string | undefined
  readonly seesOthers: boolean
  readonly permits: boolean
  #count = 0
  readonly #kinds = new Map<string, ViolationKind>()

  constructor({ account, name, seesOthers = true, permits = false }: WatchOptions) {
    this.account = account
    this.name = name
    this.seesOthers = seesOthers
    this.permits = permits
  }

  /** Records a violation. `former` names its sender if the watch of the sender was already over. */
  charge(violation: KnownViolation, former?: string): void {
    if (this.permits) return
    this.#count++
    const name = [violation.kind, former].join(' ')
    const kind = this.#kinds.get(name)
    if (kind !== undefined) kind.count++
    // The violation is explained at once, because the account may be gone later.
    else if (this.#kinds.size < DESCRIBED) {
      const first = violation.describe().then((report) => ({ report, former }))
      this.#kinds.set(name, { count: 1, first })
    }
  }

  /** `namesPages`: whether the message has the address of each request. @throws ViolationError */
  async judge(namesPages: boolean): Promise<void> {
    const count = this.#count
    if (count === 0) return
    const kinds = [...this.#kinds.values()]
    const firsts = await Promise.all(kinds.map(({ first }) => first))
    const isAnonymous = this.account === undefined
    const described = firsts.map(({ report, former }, index) =>
      writeViolation(report, kinds[index]?.count ?? 1, isAnonymous ? (former ?? null) : undefined, namesPages),
    )
    const more = kinds.reduce((left, kind) => left - kind.count, count)
    const what = count === 1 ? '1 request violates' : `${count} requests violate`
    const lines = [`${what} the contract.`, ...described, ...(more > 0 ? [`… and ${more} more.`] : [])]
    const reports = firsts.map(({ report }) => report)
    throw new ViolationError(lines.join('\n\n'), reports, count)
  }
}

/**
 * The text about violations of one kind, in a few lines. `sender` is the late sender of the first one, or null if the
 * sender is unknown.
 */
function writeViolation(
  report: ViolationReport,
  times: number,
  sender: string | null | undefined,
  namesPages: boolean,
): string {
  const { method, path, status, code, message, correction, operation, request_id, page } = report
  const answer = [status, code].filter((each) => each !== null).join(' ')
  const late =
    sender === null ? 'It is not known which test has sent it.' : `It came after the end of the test: ${sender}`
  const place = operation === null ? 'the paths' : operation
  return [
    `${method} ${path}${answer === '' ? '' : ` → ${answer}`}${times === 1 ? '' : `, ${times} times`}: ${message}`,
    ...(sender === undefined ? [] : [late]),
    ...(correction === null ? [] : [`Correct: ${correction}`]),
    `Read more: ${place} in dmarc-understudy/openapi.yaml, or understudy.explain('${request_id}') in the test.`,
    ...(namesPages && page !== null ? [`See it: ${page}`] : []),
  ].join('\n')
}

function hashOf(secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : hashKey(secret)
}
