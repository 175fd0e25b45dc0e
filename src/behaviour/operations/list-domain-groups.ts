import { arrange } from '../../behaviour/presentation.ts'
import type { DomainGroup } from '../../domain/account.ts'
import { accept, refuse } from '../../domain/errors.ts'
import { comparedName, unknownGroup } from '../../domain/groups.ts'
import { isObject } from '../../ground/json.ts'
import type { OperationBehaviour } from '../operation.ts'
import { presentGroup } from '../presentation.ts'
import { groupIn, itemsOf, readGroup } from '../shown-data.ts'

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
