import { FIXTURE_NAMES, loadFixture } from '../accounts/fixture.ts'
import type {
  AccountReport,
  ClockReport,
  DailyRecords,
  DomainReport,
  FaultReport,
  GroupReport,
  KeyReport,
  MonitoredDomainReport,
  OverviewReport,
  QuotaReport,
  SnapshotReport,
  StoryReport,
} from '../contract/control-plane.ts'
import type { Bucket, Open, Plan } from '../contract/names.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { ProfileName, RecordPin } from '../domain/dmarc.ts'
import type { Ending } from '../domain/endings.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { KnownFaultRule } from '../faults/kinds.ts'
import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { type CallArguments, readFields } from './arguments.ts'
import type { AccountScope, CallId, DataOf } from './control-client.ts'
import { ControlError, refuseArgument } from './control-error.ts'
import { type AccountRequests, openEvents, openRequests, type RequestEvents } from './requests.ts'

/** The properties of a new account. For all others, the options of the server apply. */
export interface AccountOptions {
  /** By default a free id. */
  id?: string
  plan?: Open<Plan>
  /** The name of a ready-made fixture, the path of a file, or a fixture. */
  fixture?: string | Fixture
  seed?: number
  /** RFC 3339. */
  now?: string
  frozen?: boolean
  apiKey?: string
}

/** The options that a reset may change. All others are as at the account's creation. */
export type ResetOptions = Pick<AccountOptions, 'fixture' | 'seed' | 'now' | 'frozen'>

/** An account with a known key, because it was created here. */
export type AccountWithKey = Account & { readonly apiKey: string }

/**
 * An account with its own state, keys, clock, quotas, faults and journal, which no other account sees. A method that
 * fails rejects with a `ControlError`, which describes the correct input. A method that reads a fixture from a file can
 * reject with a `FixtureError`.
 */
