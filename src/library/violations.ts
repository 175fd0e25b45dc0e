import type { VerdictReport } from '../contract/control-plane.ts'
import { nextTurn } from '../ground/timers.ts'
import type { RequestReport } from '../journal/description.ts'
import type { ControlClient } from './control-client.ts'
import { ControlError } from './control-error.ts'
import { readRequests } from './requests.ts'

/** A request that violates the contract, with a request that would be accepted. */
export type ViolationReport = VerdictReport['violations']['first'][number]

/** The number of accounts that are remembered after their watch. */
const FORMER = 1_000

/** The maximum number of kinds of violations that an error describes. The others are counted. */
export const DESCRIBED = 3
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

/** How the requests are read in which a watch looks for violations. */
export interface ViolationSource {
  client: ControlClient
  /** Whether it sees the violations of an account, or with `null`, those of no account. */
  sees(accountId: string | null): boolean
  /** Whether the server goes on after the tests, so that the address of a request can still be opened. */
  lasts: boolean
}

/** What a watch is for, and what it has seen. */
interface Watch extends Omit<WatchOptions, 'account'> {
  /** The id of its account. */
  account: string | undefined
  /** The ordinal of the last request before it. */
  since: number
  count: number
  /** The violations of each kind: their number, and the first of them. */
  kinds: Map<string, { count: number; first: ViolationReport }>
}

/** Reads the violations from the journal, and assigns each of them to a watch. */
export class ViolationWatches {
  readonly #source: ViolationSource
  readonly #open = new Set<Watch>()
  /** The accounts of former watches. A late request of theirs is charged to no other watch. The oldest are dropped. */
  readonly #former = new Set<string>()
  /** The ordinal of the newest violation that was read. */
  #read = 0
  #reading: Promise<void> = Promise.resolve()

  constructor(source: ViolationSource) {
    this.#source = source
  }

  open({ account, ...options }: WatchOptions): ViolationWatch {
    const since = this.#source.client.transport.newest
    const watch: Watch = { ...options, account: account?.id, since, count: 0, kinds: new Map() }
    this.#open.add(watch)
    let ended: Promise<void> | undefined
    return { end: () => (ended ??= this.#end(watch)) }
  }

  /** Reads the violations so far, before something clears a journal. Nothing is read if nobody wants to know. */
  async catchUp(): Promise<void> {
    if ([...this.#open].every(({ permits }) => permits)) return
    this.#reading = this.#reading.catch(() => {}).then(() => this.#readAll())
    await this.#reading
  }

  async #end(watch: Watch): Promise<void> {
    // A client that did not wait for its response may have sent more requests than the server has read.
    for (let pass = 0; pass < PASSES; pass++) await nextTurn()
    try {
      await this.catchUp()
    } finally {
      this.#open.delete(watch)
    }
    const { account, name = account, permits } = watch
    if (account !== undefined) {
      this.#former.add(account)
      const [oldest = ''] = this.#former
      if (this.#former.size > FORMER) this.#former.delete(oldest)
      if (!permits) await this.#warnOfLosses(account, `${name}`)
    }
    if (watch.count > 0) throw errorOf(watch, this.#source.lasts)
  }

  async #readAll(): Promise<void> {
    const { client, sees } = this.#source
    const requests = await readRequests(client, 'listAllRequests', { violation: true })
    for (const request of requests) {
      if (request.ordinal <= this.#read) continue
      this.#read = request.ordinal
      if (sees(request.account)) await this.#assign(request)
    }
  }

  /** Charges a violation to a watch: to that of its account; to the only one of an account; or to that of the rest. */
  async #assign(request: RequestReport): Promise<void> {
    const watches = [...this.#open].filter(({ since }) => since < request.ordinal)
    const rest = watches.find(({ account }) => account === undefined)
    const known = watches.find(({ account }) => account !== undefined && account === request.account)
    const isLate = request.account !== null && this.#former.has(request.account)
    const [only, ...others] = watches.filter(({ account }) => account !== undefined)
    const isAlone = !isLate && others.length === 0 && only !== undefined && only.seesOthers !== false
    const watch = known ?? (isAlone ? only : rest)
    if (watch === undefined || watch.permits) return
    watch.count++
    const { method, path, problems } = request
    const name = [method, path, problems[0]?.code, problems[0]?.field].join(' ')
    const kind = watch.kinds.get(name)
    // The first one of each kind is described at once, because the account may be gone later.
    if (kind !== undefined) kind.count++
    else if (watch.kinds.size < DESCRIBED) watch.kinds.set(name, { count: 1, first: await this.#describe(request) })
  }

  /** The account of the request may be gone. */
  async #describe(request: RequestReport): Promise<ViolationReport> {
    const { id, request_id, account, operation, method, path, status, code, problems } = request
    try {
      const explained = await this.#source.client.call('explainRequest', { parameters: { 'request-id': id } })
      const { describeExample } = await import('../journal/verdict-report.ts')
      return describeExample(explained)
    } catch (error) {
      if (!(error instanceof ControlError)) throw error
      const message = problems[0]?.message ?? error.message
      return { id, request_id, account, operation, method, path, status, code, message, correction: null, page: null }
    }
  }

  /** The journal drops the oldest requests of an account that has too many. */
  async #warnOfLosses(account: string, name: string): Promise<void> {
    const { client } = this.#source
    const limit = client.transport.journalLimit
    const listed = client.call('listRequests', { parameters: { account }, query: { limit: 1 } })
    const { count } = await listed.catch(() => ({ count: 0 }))
    if (count < limit) return
    process.emitWarning(
      `The journal keeps ${limit} requests of an account, so it may have dropped violations of: ${name}.`,
    )
  }
}

/** `namesPages`: whether the message has the address of each request. */
function errorOf({ account, count, kinds: found }: Watch, namesPages: boolean): ViolationError {
  const kinds = [...found.values()]
  const described = kinds.map(({ count, first }) => {
    const { method, path, status, code, message, correction, operation, request_id, page } = first
    const answer = [status, code].filter((each) => each !== null).join(' ')
    return [
      `${method} ${path}${answer === '' ? '' : ` → ${answer}`}${count === 1 ? '' : `, ${count} times`}: ${message}`,
      ...(account === undefined ? ['It is not known which test has sent it.'] : []),
      ...(correction === null ? [] : [`Correct: ${correction}`]),
      `Read more: ${operation ?? 'the paths'} in dmarc-understudy/openapi.yaml, or understudy.explain('${request_id}') in the test.`,
      ...(namesPages && page !== null ? [`See it: ${page}`] : []),
    ].join('\n')
  })
  const more = kinds.reduce((left, kind) => left - kind.count, count)
  const what = count === 1 ? '1 request violates' : `${count} requests violate`
  return new ViolationError(
    [`${what} the contract.`, ...described, ...(more > 0 ? [`… and ${more} more.`] : [])].join('\n\n'),
    kinds.map(({ first }) => first),
    count,
  )
}
