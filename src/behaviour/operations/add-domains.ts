import { addDomains as add } from '../../domain/domains.ts'
import { accept } from '../../domain/errors.ts'
import { hostnamesIn } from '../hostnames.ts'
import type { OperationBehaviour, SampleAccount } from '../operation.ts'

/** Source: POST /domains, "`count` is the number of domains added." */
export const addDomains: OperationBehaviour = {
  decide({ body }, account, contract, now) {
    const names = hostnamesIn(body, 'domains', contract)
    const decision = add(account, names, now, contract.settings, contract.traitsOf)
    if (!decision.ok) return decision
    const { domains } = decision.value
    return accept(decision.state, { data: { domains, count: domains.length } })
  },
  fields: {
    domains: {
      make: (account, size = fewest(account)) => account.unmonitored(size),
      because: 'a domain is needed that is not monitored yet',
    },
  },
  accepted: [(account) => ({ body: { domains: account.unmonitored(fewest(account)) } })],
  refused: [
    (account) => {
      const domains = account.unmonitored(fewest(account) - 1)
      return { body: { domains: [...domains, ...domains.slice(0, 1)] } }
    },
    (account) => ({ body: { domains: account.monitored(fewest(account)) } }),
  ],
}

function fewest(account: SampleAccount): number {
  return account.fewest('addDomains', 'domains')
}
