import type { Control, ControlRequest } from '../admin/control.ts'
import { describeRefusal } from '../admin/refusal.ts'
import type { RecordPin } from '../domain/dmarc.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { CoverageReport } from '../journal/coverage/report.ts'
import { FIXTURE_NAMES, loadFixture } from '../seeding/fixture.ts'
import { ControlError } from './control-error.ts'
import { type Span, writeDuration } from './duration.ts'
import type {
  AccountReport,
  ClockReport,
  DomainReport,
  ExplanationReport,
  FaultReport,
  FaultRule,
  KeyReport,
  QuotaReport,
  RequestMatch,
  RequestReport,
  SnapshotReport,
  VerificationReport,
} from './reports.ts'

/** What a new account is to be like; the rest is as the server was started. */
export interface AccountOptions {
  /** By default one that is not taken. */
  id?: string
  plan?: string
  /** A ready-made fixture by name, a file by path, or a fixture as it is. */
  fixture?: string | Fixture
  seed?: number
  /** RFC 3339. */
  now?: string
  frozen?: boolean
  apiKey?: string
}

export type ResetOptions = Pick<AccountOptions, 'fixture' | 'seed' | 'now' | 'frozen'>

/** Which requests are listed. */
export interface RequestFilter {
  operation?: string
  method?: string
  /** Below the version segment, such as /domaingroups. */
  path?: string
  status?: number
  code?: string
  /** Whether the request, or its answer, violates the contract. */
  violation?: boolean
  /** Whether a fault or a simulation answered. */
  injected?: boolean
  /** How many of the newest are listed. */
  limit?: number
}

/** Calls one operation of the control plane, as a request over HTTP would. @throws ControlError */
export type Caller = <Data>(operationId: string, request?: ControlRequest) => Promise<Data>

export function createCaller(load: () => Promise<Control>): Caller {
  return async function call<Data>(operationId: string, request: ControlRequest = {}): Promise<Data> {
    const control = await load()
    const outcome = await control.perform(control.operation(operationId), request)
    if (outcome.ok) return outcome.data as Data
    const { error } = describeRefusal(control.api.catalogue, outcome.problems).body
    throw new ControlError(error.code, error.message, error.problems)
  }
}

/**
 * A world of its own: state, keys, clock, quotas, faults and journal that no other account sees. Every method rejects
 * with a `ControlError` that says what would be right.
 */
export class Account {
  readonly id: string
  /** What a client takes as its base URL, version segment included. */
  readonly baseUrl: string
  /** Its first key; unknown for one that was kept from before with a key of its own. */
  readonly apiKey: string | undefined
  readonly #call: Caller

  constructor(id: string, baseUrl: string, apiKey: string | undefined, call: Caller) {
    this.id = id
    this.baseUrl = baseUrl
    this.apiKey = apiKey
    this.#call = call
  }

