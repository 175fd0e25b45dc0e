import { accept } from '../../domain/errors.ts'
import { createGroup } from '../../domain/groups.ts'
import type { FieldSample, OperationBehaviour } from '../operation.ts'
import { hostnamesIn, presentGroup } from '../presentation.ts'
import { groupIn } from '../shown-data.ts'

/** The name of a group that is created or changed. */
export const NAME: FieldSample = {
  make: (account) => account.freshName(),
}

/** Domains that are to be members of a group. */
export const MEMBERS: FieldSample = {
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
