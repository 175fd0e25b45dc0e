import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { writeQuery } from '../ground/target.ts'
import type { ReceivedRequest } from './conformity.ts'
import { judge } from './judge.ts'
import type { SampleAccount, ServiceContract } from './operation.ts'
import type { PlannedRequest } from './planned-request.ts'
import { freshDomains, freshName, removableDomains, someGroup, ungroupedDomains, unknownGroupId } from './samples.ts'

/** A sample that needs a domain in use adds this feature to a domain. */
const FEATURE = 'mta-sts'

/** Plans requests one after another, and applies them to a copy of an account. The account itself does not change. */
export class Rehearsal implements SampleAccount {
  readonly contract: ServiceContract
  /** Milliseconds on the account's clock, which does not advance during the rehearsal. */
  readonly now: number
  /** The requests in the order of sending. */
  readonly steps: PlannedRequest[] = []
  #state: AccountState
  #restoring: (() => void) | undefined
  readonly #spares: boolean

  /**
   * `spares`: whether the steps belong to a user, who must lose nothing by them. Then they remove only what they have
   * added.
   */
  constructor(
    contract: ServiceContract,
    account: AccountState,
    now = account.createdAt,
    { spares = false }: { spares?: boolean } = {},
  ) {
    this.contract = contract
    this.now = now
    this.#state = account
    this.#spares = spares
  }

  get state(): AccountState {
    return this.#state
  }

  /** Adds a request that changes nothing that a later request depends on. */
  plan(request: PlannedRequest): void {
    this.steps.push(request)
  }

  /** Adds requests that undo the changes that were made only for the last sample. */
  restore(): void {
    this.#restoring?.()
    this.#restoring = undefined
  }

  /** Adds a request to the control plane, with a path below that of the account. */
  administer(method: string, path: string, body?: unknown): void {
    const base = `/accounts/${encodeURIComponent(this.#state.id)}`
    this.plan({ plane: 'admin', method, path: base + path, ...(body !== undefined && { body }) })
  }

  monitored(count = 1): string[] {
    const wanted = Math.max(1, count)
    this.#add(wanted - this.#state.domains.size)
    return [...this.#state.domains.keys()].slice(0, wanted)
  }

  removable(count = 1): string[] {
    const { settings } = this.contract
    const wanted = Math.max(1, count)
    if (this.#spares) return this.#add(wanted)
    this.#add(wanted - removableDomains(this.#state, wanted, settings).length)
    return removableDomains(this.#state, wanted, settings)
  }

  unmonitored(count = 1): string[] {
    return freshDomains(this.#state, Math.max(1, count))
  }

  members(count = 1): string[] {
    const wanted = Math.max(1, count)
    if (this.contract.settings.sharedDomains === 'allowed') return this.monitored(wanted)
    const free = ungroupedDomains(this.#state, wanted)
    if (free.length < wanted) this.#add(wanted - free.length)
    return ungroupedDomains(this.#state, wanted)
  }

  usedDomain(): string {
    for (const { name, features } of this.#state.domains.values()) if (features.length > 0) return name
    const [name = ''] = this.monitored()
    this.#use(name, [FEATURE])
    this.#restoring = () => this.#use(name, [])
    return name
  }

  group(): DomainGroup {
    return someGroup(this.#state) ?? this.#createGroup([])
  }

  /** A group that the steps create. */
  ownGroup(): DomainGroup {
    return this.#createGroup([])
  }

  groupWithMember(): DomainGroup {
    for (const group of this.#state.groups.values()) if (group.domains.length > 0) return group
    return this.#createGroup(this.members())
  }

  groupBeside({ id }: DomainGroup): DomainGroup {
    for (const group of this.#state.groups.values()) if (group.id !== id) return group
    return this.#createGroup([])
  }

  unknownGroupId(): string {
    return unknownGroupId(this.#state, this.contract.groupIds)
  }

  /** A name that no group has: `base`, by default the contract's example, with a number if that is taken. */
  freshName(base?: string): string {
    const schemas = this.contract.document.resolved.components?.schemas ?? {}
    const { example, maxLength } = (schemas['DomainGroupName'] ?? {}) as { example?: unknown; maxLength?: number }
    return freshName(this.#state, base ?? String(example ?? 'Example'), this.contract.settings, maxLength)
  }

  fewest(operationId: string, field: string): number {
    return Math.max(1, this.#limitOf(operationId, field, 'minItems') ?? 1)
  }

  #limitOf(operationId: string, field: string, keyword: 'minItems' | 'maxItems'): number | undefined {
    const schema = valueAt(this.#operation(operationId).bodySchema, `/properties/${field}`)
    const limit = isObject(schema) ? schema[keyword] : undefined
    return typeof limit === 'number' ? limit : undefined
  }

  #operation(operationId: string): Operation {
    const operation = this.contract.operations.find(({ id }) => id === operationId)
    if (operation === undefined) throw new Error(`The contract has no operation ${operationId}.`)
    return operation
  }

  #use(name: string, features: readonly string[]): void {
    this.administer('PUT', `/domains/${encodeURIComponent(name)}/features`, { features })
    const domain = this.#state.domains.get(name)
    if (domain === undefined) throw new Error(`The account does not monitor ${name}.`)
    this.#state = { ...this.#state, domains: this.#state.domains.set(name, { ...domain, features }) }
  }

  #createGroup(domains: readonly string[]): DomainGroup {
    const name = this.freshName()
    const { group } = this.#send('createDomainGroup', domains.length === 0 ? { name } : { name, domains })
    return group as DomainGroup
  }

  /** Adds at least `count` domains. Returns `count` of them. */
  #add(count: number): string[] {
    const most = this.#limitOf('addDomains', 'domains', 'maxItems') ?? Number.POSITIVE_INFINITY
    const fewest = this.fewest('addDomains', 'domains')
    const added: string[] = []
    for (let left = count; left > 0; left -= most) {
      const domains = freshDomains(this.#state, Math.max(Math.min(left, most), fewest))
      this.#send('addDomains', { domains })
      added.push(...domains)
    }
    return added.slice(0, Math.max(0, count))
  }

  /** Plans a request that changes the account, and applies the change. Returns the `data` of its answer. */
  #send(operationId: string, body: Json | undefined, query: Readonly<Record<string, string>> = {}): Json {
    const operation = this.#operation(operationId)
    const request: ReceivedRequest = { operation, query, body: body && { ok: true, value: body } }
    const judgement = judge(request, this.#state, this.contract, this.now)
    if (!judgement.ok) throw new Error(`${operationId} refuses a sample: ${JSON.stringify(judgement.problems)}.`)
    const { method, path } = operation
    this.plan({
      plane: 'service',
      method,
      path: path + writeQuery(Object.entries(query)),
      ...(body !== undefined && { body }),
    })
    this.#state = judgement.state
    return judgement.value.source === undefined ? judgement.value.data : {}
  }
}
