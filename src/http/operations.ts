import type { Contract } from '../contract/contract.ts'
import type { Json } from '../contract/json.ts'
import type { AccountState } from '../domain/account.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { addDomains, deleteDomains } from '../domain/domains.ts'
import { type Decision, type Refusal, refuse } from '../domain/errors.ts'
import { createGroup, deleteGroup, type GroupChanges, unknownGroup, updateGroup } from '../domain/groups.ts'
import { simulatedTraits } from '../domain/simulator.ts'
import { dmarcRecords } from '../seeding/figures.ts'
import type { Store } from '../store/store.ts'
import type { Reading } from '../wire/reply.ts'
import type { Caller } from './gate.ts'

/** A request that obeys the contract, from a caller who may make it. */
export interface Call extends Caller {
  query: Record<string, string>
  body: Json
  contract: Contract
  store: Store
  /** Whether domains under understudy.test say how they want to be treated. */
  simulator: boolean
}

export interface Change {
  ok: true
  data: Json
}

export type Outcome = Reading | Change | Refusal

export type Behaviour = (call: Call) => Outcome | Promise<Outcome>

/** What each operation of the document does, by operationId. */
export const OPERATIONS: Readonly<Record<string, Behaviour>> = {
  listDmarc({ account, now, contract }) {
    const day = refreshDay(now, contract.settings.refresh)
    return reading(account.domains, `${account.seed} ${day}`, () => dmarcRecords(account, day, contract))
  },

  listDomains({ account }) {
    return reading(account.domains, 'domains', () => ({ domains: [...account.domains.keys()] }))
  },

  async addDomains(call) {
    const names = hostnames(call, 'domains')
    const decision = await change(call, (state) =>
      addDomains(state, names, call.now, call.contract.settings, call.simulator ? simulatedTraits : undefined),
    )
    return decision.ok ? counted(decision.value.domains) : decision
  },

  async deleteDomains(call) {
    const names = hostnames(call, 'domains')
    const decision = await change(call, (state) => deleteDomains(state, names, call.contract.settings))
    return decision.ok ? counted(decision.value.domains) : decision
  },

  listDomainGroups({ account, query }) {
    const id = query['id']
    if (id === undefined) {
      return reading(account.groups, 'groups', () => ({
        groups: [...account.groups.values()],
        count: account.groups.size,
      }))
    }
    const group = account.groups.get(id)
    return group === undefined ? refuse(unknownGroup(id)) : reading(group, 'group', () => ({ group }))
  },

  async createDomainGroup(call) {
    const { groupIds, settings } = call.contract
    const input = { name: String(call.body['name']), domains: hostnames(call, 'domains') }
    const decision = await change(call, (state) => createGroup(state, input, groupIds, settings))
    return decision.ok ? { ok: true, data: { group: decision.value } } : decision
  },

  async updateDomainGroup(call) {
    const { body, query, contract } = call
    const changes: GroupChanges = {
      ...(body['name'] !== undefined && { name: String(body['name']) }),
      ...(body['domains'] !== undefined && { domains: hostnames(call, 'domains') }),
      ...(body['add_domains'] !== undefined && { addDomains: hostnames(call, 'add_domains') }),
      ...(body['remove_domains'] !== undefined && { removeDomains: hostnames(call, 'remove_domains') }),
    }
    const decision = await change(call, (state) => updateGroup(state, query['id'] ?? '', changes, contract.settings))
    return decision.ok ? { ok: true, data: { group: decision.value } } : decision
  },

  async deleteDomainGroup(call) {
    const id = call.query['id'] ?? ''
    const decision = await change(call, (state) => deleteGroup(state, id, call.contract.settings))
    return decision.ok ? { ok: true, data: {} } : decision
  },
}

function reading(source: object, variant: string, make: () => unknown): Reading {
  return { ok: true, source, variant, make }
}

function change<Value>(
  { account, store }: Call,
  decide: (state: AccountState) => Decision<AccountState, Value>,
): Promise<Decision<AccountState, Value>> {
  return store.update(account.id, decide)
}

/** The hostnames of a field in canonical form; what is none, which only `remove_domains` may hold, stays as it is. */
function hostnames({ body, contract }: Call, field: string): string[] {
  const names = (body[field] ?? []) as string[]
  return names.map((name) => contract.canonicalHostname(name) ?? name)
}

function counted(domains: readonly string[]): Change {
  return { ok: true, data: { domains, count: domains.length } }
}
