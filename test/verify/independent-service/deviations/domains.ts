import { type Call, type Fields, textsIn } from '../parts.ts'
import { broken, dataWith, forgets, instead, successes, unexplained, violation } from './deviation.ts'

type Listed = { domains: string[] }

function addedAgain({ fields }: Call): Fields {
  const domains = textsIn(fields, 'domains')
  return { message: 'Added.', domains, count: domains.length }
}

/** What can be wrong with the list of domains. */
export const DOMAINS = {
  'Added domains are not kept.': broken('all-domains-listed', forgets('addDomains')),
  'GET /domains leaves out the last domain.': broken(
    'all-domains-listed',
    successes('GET /domains', ({ domains }: Listed) => ({ domains: domains.slice(0, -1) })),
  ),
  'count of an addition is one too many.': broken(
    'count-of-added',
    successes('POST /domains', (data: { count: number }) => ({ ...data, count: data.count + 1 })),
  ),
  '51 domains are accepted.': broken('at-most-50-domains', { mostDomains: 51 }),
  '50 domains are refused.': broken('at-most-50-domains', { mostDomains: 49 }),
  'A domain that is monitored is added and counted again.': broken(
    'no-duplicates',
    instead('addDomains', addedAgain, 'invalid_domain'),
  ),
  'An entry can be any text.': violation('/Domain/format', (right) => ({
    readHostname: (text) => right.readHostname(text) ?? text,
  })),
  'A domain in upper case is another domain.': unexplained((right) => ({
    readHostname: (text) => (right.readHostname(text) === undefined ? undefined : text),
  })),
  'Removed domains stay.': broken('all-domains-listed', forgets('deleteDomains')),
  'count of a removal is 0.': broken('deleted-domains-answered', dataWith('DELETE /domains', { count: 0 })),
  'A removed domain stays in its groups.': unexplained((right) => ({
    deleteDomains: (call) => {
      const before = call.account.groups.map(({ domains }) => domains)
      const data = right.deleteDomains(call)
      for (const [index, group] of call.account.groups.entries()) group.domains = before[index] ?? []
      return data
    },
  })),
}
