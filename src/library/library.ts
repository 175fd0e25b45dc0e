import type { ExchangeLog } from '../accounts/exchange-log.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Control } from '../admin/control.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountReport, FaultSetReport, VerdictReport } from '../contract/control-plane.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { RequestReport } from '../journal/description.ts'
import { Account, type AccountOptions, type AccountWithKey, withFixture } from './account.ts'
import { AccountScope, ControlClient, directTransport, type Transport } from './control-client.ts'
import { ControlError } from './control-error.ts'
import { type AllRequestsFilter, openEvents, type RequestEvents, readRequests, type Shows } from './requests.ts'
import { type ViolationSource, type ViolationWatch, ViolationWatches, type WatchOptions } from './violations.ts'

/**
 * The methods of a running stand-in. A method that fails rejects with a `ControlError` that describes correct input.
 */
export interface Library {
  /**
   * Key of the `default` account. It is unknown if a stored account was created with a key that was not given again.
   */
  readonly apiKey: string | undefined
  /** The `default` account. */
  readonly account: Account
  /** The requests of all accounts, and those without an account, such as a request with a wrong key. */
  readonly requests: { list(filter?: AllRequestsFilter): Promise<RequestReport[]> }
  /** These requests from now on, as they are answered. See `Account.events`. */
  events(options?: { signal?: AbortSignal }): RequestEvents
  /** Creates an account that shares nothing with others. Rejects with a `FixtureError` if a file cannot be used. */
  createAccount(options?: AccountOptions): Promise<AccountWithKey>
  /** The account with this id, such as `sandbox_checkout`. Rejects if there is none. */
  findAccount(id: string): Promise<Account>
  /** All accounts, including `default` and sandboxes, in the order of their creation. */
  listAccounts(): Promise<AccountReport[]>
  /** The sets of fault rules for `faults.addSet`. */
  listFaultSets(): Promise<FaultSetReport[]>
  /** Explains one response, by its X-Request-Id. */
  explain(requestId: string): Promise<ExplanationReport>
  /** The parts of the contract that the requests of all accounts have shown. */
  coverage(): Promise<CoverageReport>
  /**
   * Whether all clients have kept the contract since the start or since `clearVerdict`. It counts all accounts, and it
   * survives their reset and their deletion.
   */
  verdict(): Promise<VerdictReport>
  /**
   * Watches for violations from now on. If there was one, `end` of the watch rejects with a `ViolationError`. A reset
   * or a deletion of the account does not hide violations. `failOnViolation` of the test entry points uses this.
   */
  watchViolations(options?: WatchOptions): ViolationWatch
  /** Starts the verdict again with no request. */
  clearVerdict(): Promise<void>
}

/** How the library reaches a server, and what it shows of it. */
export interface LibraryParts {
  baseUrl: string
  client: ControlClient
  watches: ViolationWatches
  /** The accounts that the lists of the library show. */
  shows: Shows
}

/** `sees` tells the accounts whose violations a watch sees. */
export function partsOn(
  transport: Transport,
  { baseUrl, shows, ...source }: Pick<LibraryParts, 'baseUrl' | 'shows'> & Omit<ViolationSource, 'client'>,
): LibraryParts {
  const client = new ControlClient(transport)
  const watches = new ViolationWatches({ client, ...source })
  client.beforeClearing = () => watches.catchUp()
  return { baseUrl, client, watches, shows }
}

/** Creates an account. Rejects with a `FixtureError` if a file cannot be used. */
export async function createAccount(parts: LibraryParts, options: AccountOptions): Promise<AccountWithKey> {
  const body = await withFixture(options).then(inSnakeCase)
  const { account, api_key } = await parts.client.call('createAccount', { body }).catch(throwWithApiKey)
  return accountOf(parts, account.id, api_key) as AccountWithKey
}

function accountOf({ client, baseUrl }: LibraryParts, id: string, key?: string): Account {
  return new Account(new AccountScope(id, client), baseUrl, key)
}

/** The operations of the control plane as methods. `account` takes the place of the `default` account of the server. */
export function openLibrary(parts: LibraryParts, account: { id: string; apiKey: string | undefined }): Library {
  const { client, watches, shows } = parts
  const main = accountOf(parts, account.id, account.apiKey)
  return {
    apiKey: account.apiKey,
    account: main,
    requests: { list: (filter = {}) => readRequests(client, 'listAllRequests', filter, {}, shows) },
    events: (options = {}) => openEvents(client, undefined, options, shows),
    createAccount: async (options = {}) => createAccount(parts, options),
    async findAccount(id) {
      if (id === DEFAULT_ACCOUNT && main.id !== id) return main
      const { api_key } = await client.call('getAccount', { parameters: { account: id } })
      return accountOf(parts, id, id === main.id && main.apiKey !== undefined ? main.apiKey : (api_key ?? undefined))
    },
    async listAccounts() {
      const all = await client.list<AccountReport>('listAccounts', 'accounts')
      return all.filter(({ id }) => shows(id))
    },
    async listFaultSets() {
      return (await client.call('listFaultSets')).sets
    },
    explain: (requestId) => client.call('explainRequest', { parameters: { 'request-id': requestId } }),
    coverage: () => client.call('getOverallCoverage'),
    verdict: () => client.call('getVerdict'),
    watchViolations: (options = {}) => watches.open(options),
    clearVerdict: async () => void (await client.call('clearVerdict')),
  }
}

/** The parts of a server in the same process. */
export interface ServerParts {
  baseUrl: string
  apiKey: string | undefined
  exchanges: ExchangeLog
  contract: Contract
  stopping: AbortController
  /** Loads the control plane. */
  control: () => Promise<Control>
}

/** The library of a server in the same process. */
export function openDirectLibrary({ baseUrl, apiKey, exchanges, contract, stopping, control }: ServerParts): Library {
  const transport = directTransport(control, exchanges.journal, contract.catalogue, stopping.signal)
  const shows = () => true
  // The server ends with the process of the tests.
  return openLibrary(partsOn(transport, { baseUrl, shows, sees: shows, lasts: false }), { id: DEFAULT_ACCOUNT, apiKey })
}

function inSnakeCase(options: Record<string, unknown>): unknown {
  if (!Object.hasOwn(Object(options), 'apiKey')) return options
  const { apiKey, ...rest } = options
  return { ...rest, api_key: apiKey }
}

/** Throws the refusal with `apiKey`, the library's name for the option `api_key`. */
function throwWithApiKey(error: unknown): never {
  if (!(error instanceof ControlError)) throw error
  const rename = (text: string) => text.replaceAll('api_key', 'apiKey')
  const problems = error.problems.map(({ code, field, message }) => {
    return { code, field: field && rename(field), message: rename(message) }
  })
  throw new ControlError(error.code, rename(error.message), problems)
}
