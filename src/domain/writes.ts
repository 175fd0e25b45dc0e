import type { AccountState, MonitoredDomain } from './account.ts'
import { addDomains, deleteDomains } from './domains.ts'
import { accept, type Decision } from './errors.ts'
import { createGroup, deleteGroup, type GroupChanges, type IdFormat, updateGroup } from './groups.ts'
import type { Settings } from './settings.ts'

/** What an operation that writes is asked for: query and body obey the contract. */
export interface Write {
  query: Readonly<Record<string, string>>
  body: Readonly<Record<string, unknown>>
  /** Milliseconds since the Unix epoch, on the account's clock. */
  now: number
  /** What is special about a domain from its beginning. */
  traits?: ((name: string) => Partial<MonitoredDomain>) | undefined
}

/** What of a contract decides about writes. */
export interface WriteRules {
  settings: Settings
  groupIds: IdFormat
  /** `undefined` for what is no hostname. */
  canonicalHostname(name: string): string | undefined
}

/** The answer's `data`, once the change is made. */
export type WriteDecision = Decision<AccountState, Record<string, unknown>>

/** What each operation that changes an account decides, by operationId. */
export const WRITES: Readonly<Record<string, (write: Write, state: AccountState, rules: WriteRules) => WriteDecision>> =
  {
    addDomains(write, state, rules) {
      const decision = addDomains(state, hostnames(write, 'domains', rules), write.now, rules.settings, write.traits)
      return answering(decision, ({ domains }) => ({ domains, count: domains.length }))
    },

    deleteDomains(write, state, rules) {
      const decision = deleteDomains(state, hostnames(write, 'domains', rules), rules.settings)
      return answering(decision, ({ domains }) => ({ domains, count: domains.length }))
    },

    createDomainGroup(write, state, rules) {
      const input = { name: String(write.body['name']), domains: hostnames(write, 'domains', rules) }
      return answering(createGroup(state, input, rules.groupIds, rules.settings), (group) => ({ group }))
    },

    updateDomainGroup(write, state, rules) {
      const { body, query } = write
      const changes: GroupChanges = {
        ...(body['name'] !== undefined && { name: String(body['name']) }),
        ...(body['domains'] !== undefined && { domains: hostnames(write, 'domains', rules) }),
        ...(body['add_domains'] !== undefined && { addDomains: hostnames(write, 'add_domains', rules) }),
        ...(body['remove_domains'] !== undefined && { removeDomains: hostnames(write, 'remove_domains', rules) }),
      }
      return answering(updateGroup(state, query['id'] ?? '', changes, rules.settings), (group) => ({ group }))
    },

    deleteDomainGroup({ query }, state, { settings }) {
      return answering(deleteGroup(state, query['id'] ?? '', settings), () => ({}))
    },
  }

/** The hostnames of a field in canonical form; what is none, which only `remove_domains` may hold, stays as it is. */
function hostnames({ body }: Write, field: string, { canonicalHostname }: WriteRules): string[] {
  const names = (body[field] ?? []) as string[]
  return names.map((name) => canonicalHostname(name) ?? name)
}

function answering<Value>(
  decision: Decision<AccountState, Value>,
  data: (value: Value) => Record<string, unknown>,
): WriteDecision {
  return decision.ok ? accept(decision.state, data(decision.value)) : decision
}
