import { accept, refuse } from '../../domain/errors.ts'
import { unknownGroup } from '../../domain/groups.ts'
import type { OperationBehaviour } from '../operation.ts'

/** Source: GET /domaingroups, "An unknown id gives error `not_found`." */
export const listDomainGroups: OperationBehaviour = {
  decide({ query }, account) {
    const { groups } = account
    const id = query['id']
    if (id === undefined) {
      const make = () => ({ groups: [...groups.values()], count: groups.size })
      return accept(account, { source: groups, variant: 'groups', make })
    }
    const group = groups.get(id)
    if (group === undefined) return refuse(unknownGroup(id))
    return accept(account, { source: group, variant: 'group', make: () => ({ group }) })
  },
  accepted: [() => ({}), (account) => ({ query: { id: account.group().id } })],
  refused: [(account) => ({ query: { id: account.unknownGroupId() } })],
}
