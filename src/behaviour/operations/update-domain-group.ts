import { accept } from '../../domain/errors.ts'
import { type GroupChanges, updateGroup } from '../../domain/groups.ts'
import type { OperationBehaviour } from '../operation.ts'
import { hostnamesIn, presentGroup } from '../presentation.ts'
import { groupIn, readGroup } from '../shown-data.ts'
import { MEMBERS, NAME } from './create-domain-group.ts'

/** Source: PATCH /domaingroups, "additions are applied first, then removals." */
export const updateDomainGroup: OperationBehaviour = {
  decide({ query, body }, account, contract) {
    const changes: GroupChanges = {
      ...(body['name'] !== undefined && { name: String(body['name']) }),
      ...(body['domains'] !== undefined && { domains: hostnamesIn(body, 'domains', contract) }),
      ...(body['add_domains'] !== undefined && { addDomains: hostnamesIn(body, 'add_domains', contract) }),
      ...(body['remove_domains'] !== undefined && { removeDomains: hostnamesIn(body, 'remove_domains', contract) }),
    }
    const decision = updateGroup(account, query['id'] ?? '', changes, contract.settings)
    if (!decision.ok) return decision
    return accept(decision.state, { data: { group: presentGroup(decision.value, decision.state, contract.settings) } })
  },
  // The specification does not show the form of this response.
  shows: (data) => ({ group: groupIn(data) ?? readGroup(data) }),
  fields: {
    name: NAME,
    domains: MEMBERS,
    add_domains: MEMBERS,
    remove_domains: { ...MEMBERS, removes: true },
  },
  samples: [
    (account) => ({ query: { id: account.groupWithMember().id }, body: { name: account.freshName() } }),
    (account) => ({ query: { id: account.unknownGroupId() }, body: { name: account.freshName() } }),
    (account) => ({ query: { id: account.group().id }, body: { add_domains: [account.unmonitored()] } }),
    (account) => {
      const group = account.group()
      return { query: { id: group.id }, body: { name: account.groupBeside(group).name } }
    },
    (account) => {
      const domain = account.monitored()
      return { query: { id: account.group().id }, body: { add_domains: [domain, domain] } }
    },
  ],
}