  /** Header fields of a request with the account's key: `fetch(url, { headers: account.headers })`. */
  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey ?? ''}` }
  }

  readonly clock = {
    /** What it shows, as RFC 3339. */
    now: async (): Promise<string> => (await this.#ask<ClockReport>('getClock')).now,
    /** Moves it forward: `{ hours: 1 }`, or an ISO 8601 duration. */
    advance: async (span: Span | string): Promise<ClockReport> => {
      return this.#ask('updateClock', { body: { advance: typeof span === 'string' ? span : writeDuration(span) } })
    },
    /** Sets it to a later instant, RFC 3339. */
    set: (now: string): Promise<ClockReport> => this.#ask('updateClock', { body: { now } }),
    freeze: (): Promise<ClockReport> => this.#ask('updateClock', { body: { frozen: true } }),
    unfreeze: (): Promise<ClockReport> => this.#ask('updateClock', { body: { frozen: false } }),
  }

  readonly faults = {
    add: async (rule: FaultRule): Promise<FaultReport> => {
      return (await this.#ask<{ fault: FaultReport }>('addFault', { body: rule })).fault
    },
    /** Adds the rules of a set: `flaky`, `quota-storm`, `lossy-writes`, `slow`, or one of the server's own. */
    addSet: async (set: string): Promise<FaultReport[]> => {
      return (await this.#ask<{ faults: FaultReport[] }>('addFaultSet', { parameters: { set } })).faults
    },
    list: async (): Promise<FaultReport[]> => (await this.#ask<{ faults: FaultReport[] }>('listFaults')).faults,
    remove: async (fault: string): Promise<void> => void (await this.#ask('deleteFault', { parameters: { fault } })),
    clear: async (): Promise<void> => void (await this.#ask('clearFaults')),
  }

  readonly requests = {
    /** From the oldest to the newest. */
    list: async (filter: RequestFilter = {}): Promise<RequestReport[]> => {
      const given = Object.entries(filter).filter(([, value]) => value !== undefined)
      const query = Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
      return (await this.#ask<{ requests: RequestReport[] }>('listRequests', { query })).requests
    },
    /** Whether as many requests match as is said; without a number, whether any does. */
    verify: (
      match: RequestMatch,
      times: { count?: number; at_least?: number; at_most?: number } = {},
    ): Promise<VerificationReport> => this.#ask('verifyRequests', { body: { match, ...times } }),
    clear: async (): Promise<void> => void (await this.#ask('clearRequests')),
  }

  readonly keys = {
    list: async (): Promise<KeyReport[]> => (await this.#ask<{ keys: KeyReport[] }>('listKeys')).keys,
    /** A new key has a week of grace, unless `created_at` says that it is older. */
    create: (
      options: { label?: string; key?: string; created_at?: string } = {},
    ): Promise<{ key: KeyReport; api_key: string }> => this.#ask('createKey', { body: options }),
    disable: (key: string): Promise<KeyReport> => this.#changeKey(key, true),
    enable: (key: string): Promise<KeyReport> => this.#changeKey(key, false),
    delete: async (key: string): Promise<void> => void (await this.#ask('deleteKey', { parameters: { key } })),
  }

  readonly quotas = {
    list: async (): Promise<QuotaReport[]> => (await this.#ask<{ quotas: QuotaReport[] }>('getQuotas')).quotas,
    /** Sets what is left in the current window, of one key or of all. */
    set: async (
      bucket: 'dmarc' | 'domains' | 'domaingroups',
      remaining: number,
      key?: string,
    ): Promise<QuotaReport[]> => {
      const body = { bucket, remaining, ...(key !== undefined && { key }) }
      return (await this.#ask<{ quotas: QuotaReport[] }>('updateQuota', { body })).quotas
    },
  }

  readonly snapshots = {
    take: async (name: string, options: { replace?: boolean } = {}): Promise<SnapshotReport> => {
      return (await this.#ask<{ snapshot: SnapshotReport }>('takeSnapshot', { body: { name, ...options } })).snapshot
    },
    restore: (snapshot: string): Promise<AccountReport> => {
      return this.#askAccount('restoreSnapshot', { parameters: { snapshot } })
    },
    list: async (): Promise<SnapshotReport[]> => {
      return (await this.#ask<{ snapshots: SnapshotReport[] }>('listSnapshots')).snapshots
    },
    delete: async (snapshot: string): Promise<void> => {
      await this.#ask('deleteSnapshot', { parameters: { snapshot } })
    },
  }

  read(): Promise<AccountReport> {
    return this.#askAccount('getAccount')
  }

  setPlan(plan: string): Promise<AccountReport> {
    return this.#askAccount('updateAccount', { body: { plan } })
  }

  /** Back to the moment of its creation, or to another beginning. */
  async reset(options: ResetOptions = {}): Promise<AccountReport> {
    return this.#askAccount('resetAccount', { body: await withFixture(options) })
  }

  /** The account as a fixture. */
  export(): Promise<Fixture> {
    return this.#ask('exportState')
  }

  /** Puts a fixture in the place of the account's state. */
  async import(fixture: string | Fixture): Promise<AccountReport> {
    const { file: _, origin: __, ...document } = await loadFixture(fixture)
    return this.#askAccount('importState', { body: document })
  }

  /** Says which monitoring features use a domain, so that it cannot be removed; `[]` frees it. */
  setFeatures(domain: string, features: readonly string[]): Promise<DomainReport> {
    return this.#ask('setFeatures', { parameters: { domain }, body: { features } })
  }

  /** Fixes fields of a domain's DMARC record, or chooses its profile. */
  pin(domain: string, fields: RecordPin & { profile?: ProfileName }): Promise<DomainReport> {
    return this.#ask('pinDmarc', { parameters: { domain }, body: fields })
  }

  unpin(domain: string): Promise<DomainReport> {
    return this.#ask('unpinDmarc', { parameters: { domain } })
  }

  /** What of the contract its requests have shown, with commands that would show what is missing. */
  coverage(): Promise<CoverageReport> {
    return this.#ask('getCoverage')
  }

  /** Everything behind one answer, by its X-Request-Id. */
  explain(requestId: string): Promise<ExplanationReport> {
    return this.#call('explainRequest', { parameters: { 'request-id': requestId } })
  }

  async delete(): Promise<void> {
    await this.#ask('deleteAccount')
  }

  /** `await using account = …` deletes it at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete()
  }

  async #changeKey(key: string, disabled: boolean): Promise<KeyReport> {
    return (await this.#ask<{ key: KeyReport }>('updateKey', { parameters: { key }, body: { disabled } })).key
  }

  async #askAccount(operationId: string, request?: ControlRequest): Promise<AccountReport> {
    return (await this.#ask<{ account: AccountReport }>(operationId, request)).account
  }

  #ask<Data>(operationId: string, request: ControlRequest = {}): Promise<Data> {
    return this.#call(operationId, { ...request, parameters: { account: this.id, ...request.parameters } })
  }
}

/** The options as the control plane takes them, which reads no files. */
export async function withFixture<Options extends { fixture?: string | Fixture }>({ fixture, ...options }: Options) {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  if (fixture === undefined) return given
  if (typeof fixture !== 'string' || FIXTURE_NAMES.some((name) => name === fixture)) return { ...given, fixture }
  const { file: _, origin: __, ...document } = await loadFixture(fixture)
  return { ...given, fixture: document }
}
