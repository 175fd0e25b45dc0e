import type { RequestReport } from '../journal/description.ts'
import { ControlError } from './control-error.ts'
import { readRequests } from './lists.ts'
import type { RemoteClient } from './remote-client.ts'
import type { KnownViolation, ViolationReport, ViolationSource } from './violations.ts'

/**
 * Reads the violations of accounts from their journals, on a server that is reached over HTTP. It tells of them when a
 * watch ends, or before a journal is cleared.
 */
export class RemoteViolations implements ViolationSource {
  readonly #client: RemoteClient
  readonly #accounts: () => Iterable<string>
  readonly #listeners = new Set<(violation: KnownViolation) => void>()
  /** The newest violation of each account that was told. */
  readonly #told = new Map<string, number>()

  readonly lasts: boolean

  /** `accounts` are those that exist and that are read. */
  constructor(client: RemoteClient, accounts: () => Iterable<string>, lasts: boolean) {
    this.#client = client
    this.lasts = lasts
    this.#accounts = accounts
  }

  subscribe(listener: (violation: KnownViolation) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async caughtUp(): Promise<void> {
    await Promise.all([...this.#accounts()].map((account) => this.#tell(account)))
  }

  /** The same for one account, before its journal is cleared. Nothing is read if nobody wants to know. */
  async catchUp(account: string): Promise<void> {
    if (this.#listeners.size > 0) await this.#tell(account)
  }

  async #tell(account: string): Promise<void> {
    const requests = await this.#read(account).catch((error) => {
      // Another program may have deleted the account.
      if (error instanceof ControlError && ['not_found', 'invalid_value'].includes(error.code)) return []
      throw error
    })
    const last = this.#told.get(account) ?? 0
    const fresh = requests.filter(({ ordinal, violates_contract }) => ordinal > last && violates_contract)
    this.#told.set(account, Math.max(last, ...fresh.map(({ ordinal }) => ordinal)))
    await Promise.all(fresh.map((request) => this.#tellOf(account, request)))
  }

  async #read(account: string): Promise<RequestReport[]> {
    return readRequests(this.#client, 'listRequests', { violation: true }, { account })
  }

  /** Resolves when the violation is explained, which needs the account. */
  async #tellOf(account: string, request: RequestReport): Promise<void> {
    const { method, path, problems } = request
    const kind = [method, path, problems[0]?.code, problems[0]?.field].join(' ')
    let described: Promise<ViolationReport> | undefined
    const describe = () => (described ??= this.#describe(request))
    for (const listener of this.#listeners) listener({ account, presented: undefined, kind, describe })
    await described
  }

  async #describe(request: RequestReport): Promise<ViolationReport> {
    const { describeExample } = await import('../admin/verdict.ts')
    return describeExample(
      await this.#client.call('explainRequest', { parameters: { 'request-id': request.request_id } }),
    )
  }
}
