import type { MonitoredDomain } from '../../domain/account.ts'
import { addDomains as add, deleteDomains as remove } from '../../domain/domains.ts'
import { accept } from '../../domain/errors.ts'
import type { OperationBehaviour, ServiceContract } from '../operation.ts'
import { arrange, echoDomains, hostnamesIn, spellingOf, spellingsOf, textsIn } from '../presentation.ts'

/** Source: GET /domains, "all monitored domains of the account." */
export const listDomains: OperationBehaviour = {
  decide(_, account, { settings }) {
    const make = () => {
      const names = arrange(account.domains.keySeq().toArray(), settings.domainOrder, (name) => name)
      return {
        domains: settings.spelling === 'as-sent' ? names.map((name) => spellingOf(name, account, settings)) : names,
      }
    }
    return accept(account, { source: account.domains, variant: 'domains', make })
  },
  shows: (data) => ({ lists: 'domains', domains: textsIn(data, 'domains') }),
  samples: [() => ({})],
}

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
