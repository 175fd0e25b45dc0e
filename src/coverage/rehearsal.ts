import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { addDomains } from '../domain/domains.ts'
import { createGroup } from '../domain/groups.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { isObject, valueAt } from '../ground/json.ts'
import type { PlannedRequest } from './planned-request.ts'
import { freshDomains, freshName, removableDomains, someGroup } from './samples.ts'

/** Requests planned one after another, and what they make of the account: its state is never the account's own. */
export class Rehearsal {
  readonly contract: Contract
  readonly requests: PlannedRequest[]
  state: AccountState

  constructor(contract: Contract, account: AccountState, requests: readonly PlannedRequest[] = []) {
    this.contract = contract
    this.state = account
    this.requests = [...requests]
  }

  copy(): Rehearsal {
    return new Rehearsal(this.contract, this.state, this.requests)
  }

  /** Sees to it that the account may use the API. */
  allowAccess(): void {
    const { plans } = this.contract.settings
    if (!includesApiAccess(this.state.plan, plans)) this.changePlan(plans.lowest)
  }

  changePlan(plan: string): void {
    this.administer('PATCH', '', { plan })
    this.state = { ...this.state, plan }
  }

  administer(method: string, path: string, body?: unknown): void {
    const base = `/accounts/${encodeURIComponent(this.state.id)}`
    this.requests.push({ plane: 'admin', method, path: base + path, ...(body !== undefined && { body }) })
  }

  /** The first so many monitored domains; those that are lacking are added first. */
  monitored(count: number): string[] {
    this.#add(count - this.state.domains.size)
    return [...this.state.domains.keys()].slice(0, count)
  }

  /** So many domains that may be removed; those that are lacking are added first. */
  removable(count: number): string[] {
    const { settings } = this.contract
    this.#add(count - removableDomains(this.state, count, settings).length)
    return removableDomains(this.state, count, settings)
  }

  /** Some group; where there is none it is created first. */
  group(): DomainGroup {
    return someGroup(this.state) ?? this.createGroup([])
  }

  /** Some group with a member; where there is none it is created first. */
  groupWithMember(): DomainGroup {
    for (const group of this.state.groups.values()) if (group.domains.length > 0) return group
    return this.createGroup(this.monitored(1))
  }

  createGroup(domains: readonly string[]): DomainGroup {
    const { settings, groupIds } = this.contract
    const body = { name: freshName(this.state, 'Sample', settings), domains }
    const decision = createGroup(this.state, body, groupIds, settings)
    if (!decision.ok) throw new Error('A group of monitored domains with a fresh name is accepted.')
    this.#send('createDomainGroup', domains.length === 0 ? { name: body.name } : body)
    this.state = decision.state
    return decision.value
  }

  /** A domain that a monitoring feature uses; where there is none, one is put to use first, until `free`. */
  usedDomain(): { name: string; free?: () => void } {
    for (const { name, features } of this.state.domains.values()) if (features.length > 0) return { name }
    const [name = ''] = this.monitored(1)
    const use = (features: string[]) =>
      this.administer('PUT', `/domains/${encodeURIComponent(name)}/features`, { features })
    use(['mta-sts'])
    return { name, free: () => use([]) }
  }

  /** What the contract says about the number of domains in the body of an operation. */
  limitOf(operationId: string, keyword: 'minItems' | 'maxItems'): number | undefined {
    const schema = valueAt(this.#operation(operationId)?.bodySchema, '/properties/domains')
    const limit = isObject(schema) ? schema[keyword] : undefined
    return typeof limit === 'number' ? limit : undefined
  }

  #operation(operationId: string): Operation | undefined {
    return this.contract.operations.find(({ id }) => id === operationId)
  }

  #add(count: number): void {
    const { settings } = this.contract
    const most = this.limitOf('addDomains', 'maxItems') ?? Number.POSITIVE_INFINITY
    const atLeast = this.limitOf('addDomains', 'minItems') ?? 1
    for (let left = count; left > 0; left -= most) {
      const domains = freshDomains(this.state, Math.max(Math.min(left, most), atLeast))
      const decision = addDomains(this.state, domains, 0, settings)
      if (!decision.ok) throw new Error('Fresh domains are accepted.')
      this.#send('addDomains', { domains })
      this.state = decision.state
    }
  }

  #send(operationId: string, body: unknown): void {
    const operation = this.#operation(operationId)
    if (operation === undefined) throw new Error(`The contract has no operation ${operationId}.`)
    this.requests.push({ plane: 'service', method: operation.method, path: operation.path, body })
  }
}
