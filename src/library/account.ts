import { FIXTURE_NAMES, loadFixture } from '../accounts/fixture.ts'
import type { ControlRequest } from '../admin/control.ts'
import type {
  AccountReport,
  ClockReport,
  DomainReport,
  FaultReport,
  KeyReport,
  QuotaReport,
  SnapshotReport,
  VerificationReport,
} from '../admin/reports.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { RecordPin } from '../domain/dmarc.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import { isObject } from '../ground/json.ts'
import type { RequestReport } from '../journal/description.ts'
import type { RequestMatch } from '../journal/match.ts'
import type { ControlClient } from './control-client.ts'
import { ControlError } from './control-error.ts'
import { type Span, writeDuration } from './duration.ts'

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

/**
 * A world of its own: state, keys, clock, quotas, faults and journal that no other account sees. A method rejects with a
 * `ControlError` that says what would be right; those that read a fixture from a file, with a `FixtureError`.
 */
export class Account {
  readonly id: string
  /** What a client takes as its base URL, version segment included. */
  readonly baseUrl: string
  /** Its first key; unknown for one that was made elsewhere with a key of its own, of which only the hash is kept. */
  readonly apiKey: string | undefined
  readonly #client: ControlClient

  constructor(id: string, baseUrl: string, apiKey: string | undefined, client: ControlClient) {
    this.id = id
    this.baseUrl = baseUrl
    this.apiKey = apiKey
    this.#client = client
  }

  /** Header fields of a request with the account's key: `fetch(url, { headers: account.headers })`. */
  get headers(): { authorization: string } {
    if (this.apiKey === undefined) {
      throw new Error(`The key of the account ${this.id} is not known here; make another with keys.create().`)
    }
    return { authorization: `Bearer ${this.apiKey}` }
  }

