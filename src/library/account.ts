import { FIXTURE_NAMES, loadFixture } from '../accounts/fixture.ts'
import type { ControlRequest } from '../admin/control.ts'
import type {
  AccountReport,
  ClockReport,
  DailyRecords,
  FaultReport,
  KeyReport,
  OverviewReport,
  QuotaReport,
  QuotasReport,
  SnapshotReport,
  StoryReport,
} from '../admin/reports.ts'
import type { Bucket, Open, Plan } from '../contract/names.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { Ending } from '../domain/endings.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { KnownFaultRule } from '../faults/kinds.ts'
import { isObject } from '../ground/json.ts'
import { type AccountDomains, openDomains } from './account-domains.ts'
import { type AccountGroups, openGroups } from './account-groups.ts'
import { type AccountRequests, openRequests } from './account-requests.ts'
import type { AccountScope } from './account-scope.ts'
import { joinNames, readFields, readParameters } from './arguments.ts'
import { ControlError } from './control-error.ts'
import { type Span, writeDuration } from './duration.ts'
import type { RequestEvents } from './request-feed.ts'

/** What a new account is like. For everything else, the options of the server hold. */
export interface AccountOptions {
  /** By default an id that is not taken. */
  id?: string
  plan?: Open<Plan>
  /** The name of a ready-made fixture, the path of a file, or a fixture. */
  fixture?: string | Fixture
  seed?: number
  /** RFC 3339. */
  now?: string
  frozen?: boolean
  apiKey?: string
  /**
   * The id of an account whose fixture, seed and plan it gets, in place of `fixture` and `seed`. Its clock may be before
   * the creation of that account: at each instant, the figures are those that it was created with.
   */
  like?: string
}

/** What a reset may change. Anything else is as at the account's creation. */
export type ResetOptions = Pick<AccountOptions, 'fixture' | 'seed' | 'now' | 'frozen'>

/** An account whose key is known, because it was created here. */
export type AccountWithKey = Account & { readonly apiKey: string }

/**
 * An account with its own state, keys, clock, quotas, faults and journal, which no other account sees. A method that
 * fails rejects with a `ControlError` that says what would be right. A method that reads a fixture from a file can
 * reject with a `FixtureError`.
 */
export class Account {
  readonly id: string
  /** The base URL for a client, with the version segment. */
  readonly baseUrl: string
  /**
   * Its first key. It is unknown if the account was created elsewhere with a key of its own: only the hash is stored.
   */
  readonly apiKey: string | undefined
  /** The requests of its clients with their responses. */
  readonly requests: AccountRequests
  /** Its monitored domains. */
  readonly domains: AccountDomains
  /** Its domain groups. */
  readonly groups: AccountGroups
  readonly #scope: AccountScope

  constructor(scope: AccountScope, baseUrl: string, apiKey: string | undefined) {
    this.id = scope.id
    this.baseUrl = baseUrl
    this.apiKey = apiKey
    this.requests = openRequests(scope)
    this.domains = openDomains(scope)
    this.groups = openGroups(scope)
    this.#scope = scope
  }

  /** The header fields with the account's key, for `fetch(url, { headers: account.headers })`. */
  get headers(): { authorization: string } {
    if (this.apiKey === undefined) {
      throw new Error(`The key of the account ${this.id} is not known here; create another one with keys.create().`)
    }
    return { authorization: `Bearer ${this.apiKey}` }
  }

