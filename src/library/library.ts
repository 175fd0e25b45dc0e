import { DEFAULT_SEED } from '../accounts/creation.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Control } from '../admin/control.ts'
import type { AccountReport, FaultSetReport } from '../admin/reports.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import { deriveKey, hashKey } from '../ground/secrets.ts'
import type { RequestReport } from '../journal/description.ts'
import { Account, type AccountOptions, queryOf, type RequestFilter, withFixture } from './account.ts'
import { ControlClient } from './control-client.ts'
import { ControlError } from './control-error.ts'

/** What an Understudy offers beside being there. A method rejects with a `ControlError` that says what would be right. */
export interface Library {
  /** Key of the `default` account; unknown when a kept account was made with a key of its own and none is given now. */
  readonly apiKey: string | undefined
  /** The `default` account. */
  readonly account: Account
  /** The requests of all accounts, and those that belong to none, such as one with a wrong key. */
  readonly requests: { list(filter?: RequestFilter): Promise<RequestReport[]> }
  /** An account of its own, which no other sees. Rejects with a `FixtureError` for a file that cannot be used. */
  createAccount(options?: AccountOptions): Promise<Account>
  /** The account of this id, such as `sandbox_checkout`; rejects when there is none. */
  findAccount(id: string): Promise<Account>
  /** All accounts, `default` and sandboxes included. */
  listAccounts(): Promise<AccountReport[]>
  /** The sets of fault rules that `faults.addSet` takes. */
  listFaultSets(): Promise<FaultSetReport[]>
  /** Everything behind one answer, by its X-Request-Id. */
  explain(requestId: string): Promise<ExplanationReport>
  /** What of the contract the requests of all accounts have shown. */
  coverage(): Promise<CoverageReport>
}

/** The verbs of the control plane for those who import them. */
export function openLibrary(
  load: () => Promise<Control>,
  { baseUrl, apiKey, stopping }: { baseUrl: string; apiKey: string | undefined; stopping: AbortSignal },
): Library {
  const client = new ControlClient(load, stopping)
  const handle = (id: string, key?: string) => new Account(id, baseUrl, key, client)
  return {
    apiKey,
    account: handle(DEFAULT_ACCOUNT, apiKey),
    requests: {
      async list(filter = {}) {
        return (await client.call<{ requests: RequestReport[] }>('listAllRequests', { query: queryOf(filter) }))
          .requests
      },
    },
    async createAccount(options = {}) {
      const body = await withFixture(options).then(inSnakeCase)
      const created = client.call<{ account: AccountReport; api_key: string }>('createAccount', { body })
      const { account, api_key } = await created.catch(speakOfApiKey)
      return handle(account.id, api_key)
    },
    async findAccount(id) {
      await client.call('getAccount', { parameters: { account: id } })
      return handle(id, id === DEFAULT_ACCOUNT && apiKey !== undefined ? apiKey : await findKey(await load(), id))
    },
    async listAccounts() {
      return (await client.call<{ accounts: AccountReport[] }>('listAccounts')).accounts
    },
    async listFaultSets() {
      return (await client.call<{ sets: FaultSetReport[] }>('listFaultSets')).sets
    },
    explain: (requestId) => client.call('explainRequest', { parameters: { 'request-id': requestId } }),
    coverage: () => client.call('getOverallCoverage'),
  }
}

/** The secret of a key that an account holds, where it can be told from the account's name or seed. */
async function findKey({ deps: { store } }: Control, id: string): Promise<string | undefined> {
  const { seed, keys } = await store.read(id)
  const guesses = [id, deriveKey(seed, id), deriveKey(DEFAULT_SEED, id)]
  return guesses.find((guess) => keys.some(({ hash }) => hash === hashKey(guess)))
}

function inSnakeCase(options: Record<string, unknown>): unknown {
  if (!Object.hasOwn(Object(options), 'apiKey')) return options
  const { apiKey, ...rest } = options
  return { ...rest, api_key: apiKey }
}

/** The refusal in the words of the library, where the control plane has another name for an option. */
function speakOfApiKey(error: unknown): never {
  if (!(error instanceof ControlError)) throw error
  const speak = (text: string) => text.replaceAll('api_key', 'apiKey')
  const problems = error.problems.map(({ code, field, message }) => {
    return { code, field: field && speak(field), message: speak(message) }
  })
  throw new ControlError(error.code, speak(error.message), problems)
}