  /** Its own time: quotas, grace periods and the daily refresh follow it. It never goes back, but by a snapshot. */
  readonly clock = {
    /** What it shows, in RFC 3339. */
    now: async (): Promise<string> => (await this.#ask<ClockReport>('getClock')).now,
    /** Moves it forward: `{ hours: 1 }`, or an ISO 8601 duration such as `PT1H`. */
    advance: async (span: Span | string): Promise<ClockReport> => {
      return this.#ask('updateClock', { body: { advance: typeof span === 'string' ? span : writeDuration(span) } })
    },
    /** Sets it to a later instant, in RFC 3339. */
    set: (now: string): Promise<ClockReport> => this.#ask('updateClock', { body: { now } }),
    /** Lets it stand still; it can be moved all the same. */
    freeze: (): Promise<ClockReport> => this.#ask('updateClock', { body: { frozen: true } }),
    /** Lets it go on from where it stands. */
    unfreeze: (): Promise<ClockReport> => this.#ask('updateClock', { body: { frozen: false } }),
  }

  /** What goes wrong. Of the rules in order of creation, the first that strikes a request acts on it. */
  readonly faults = {
    add: async (rule: FaultRule): Promise<FaultReport> => {
      return (await this.#ask<{ fault: FaultReport }>('addFault', { body: rule })).fault
    },
    /** Adds the rules of a set: `flaky`, `quota-storm`, `lossy-writes`, `slow`, or one of the server's own. */
    addSet: async (set: string): Promise<FaultReport[]> => {
      return (await this.#ask<{ faults: FaultReport[] }>('addFaultSet', { parameters: { set } })).faults
    },
    /** The rules, with how often each has struck. */
    list: async (): Promise<FaultReport[]> => (await this.#ask<{ faults: FaultReport[] }>('listFaults')).faults,
    /** Removes the rule of this id. */
    remove: async (fault: string): Promise<void> => void (await this.#ask('deleteFault', { parameters: { fault } })),
    /** Removes all rules. */
    clear: async (): Promise<void> => void (await this.#ask('clearFaults')),
  }

  /** What its clients asked, and what they were answered. */
  readonly requests = {
    /** From the oldest to the newest, as far back as the journal reaches. */
    list: async (filter: RequestFilter = {}): Promise<RequestReport[]> => {
      const query = queryOf(filter)
      return (await this.#ask<{ requests: RequestReport[] }>('listRequests', { query })).requests
    },
    /** Whether as many requests match as is said; without a number, whether any does. */
    verify: (
      match: RequestMatch,
      times: { count?: number; at_least?: number; at_most?: number } = {},
    ): Promise<VerificationReport> => this.#ask('verifyRequests', { body: { match, ...times } }),
    /** Forgets them. */
    clear: async (): Promise<void> => void (await this.#ask('clearRequests')),
  }

  readonly keys = {
    /** Without their secrets. */
    list: async (): Promise<KeyReport[]> => (await this.#ask<{ keys: KeyReport[] }>('listKeys')).keys,
    /** A new key has a week of grace, unless `created_at` says that it is older. Its secret is told this once. */
    create: (
      options: { label?: string; key?: string; created_at?: string } = {},
    ): Promise<{ key: KeyReport; api_key: string }> => this.#ask('createKey', { body: options }),
    /** The key of this id is refused from now on. */
    disable: (key: string): Promise<KeyReport> => this.#changeKey(key, true),
    enable: (key: string): Promise<KeyReport> => this.#changeKey(key, false),
    /** Forgets the key of this id. */
    delete: async (key: string): Promise<void> => void (await this.#ask('deleteKey', { parameters: { key } })),
  }

  readonly quotas = {
    /** What is left of each quota of each key in the current window. */
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

  /** Named copies of state, keys, clock, quotas and faults. */
  readonly snapshots = {
    /** With `replace`, in the place of one with the same name. */
    take: async (name: string, options: { replace?: boolean } = {}): Promise<SnapshotReport> => {
      return (await this.#ask<{ snapshot: SnapshotReport }>('takeSnapshot', { body: { name, ...options } })).snapshot
    },
    /** Back to how it was, the clock included; what the journal holds stays. */
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

  /** What there is of it, in numbers. */
  read(): Promise<AccountReport> {
    return this.#askAccount('getAccount')
  }

  /** `below-stone`, `stone` or `above-stone`, unless an overlay says otherwise. */
  setPlan(plan: string): Promise<AccountReport> {
    return this.#askAccount('updateAccount', { body: { plan } })
  }

  /** Back to the moment of its creation, or to another beginning; its snapshots stay. */
  async reset(options: ResetOptions = {}): Promise<AccountReport> {
    return this.#askAccount('resetAccount', { body: await withFixture(options) })
  }

  /** The account as a fixture, without the secrets of its keys. */
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

  /** Lets a domain's record follow its figures again. */
  unpin(domain: string): Promise<DomainReport> {
    return this.#ask('unpinDmarc', { parameters: { domain } })
  }

  /** What of the contract its requests have shown, with commands that would show what is missing. */
  coverage(): Promise<CoverageReport> {
    return this.#ask('getCoverage')
  }

  /** Everything behind one answer, by its X-Request-Id. */
  explain(requestId: string): Promise<ExplanationReport> {
    return this.#client.call('explainRequest', { parameters: { 'request-id': requestId } })
  }

  /** All of it, for good; the `default` account stays, reset it instead. */
  async delete(): Promise<void> {
    await this.#ask('deleteAccount')
  }

  /** `await using account = …` deletes it at the end of the block, unless it is gone already. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.delete()
    } catch (error) {
      if (!(error instanceof ControlError && ['not_found', 'stopped'].includes(error.code))) throw error
    }
  }

  async #changeKey(key: string, disabled: boolean): Promise<KeyReport> {
    return (await this.#ask<{ key: KeyReport }>('updateKey', { parameters: { key }, body: { disabled } })).key
  }

  async #askAccount(operationId: string, request?: ControlRequest): Promise<AccountReport> {
    return (await this.#ask<{ account: AccountReport }>(operationId, request)).account
  }

  #ask<Data>(operationId: string, request: ControlRequest = {}): Promise<Data> {
    return this.#client.call(operationId, { ...request, parameters: { account: this.id, ...request.parameters } })
  }
}

/** A filter as the query that the control plane takes. */
export function queryOf(filter: RequestFilter | null): Record<string, string> {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

/** The options as the control plane takes them, which reads no files. @throws FixtureError for a file */
export async function withFixture(options: { fixture?: string | Fixture }): Promise<Record<string, unknown>> {
  // Those who do not write TypeScript may give anything; the control plane says what is wrong with it.
  if (!isObject(options)) return options
  const { fixture } = options
  if (typeof fixture !== 'string' || FIXTURE_NAMES.some((name) => name === fixture)) return { ...options }
  const { file: _, origin: __, ...document } = await loadFixture(fixture)
  return { ...options, fixture: document }
}