  /**
   * The account's clock. Quotas, grace periods and the daily refresh follow it. Only a reset, a snapshot or a rewind
   * sets it back.
   */
  readonly clock = {
    /** The time that it shows, in RFC 3339. */
    now: async (): Promise<string> => (await this.#scope.ask<ClockReport>('getClock')).now,
    /** Moves it forward by `{ hours: 1 }` or by an ISO 8601 duration such as `PT1H`. */
    advance: async (span: Span | string): Promise<ClockReport> => {
      const parts = isObject(span) ? readFields(span) : span
      return this.#scope.ask('updateClock', {
        body: { advance: typeof parts === 'string' ? parts : writeDuration(parts) },
      })
    },
    /** Sets it to a later instant, in RFC 3339. */
    set: (now: string): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { now } }),
    /**
     * Moves it on to just after the next end of a quota window in which a request was charged, the next daily refresh, or
     * the next end of the grace period of a key.
     */
    advanceTo: (to: Ending): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { to } }),
    /** Stops it. It can still be moved. */
    freeze: (): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { frozen: true } }),
    /** Starts it again from the time that it shows. */
    unfreeze: (): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { frozen: false } }),
  }

  /** What goes wrong. The first rule in order of creation that acts on a request is the only one. */
  readonly faults = {
    add: async (rule: KnownFaultRule): Promise<FaultReport> => {
      return (await this.#scope.ask<{ fault: FaultReport }>('addFault', { body: rule })).fault
    },
    /**
     * Adds the rules of a set: `flaky`, `quota-storm`, `lossy-writes`, `slow`, or a set of this server. Resolves to the
     * rules that were added.
     */
    addSet: async (set: string): Promise<FaultReport[]> => {
      return (await this.#scope.ask<{ faults: FaultReport[] }>('addFaultSet', { parameters: { set } })).faults
    },
    /** The rules, with how often each has acted. */
    list: (): Promise<FaultReport[]> => this.#scope.list('listFaults', 'faults', ({ id }) => id),
    /** Removes the rule with this id. */
    remove: async (fault: string): Promise<void> =>
      void (await this.#scope.ask('deleteFault', { parameters: { fault } })),
    /** Removes all rules. */
    clear: async (): Promise<void> => void (await this.#scope.ask('clearFaults')),
  }

  readonly keys = {
    /** Without their secrets. */
    list: (): Promise<KeyReport[]> => this.#scope.list('listKeys', 'keys', ({ id }) => id),
    /** A new key has a week of grace unless `created_at` says that it is older. Its secret is in this response only. */
    create: (
      options: { label?: string; key?: string; created_at?: string } = {},
    ): Promise<{ key: KeyReport; api_key: string }> => this.#scope.ask('createKey', { body: options }),
    /** From now on, the key with this id is refused. */
    disable: (key: string): Promise<KeyReport> => this.#changeKey(key, true),
    enable: (key: string): Promise<KeyReport> => this.#changeKey(key, false),
    /** Deletes the key with this id. */
    delete: async (key: string): Promise<void> => void (await this.#scope.ask('deleteKey', { parameters: { key } })),
  }

  readonly quotas = {
    /** What is left of each quota of each key in the current window. */
    list: async (): Promise<QuotaReport[]> => (await this.#scope.ask<QuotasReport>('getQuotas')).quotas,
    /** Whether the service refuses requests beyond a quota; with `enforceQuotas: false`, it only counts them. */
    areEnforced: async (): Promise<boolean> => (await this.#scope.ask<QuotasReport>('getQuotas')).enforced,
    /** Sets what is left in the current window, for one key or for all keys. */
    set: async (bucket: Bucket, remaining: number, key?: string): Promise<QuotaReport[]> => {
      const body = { bucket, remaining, ...(key !== undefined && { key }) }
      return (await this.#scope.ask<QuotasReport>('updateQuota', { body })).quotas
    },
  }

  /** Named copies of state, keys, clock, quotas and faults. */
  readonly snapshots = {
    /** With `replace`, it replaces a snapshot of the same name. */
    take: async (name: string, options: { replace?: boolean } = {}): Promise<SnapshotReport> => {
      return (
        await this.#scope.ask<{ snapshot: SnapshotReport }>('takeSnapshot', { body: { name, ...readFields(options) } })
      ).snapshot
    },
    /** Restores the account, with its clock, as it was. The journal stays. */
    restore: (snapshot: string): Promise<AccountReport> => {
      return this.#askAccount('restoreSnapshot', { parameters: { snapshot } })
    },
    list: (): Promise<SnapshotReport[]> => this.#scope.list('listSnapshots', 'snapshots', ({ name }) => name),
    delete: async (snapshot: string): Promise<void> => {
      await this.#scope.ask('deleteSnapshot', { parameters: { snapshot } })
    },
  }

  /** Its settings and how much it holds. */
  read(): Promise<AccountReport> {
    return this.#askAccount('getAccount')
  }

  /** `below-stone`, `stone` or `above-stone`, unless an overlay has other plans. */
  setPlan(plan: Open<Plan>): Promise<AccountReport> {
    return this.#askAccount('updateAccount', { body: { plan } })
  }

  /** Sets it back to its creation, or to the options given. Its snapshots stay. */
  async reset(options: ResetOptions = {}): Promise<AccountReport> {
    return this.#askAccount('resetAccount', { body: await withFixture(options) })
  }

  /**
   * The account as a fixture, without the secrets of its keys; with `before`, as it was just before the request with
   * this X-Request-Id.
   */
  async export(options: { before?: string } = {}): Promise<Fixture> {
    return this.#scope.ask('exportState', { query: readParameters(options) })
  }

  /**
   * Sets it back to just before the request with this X-Request-Id, with its clock, keys, quotas and faults. The journal
   * stays; how far back it reaches is how far back this goes.
   */
  rewind(requestId: string): Promise<AccountReport> {
    return this.#askAccount('rewindAccount', { body: { request_id: requestId } })
  }

  /** Replaces the account's state by a fixture. */
  async import(fixture: string | Fixture): Promise<AccountReport> {
    return this.#askAccount('importState', { body: await readFixture(fixture) })
  }

  /** The guided story of the fixture that it was made of, or that was imported since. */
  scenes(): Promise<StoryReport> {
    return this.#scope.ask('listScenes')
  }

  /**
   * The records of GET /dmarc at each daily refresh from the day `from` to the day `to`, both included, as they were or
   * will be unless the domains change. Days are such as `2026-01-15`; there can be 366 of them. `domain` is one domain or
   * a list of up to 100; by default, all domains are listed.
   */
  async listDailyRecords(wanted: {
    from: string
    to: string
    domain?: string | readonly string[]
  }): Promise<DailyRecords[]> {
    const { domain, ...period } = readFields(wanted)
    const query = readParameters({ ...period, domain: joinNames('domain', domain) })
    return (await this.#scope.ask<{ days: DailyRecords[] }>('listDailyRecords', { query })).days
  }

  /**
   * The figures of all domains together at the newest refresh and at those before it, and which domains need attention.
   * By default, the last 90 refreshes; there can be 366.
   */
  async overview(options: { days?: number } = {}): Promise<OverviewReport> {
    return this.#scope.ask('getOverview', { query: readParameters(options) })
  }

  /**
   * Its requests from now on, as they are answered: `for await (const request of account.events())`. They end when the
   * loop is left, `signal` is aborted, or the server stops. A reader who is 1,000 requests or 16 MiB behind gets those,
   * and then a `ControlError` of the code `lost` that says how many are missing.
   */
  events(options: { signal?: AbortSignal } = {}): RequestEvents {
    return this.#scope.feed.open(this.id, options)
  }

  /** Which parts of the contract its requests have shown, with commands that would show the others. */
  coverage(): Promise<CoverageReport> {
    return this.#scope.ask('getCoverage')
  }

  /** Explains one response, by its X-Request-Id. */
  explain(requestId: string): Promise<ExplanationReport> {
    return this.#scope.client.call('explainRequest', { parameters: { 'request-id': requestId } })
  }

  /** Deletes it. The `default` account cannot be deleted; reset it instead. */
  async delete(): Promise<void> {
    await this.#scope.ask('deleteAccount')
  }

  /** `await using account = …` deletes it at the end of the block, unless it was deleted before. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.delete()
    } catch (error) {
      if (!(error instanceof ControlError && ['not_found', 'stopped'].includes(error.code))) throw error
    }
  }

  async #changeKey(key: string, disabled: boolean): Promise<KeyReport> {
    return (await this.#scope.ask<{ key: KeyReport }>('updateKey', { parameters: { key }, body: { disabled } })).key
  }

  async #askAccount(operationId: string, request?: ControlRequest): Promise<AccountReport> {
    return (await this.#scope.ask<{ account: AccountReport }>(operationId, request)).account
  }
}

/**
 * The options with the fixture of a file in place of its path: the control plane reads no files. @throws FixtureError
 */
export async function withFixture(options: { fixture?: string | Fixture }): Promise<Record<string, unknown>> {
  // JavaScript can pass any value. The control plane says what is wrong with it.
  if (!isObject(options)) return options
  const fields = readFields(options)
  const { fixture } = fields
  if (typeof fixture !== 'string' || FIXTURE_NAMES.some((name) => name === fixture)) return fields
  return { ...fields, fixture: await readFixture(fixture) }
}

/** A fixture as it is sent, without what was added when it was loaded. @throws FixtureError */
async function readFixture(fixture: string | Fixture): Promise<Fixture> {
  const { file: _, origin: __, ...document } = await loadFixture(fixture)
  return document
}