export class Account {
  readonly id: string
  /** The base URL for a client, with the version segment. */
  readonly baseUrl: string
  /** Its first key. It is unknown if the account was created elsewhere with its own key: only the hash is stored. */
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
    /** The time of the clock, in RFC 3339. */
    now: (): Promise<string> => this.#scope.askFor('now', 'getClock'),
    /** Advances the clock by `{ hours: 1 }` or by an ISO 8601 duration such as `PT1H`. */
    advance: async (span: Span | string): Promise<ClockReport> =>
      this.#scope.ask('updateClock', { body: { advance: typeof span === 'string' ? span : writeDuration(span) } }),
    /** Sets the clock to a later instant, in RFC 3339. */
    set: (now: string): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { now } }),
    /**
     * Advances the clock to just after the next ending: of a quota window with charged requests or of a key's grace
     * period. With `refresh`, it advances to the next daily refresh.
     */
    advanceTo: (to: Ending): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { to } }),
    /** Stops the clock. It can still be moved. */
    freeze: (): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { frozen: true } }),
    /** Starts the clock again from the time that it shows. */
    unfreeze: (): Promise<ClockReport> => this.#scope.ask('updateClock', { body: { frozen: false } }),
  }

  /** The fault rules. Only the first rule in order of creation that acts on a request has an effect. */
  readonly faults = {
    add: (rule: KnownFaultRule): Promise<FaultReport> => this.#scope.askFor('fault', 'addFault', { body: rule }),
    /**
     * Adds the rules of a set: `flaky`, `quota-storm`, `lossy-writes`, `slow`, or a set of this server. Resolves to the
     * added rules.
     */
    addSet: (set: string): Promise<FaultReport[]> =>
      this.#scope.askFor('faults', 'addFaultSet', { parameters: { set } }),
    /** The rules with their counts. */
    list: (): Promise<FaultReport[]> => this.#scope.list('listFaults', 'faults'),
    /** Removes the rule with this id. */
    remove: (fault: string): Promise<void> => this.#scope.tell('deleteFault', { parameters: { fault } }),
    /** Removes all rules. */
    clear: (): Promise<void> => this.#scope.tell('clearFaults'),
  }

  readonly keys = {
    /** The keys without their secrets. */
    list: (): Promise<KeyReport[]> => this.#scope.list('listKeys', 'keys'),
    /** A new key has a week of grace unless `created_at` makes it older. Only this response contains its secret. */
    create: (
      options: { label?: string; key?: string; created_at?: string } = {},
    ): Promise<{ key: KeyReport; api_key: string }> => this.#scope.ask('createKey', { body: options }),
    /** From now on, the key with this id is refused. */
    disable: (key: string): Promise<KeyReport> => this.#changeKey(key, true),
    enable: (key: string): Promise<KeyReport> => this.#changeKey(key, false),
    /** Deletes the key with this id. */
    delete: (key: string): Promise<void> => this.#scope.tell('deleteKey', { parameters: { key } }),
  }

  readonly quotas = {
    /** The rest of each quota of each key in the current window. */
    list: (): Promise<QuotaReport[]> => this.#scope.askFor('quotas', 'getQuotas'),
    /** Whether the service refuses requests over a quota. With `enforceQuotas: false`, it only counts them. */
    areEnforced: (): Promise<boolean> => this.#scope.askFor('enforced', 'getQuotas'),
    /** Sets the rest of a quota in the current window, for one key or for all keys. */
    set: (bucket: Bucket, remaining: number, key?: string): Promise<QuotaReport[]> =>
      this.#scope.askFor('quotas', 'updateQuota', { body: { bucket, remaining, ...(key !== undefined && { key }) } }),
  }

  /** Named copies of state, keys, clock, quotas and faults. */
  readonly snapshots = {
    /** With `replace`, it replaces a snapshot with the same name. */
    take: async (name: string, options: { replace?: boolean } = {}): Promise<SnapshotReport> => {
      return this.#scope.askFor('snapshot', 'takeSnapshot', { body: { name, ...readFields(options) } })
    },
    /** Restores the account and its clock. The journal stays. */
    restore: (snapshot: string): Promise<AccountReport> =>
      this.#askAccount('restoreSnapshot', { parameters: { snapshot } }),
    list: (): Promise<SnapshotReport[]> => this.#scope.list('listSnapshots', 'snapshots'),
    delete: (snapshot: string): Promise<void> => this.#scope.tell('deleteSnapshot', { parameters: { snapshot } }),
  }

  /** The settings and the size of the account. */
  read(): Promise<AccountReport> {
    return this.#askAccount('getAccount')
  }

  /** `below-stone`, `stone` or `above-stone`, unless an overlay has other plans. */
  setPlan(plan: Open<Plan>): Promise<AccountReport> {
    return this.#askAccount('updateAccount', { body: { plan } })
  }

  /** Resets the account to its creation, or to the given options. Its snapshots stay. */
  async reset(options: ResetOptions = {}): Promise<AccountReport> {
    return this.#askAccount('resetAccount', { body: await withFixture(options) })
  }

  /**
   * The account as a fixture, without the secrets of its keys. With `before`, it is the account just before the request
   * with this X-Request-Id.
   */
  async export(options: { before?: string } = {}): Promise<Fixture> {
    return this.#scope.ask('exportState', { query: options })
  }

  /**
   * Sets the account back to just before the request with this X-Request-Id, with its clock, keys, quotas and faults.
   * The journal stays. The oldest request of the journal is the furthest possible point.
   */
  rewind(requestId: string): Promise<AccountReport> {
    return this.#askAccount('rewindAccount', { body: { request_id: requestId } })
  }

  /** Replaces the account's state by a fixture. */
  async import(fixture: string | Fixture): Promise<AccountReport> {
    return this.#askAccount('importState', { body: await readFixture(fixture) })
  }

  /** The guided story of the account's original fixture, or of a fixture that was imported since. */
  scenes(): Promise<StoryReport> {
    return this.#scope.ask('listScenes')
  }

  /**
   * The records of GET /dmarc at each daily refresh from the day `from` to the day `to`, both included. Future records
   * assume that the domains do not change. Days have the form `2026-01-15`; at most 366 are possible. `domain` is one
   * domain or a list of up to 100; by default, all domains are listed.
   */
  async listDailyRecords(wanted: {
    from: string
    to: string
    domain?: string | readonly string[]
  }): Promise<DailyRecords[]> {
    const { domain, ...period } = readFields(wanted)
    const names = Array.isArray(domain) && domain.every((name) => typeof name === 'string') ? domain.join() : domain
    return this.#scope.askFor('days', 'listDailyRecords', { query: { ...period, domain: names } })
  }

  /**
   * The figures of all domains together at the newest refresh and at earlier ones, and the domains that need attention.
   * By default the last 90 refreshes; at most 366 are possible.
   */
  async overview(options: { days?: number } = {}): Promise<OverviewReport> {
    return this.#scope.ask('getOverview', { query: options })
  }

  /**
   * The account's requests from now on, as they are answered: `for await (const request of account.events())`. They end
   * when the loop is left, `signal` is aborted, or the server stops.
   */
  events(options: { signal?: AbortSignal } = {}): RequestEvents {
    return openEvents(this.#scope.client, this.id, options)
  }

  /** The parts of the contract that the account's requests have shown, with commands that would show the others. */
  coverage(): Promise<CoverageReport> {
    return this.#scope.ask('getCoverage')
  }

  /** Explains one response, by its X-Request-Id. */
  explain(requestId: string): Promise<ExplanationReport> {
    return this.#scope.client.call('explainRequest', { parameters: { 'request-id': requestId } })
  }

  /** Deletes the account. The `default` account cannot be deleted; reset it instead. */
  delete(): Promise<void> {
    return this.#scope.tell('deleteAccount')
  }

  /** `await using account = …` deletes the account at the end of the block, unless it is already deleted. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.delete()
    } catch (error) {
      if (!(error instanceof ControlError && ['not_found', 'stopped'].includes(error.code))) throw error
    }
  }

  #changeKey(key: string, disabled: boolean): Promise<KeyReport> {
    return this.#scope.askFor('key', 'updateKey', { parameters: { key }, body: { disabled } })
  }

  #askAccount(operationId: AccountCallId, request?: CallArguments): Promise<AccountReport> {
    return this.#scope.askFor('account', operationId, request)
  }
}

/** An operation that answers with the account. */
type AccountCallId = { [Id in CallId]: DataOf<Id> extends { account: AccountReport } ? Id : never }[CallId]

/**
 * The options with the contents of a fixture file in place of its path: the control plane reads no files.
 * @throws FixtureError
 */
export async function withFixture(options: { fixture?: string | Fixture }): Promise<Record<string, unknown>> {
  // JavaScript can pass any value. The control plane explains what is wrong with it.
  if (!isObject(options)) return options
  const fields = readFields(options)
  const { fixture } = fields
  if (typeof fixture !== 'string' || FIXTURE_NAMES.some((name) => name === fixture)) return fields
  return { ...fields, fixture: await readFixture(fixture) }
}

/** A fixture in the form that is sent, without the fields that loading has added. @throws FixtureError */
async function readFixture(fixture: string | Fixture): Promise<Fixture> {
  const { file: _, origin: __, ...document } = await loadFixture(fixture)
  return document
}

/** Hostnames, as separate arguments or as a list. */
type Names = readonly string[] | readonly [names: readonly string[]]

type AccountDomains = ReturnType<typeof openDomains>

/** Sets up an account's domains for a test. These calls cost no quota, meet no fault and are not in the journal. */
function openDomains(scope: AccountScope) {
  const change = (operation: 'addMonitoredDomains' | 'removeMonitoredDomains', names: Names): Promise<string[]> => {
    const [first] = names
    const domains = names.length === 1 && Array.isArray(first) ? first : names
    return scope.askFor('domains', operation, { body: { domains } })
  }
  return {
    /** The domains in the order of their addition, and the inputs of their figures. */
    list: (): Promise<MonitoredDomainReport[]> => scope.list('listMonitoredDomains', 'domains'),
    /**
     * Adds domains by the rules of POST /domains. Resolves to the added domains, with the names that the service uses.
     * A `ControlError` with the code `refused` contains the code of the service's refusal.
     */
    add: (...names: Names): Promise<string[]> => change('addMonitoredDomains', names),
    /** Removes domains by the rules of DELETE /domains, and removes them from their groups. */
    remove: (...names: Names): Promise<string[]> => change('removeMonitoredDomains', names),
    /** Sets the monitoring features that use a domain. While there are any, it cannot be removed. */
    setFeatures: (domain: string, features: readonly string[]): Promise<DomainReport> =>
      scope.ask('setFeatures', { parameters: { domain }, body: { features } }),
    /** Sets fields of a domain's DMARC record to fixed values, or chooses the domain's profile. */
    pin: (domain: string, fields: RecordPin & { profile?: ProfileName }): Promise<DomainReport> =>
      scope.ask('pinDmarc', { parameters: { domain }, body: fields }),
    /** Removes the fixed values and the chosen profile, so that the record follows the generated figures again. */
    unpin: (domain: string): Promise<DomainReport> => scope.ask('unpinDmarc', { parameters: { domain } }),
  }
}

/** A group to create. */
export interface NewGroup {
  name: string
  /** Its members, which must be monitored. None by default. */
  domains?: readonly string[]
}

/** The changes of a group: at least one field. `domains` cannot be combined with the other two lists. */
export interface GroupChange {
  name?: string
  /** The new list of all members. */
  domains?: readonly string[]
  add_domains?: readonly string[]
  remove_domains?: readonly string[]
}

type AccountGroups = ReturnType<typeof openGroups>

/**
 * Sets up an account's groups for a test, by the rules of the service. These calls cost no quota, meet no fault and are
 * not in the journal. A `ControlError` with the code `refused` contains the code of the service's refusal.
 */
function openGroups(scope: AccountScope) {
  return {
    /** In the order of their creation. */
    list: (): Promise<GroupReport[]> => scope.list('listGroups', 'groups'),
    /** Creates a group by the rules of POST /domaingroups. */
    create: (group: NewGroup): Promise<GroupReport> => scope.askFor('group', 'createGroup', { body: group }),
    /** Changes the group with this id by the rules of PATCH /domaingroups. */
    update: (group: string, change: GroupChange): Promise<GroupReport> =>
      scope.askFor('group', 'updateGroup', { parameters: { group }, body: change }),
    /** Deletes the group with this id. Its members stay monitored. */
    delete: (group: string): Promise<void> => scope.tell('deleteGroup', { parameters: { group } }),
  }
}

/** A length of time: the sum of its parts. */
export interface Span {
  weeks?: number
  days?: number
  hours?: number
  minutes?: number
  seconds?: number
}

const SECONDS = { weeks: 604_800, days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const

/** The ISO 8601 duration of a span, in whole seconds. @throws ControlError for anything else */
function writeDuration(span: Span): string {
  const parts = isObject(span) ? Object.entries(readFields(span)).filter(([, amount]) => amount !== undefined) : []
  const seconds = parts.map(([unit, amount]) => {
    const isUnit = Object.hasOwn(SECONDS, unit) && typeof amount === 'number' && amount >= 0
    return isUnit ? amount * SECONDS[unit as keyof Span] : Number.NaN
  })
  const total = seconds.reduce((sum, each) => sum + each, 0)
  // 0.1 hours are 360 seconds, but a clock shows no fraction of a second.
  const isWhole = Math.abs(total - Math.round(total)) < 1e-6 && Number.isSafeInteger(Math.round(total))
  if (parts.length > 0 && isWhole) return `PT${Math.round(total)}S`
  const units = Object.keys(SECONDS).join(', ')
  const form = `by an object such as { hours: 1 } with the units ${units}, or by a text such as PT1H`
  throw refuseArgument('/advance', `A clock advances by whole seconds, given ${form}, which ${show(span)} is not.`)
}
