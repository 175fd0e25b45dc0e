import { deleteDomains as remove } from '../../domain/domains.ts'
import { accept } from '../../domain/errors.ts'
import type { OperationBehaviour } from '../operation.ts'
import { echoDomains, hostnamesIn } from '../presentation.ts'
import { textsIn } from '../shown-data.ts'

/** Source: DELETE /domains, "a domain still actively used in certain monitoring features cannot be removed." */
export const deleteDomains: OperationBehaviour = {
  decide({ body }, account, contract) {
    const { settings } = contract
    const names = hostnamesIn(body, 'domains', contract)
    const decision = remove(account, names, settings)
    if (!decision.ok) return decision
    const { domains } = decision.value
    return accept(decision.state, {
      data: { domains: echoDomains(domains, body['domains'] as string[], names, settings), count: domains.length },
    })
  },
  shows: (data) => ({ removed: textsIn(data, 'domains') }),
  fields: {
    domains: { make: (account) => [account.removable()], removes: true },
  },
  samples: [
    (account) => ({ body: { domains: [account.removable()] } }),
    (account) => ({ body: { domains: [account.usedDomain()] } }),
    (account) => ({ body: { domains: [account.unmonitored()] } }),
    (account) => ({ body: { domains: account.groupWithMember().domains.slice(0, 1) } }),
    (account) => {
      const domain = account.removable()
      return { body: { domains: [domain, domain] } }
    },
  ],
}
