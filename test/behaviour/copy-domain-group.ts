import { hostnamesIn } from '../../src/behaviour/hostnames.ts'
import type { OperationBehaviour } from '../../src/behaviour/operation.ts'
import { NAME } from '../../src/behaviour/operations/group-fields.ts'
import { accept, refuse } from '../../src/domain/errors.ts'
import { createGroup, unknownGroup } from '../../src/domain/groups.ts'

/** An operation that the service does not have. */
export const copyDomainGroup: OperationBehaviour = {
  decide({ query, body }, account, contract) {
    const { id = '' } = query
    const original = account.groups.get(id)
    if (original === undefined) return refuse(unknownGroup(id))
    const leftOut = new Set(hostnamesIn(body, 'leave_out', contract))
    const domains = original.domains.filter((name) => !leftOut.has(name))
    const copy = { name: String(body['name']), domains }
    const decision = createGroup(account, copy, contract.groupIds, contract.settings)
    return decision.ok ? accept(decision.state, { data: { group: decision.value } }) : decision
  },
  fields: {
    name: NAME,
    leave_out: { make: (account, size) => account.monitored(size), because: 'a member is needed' },
  },
  accepted: [
    (account) => ({ query: { id: account.groupWithMember().id }, body: { name: account.freshName() } }),
    (account) => {
      const { id, domains } = account.groupWithMember()
      return { query: { id }, body: { name: account.freshName(), leave_out: domains.slice(0, 1) } }
    },
  ],
  refused: [
    (account) => ({ query: { id: account.unknownGroupId() }, body: { name: account.freshName() } }),
    (account) => {
      const { id, name } = account.groupWithMember()
      return { query: { id }, body: { name } }
    },
  ],
}
