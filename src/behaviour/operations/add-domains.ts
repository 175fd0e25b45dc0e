import type { MonitoredDomain } from '../../domain/account.ts'
import { addDomains as add } from '../../domain/domains.ts'
import { accept } from '../../domain/errors.ts'
import type { OperationBehaviour, ServiceContract } from '../operation.ts'
import { echoDomains, hostnamesIn, spellingsOf } from '../presentation.ts'
import { textsIn } from '../shown-data.ts'

/** Source: POST /domains, "`count` is the number of domains added." */
export const addDomains: OperationBehaviour = {
  decide({ body }, account, contract, now) {
    const { settings } = contract
    const sent = body['domains'] as string[]
    const names = hostnamesIn(body, 'domains', contract)
    const decision = add(account, names, now, settings, traitsFor(sent, names, contract))
    if (!decision.ok) return decision
    const { domains } = decision.value
    return accept(decision.state, {
      data: { domains: echoDomains(domains, sent, names, settings), count: domains.length },
    })
  },
  shows: (data) => ({ added: textsIn(data, 'domains') }),
  fields: {
    domains: { make: (account) => [account.unmonitored()] },
  },
  samples: [
    (account) => ({ body: { domains: [account.unmonitored()] } }),
    (account) => {
      const domain = account.unmonitored()
      return { body: { domains: [domain, domain] } }
    },
    (account) => ({ body: { domains: [account.monitored()] } }),
  ],
}

/** The special properties of each domain, and its sent spelling if lists return that spelling. */
function traitsFor(sent: readonly string[], names: readonly string[], { settings, traitsOf }: ServiceContract) {
  if (settings.spelling !== 'as-sent') return traitsOf
  const spellings = spellingsOf(sent, names)
  return (name: string): Partial<MonitoredDomain> => {
    const spelling = spellings.get(name) ?? name
    return spelling === name ? traitsOf(name) : { ...traitsOf(name), spelling }
  }
}
