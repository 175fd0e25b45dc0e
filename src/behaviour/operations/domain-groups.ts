import type { DomainGroup } from '../../domain/account.ts'
import { accept, refuse } from '../../domain/errors.ts'
import {
  comparedName,
  createGroup,
  deleteGroup,
  type GroupChanges,
  unknownGroup,
  updateGroup,
} from '../../domain/groups.ts'
import { isObject } from '../../ground/json.ts'
import type { FieldSample, OperationBehaviour } from '../operation.ts'
import { arrange, groupIn, hostnamesIn, itemsOf, presentGroup, readGroup } from '../presentation.ts'

/** Source: GET /domaingroups, "An unknown id gives error `not_found`." */
export const listDomainGroups: OperationBehaviour = {
  decide({ query }, account, { settings }) {
    const { groups } = account
    const id = query['id']
    if (id === undefined) {
      const make = () => {
        const named = ({ name }: DomainGroup) => comparedName(name, settings.nameComparison)
        const listed = arrange([...groups.values()], settings.groupOrder, named)
        return { groups: listed.map((group) => presentGroup(group, account, settings)), count: groups.size }
      }
      return accept(account, { source: groups, variant: 'groups', make })
    }
    const group = groups.get(id)
    if (group === undefined) return refuse(unknownGroup(id))
    return accept(account, {
      source: group,
      variant: 'group',
      make: () => ({ group: presentGroup(group, account, settings) }),
    })
  },
  shows(data) {
    if (!isObject(data) || !('groups' in data)) return { group: groupIn(data) }
    return { lists: 'groups', groups: itemsOf(data['groups'], readGroup) }
  },
  samples: [() => ({}), (account) => ({ query: { id: account.unknownGroupId() } })],
}

/** The name of a group that is created or changed. */
const NAME: FieldSample = {
  make: (account) => account.freshName(),
}

/** Domains that are to be members of a group. */
const MEMBERS: FieldSample = {
  make: (account) => [account.member()],
}

/** Source: POST /domaingroups, "if any is not, the request fails and no group is created." */
export const createDomainGroup: OperationBehaviour = {
  decide({ body }, account, contract) {
    const input = { name: String(body['name']), domains: hostnamesIn(body, 'domains', contract) }
    const decision = createGroup(account, input, contract.groupIds, contract.settings)
    if (!decision.ok) return decision
    return accept(decision.state, { data: { group: presentGroup(decision.value, decision.state, contract.settings) } })
  },
  shows: (data) => ({ group: groupIn(data), isNew: true }),
  fields: { name: NAME, domains: MEMBERS },
  samples: [
    (account) => ({ body: { name: account.freshName(), domains: [account.member()] } }),
    (account) => ({ body: { name: account.freshName(), domains: [account.unmonitored()] } }),
    (account) => ({ body: { name: account.group().name } }),
    (account) => {
      const domain = account.monitored()
      return { body: { name: account.freshName(), domains: [domain, domain] } }
    },
  ],
}

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

/** Source: DELETE /domaingroups, "Only the grouping is removed; member domains stay monitored." */
export const deleteDomainGroup: OperationBehaviour = {
  decide({ query }, account, { settings }) {
    const decision = deleteGroup(account, query['id'] ?? '', settings)
    return decision.ok ? accept(decision.state, { data: {} }) : decision
  },
  shows: () => ({ isDeleted: true }),
  samples: [
    (account) => ({ query: { id: account.groupWithMember().id } }),
    (account) => ({ query: { id: account.unknownGroupId() } }),
  ],
}
