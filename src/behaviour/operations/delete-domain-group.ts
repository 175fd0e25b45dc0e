import { accept } from '../../domain/errors.ts'
import { deleteGroup } from '../../domain/groups.ts'
import type { OperationBehaviour } from '../operation.ts'

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
