import { type Fields, Refusal, textsIn } from '../parts.ts'
import {
  broken,
  type Deviation,
  forgets,
  instead,
  operation,
  permitted,
  successes,
  unexplained,
  violation,
} from './deviation.ts'

/** What can be wrong with the list of domains. */
export const DOMAINS: readonly Deviation[] = [
  {
    id: 'lost-domains',
    says: 'Added domains are not kept.',
    ...broken('all-domains-listed', 'write and read'),
    change: operation('addDomains', forgets),
  },
  {
    id: 'first-only',
    says: 'Only the first of several domains is kept.',
    ...broken('all-domains-listed', 'write and read'),
    change: operation('addDomains', (right, call) => {
      const data = right(call)
      for (const domain of (data['domains'] as string[]).slice(1)) call.account.domains.delete(domain)
      return data
    }),
  },
  {
    id: 'doubled-domains',
    says: 'GET /domains lists the last domain twice.',
    ...violation('/schemas/Domains', 'read'),
    change: successes(
      ({ domains }: { domains: string[] }) => ({ domains: [...domains, ...domains.slice(-1)] }),
      'GET /domains',
    ),
  },
  {
    id: 'incomplete-list',
    says: 'GET /domains leaves out the last domain.',
    ...broken('all-domains-listed', 'write and read'),
    change: successes(({ domains }: { domains: string[] }) => ({ domains: domains.slice(0, -1) }), 'GET /domains'),
  },
  {
    id: 'foreign-domain',
    says: 'GET /domains lists a domain that nobody added.',
    ...broken('all-domains-listed', 'write and read'),
    change: (parts) => {
      let added = 0
      const right = parts.addDomains.bind(parts)
      parts.addDomains = (call) => {
        added++
        const data = right(call)
        call.account.domains.set(`nobody-${added}.example`, call.now)
        return data
      }
    },
  },
  {
    id: 'bare-domains',
    says: 'data of GET /domains is the array itself.',
    ...violation('', 'read'),
    change: successes(({ domains }: Fields) => domains, 'GET /domains'),
  },
  {
    id: 'domains-as-objects',
    says: 'GET /domains lists objects.',
    ...violation('/schemas/Domain', 'read'),
    change: successes(
      ({ domains }: { domains: string[] }) => ({ domains: domains.map((name) => ({ name })) }),
      'GET /domains',
    ),
  },
  {
    id: 'wrong-count',
    says: 'count of an addition is one too many.',
    ...broken('count-of-added', 'write'),
    change: successes(({ count, ...data }: { count: number }) => ({ ...data, count: count + 1 }), 'POST /domains'),
  },
  {
    id: 'count-of-all',
    says: 'count of an addition is that of all domains.',
    ...broken('count-of-added', 'write'),
    change: operation('addDomains', (right, call) => ({ ...right(call), count: call.account.domains.size })),
  },
  {
    id: 'count-as-text',
    says: 'count of an addition is text.',
    ...violation('/count', 'write'),
    change: successes(({ count, ...data }: Fields) => ({ ...data, count: `${count}` }), 'POST /domains'),
  },
  {
    id: 'no-message',
    says: 'An addition has no message.',
    ...violation('/schemas/', 'write'),
    change: successes(({ message: _, ...data }: Fields) => data, 'POST /domains'),
  },
  {
    id: 'other-domains-answered',
    says: 'An addition names another domain.',
    ...broken('count-of-added', 'write'),
    change: successes((data: Fields) => ({ ...data, domains: ['other.example'], count: 1 }), 'POST /domains'),
  },
  {
    id: 'fifty-one',
    says: '51 domains are accepted.',
    ...broken('at-most-50-domains', 'write'),
    change: (parts) => {
      parts.mostDomains = 51
    },
  },
  {
    id: 'forty-nine',
    says: '50 domains are refused.',
    ...broken('at-most-50-domains', 'write'),
    change: (parts) => {
      parts.mostDomains = 49
    },
  },
  {
    id: 'monitored-again',
    says: 'A domain that is monitored is added and counted again.',
    ...broken('no-duplicates', 'write'),
    change: operation(
      'addDomains',
      instead('invalid_domain', ({ fields }) => ({
        message: 'Added.',
        domains: textsIn(fields, 'domains'),
        count: textsIn(fields, 'domains').length,
      })),
    ),
  },
  {
    id: 'monitored-skipped',
    says: 'A domain that is monitored is left out.',
    ...permitted('already-monitored', 1, 'write'),
    change: operation('addDomains', (right, call) => {
      const fresh = textsIn(call.fields, 'domains').filter((domain) => !call.account.domains.has(domain))
      return right({ ...call, fields: { domains: fresh } })
    }),
  },
  {
    id: 'any-hostname',
    says: 'An entry can be any text.',
    ...violation('/Domain/format', 'write'),
    change: (parts) => {
      const right = parts.readHostname.bind(parts)
      parts.readHostname = (text) => right(text) ?? text
    },
  },
  {
    id: 'underscores',
    says: 'A hostname can have underscores.',
    ...permitted('underscores', 1, 'write'),
    change: (parts) => {
      const right = parts.readHostname.bind(parts)
      parts.readHostname = (text) =>
        right(text.replaceAll('_', 'u')) === undefined
          ? undefined
          : text.includes('_')
            ? text.toLowerCase()
            : right(text)
    },
  },
  {
    id: 'case-matters-in-domains',
    says: 'A domain in upper case is another domain.',
    ...unexplained('write'),
    change: (parts) => {
      const right = parts.readHostname.bind(parts)
      parts.readHostname = (text) => (right(text) === undefined ? undefined : text)
    },
  },
  {
    id: 'kept-domains',
    says: 'Removed domains stay.',
    ...broken('all-domains-listed', 'write and read'),
    change: operation('deleteDomains', forgets),
  },
  {
    id: 'one-more-removed',
    says: 'A removal takes the first domain as well.',
    ...broken('all-domains-listed', 'write and read'),
    change: operation('deleteDomains', (right, call) => {
      const data = right(call)
      const [another] = call.account.domains.keys()
      call.account.domains.delete(another ?? '')
      return data
    }),
  },
  {
    id: 'wrong-count-of-removed',
    says: 'count of a removal is 0.',
    ...broken('deleted-domains-answered', 'write'),
    change: successes((data: Fields) => ({ ...data, count: 0 }), 'DELETE /domains'),
  },
  {
    id: 'removed-from-no-group',
    says: 'A removed domain stays in its groups.',
    ...unexplained('write and read'),
    change: operation('deleteDomains', (right, call) => {
      const before = call.account.groups.map(({ domains }) => [...domains])
      const data = right(call)
      for (const [index, group] of call.account.groups.entries()) group.domains = before[index] ?? []
      return data
    }),
  },
  {
    id: 'in-use-forbidden',
    says: 'A domain in use gives the code not_found.',
    ...violation('/responses', 'write'),
    hidden:
      'Only the owner of the account can let a feature use a domain, and to delete a domain of others might succeed.',
    change: operation('deleteDomains', (right, call) => {
      if (textsIn(call.fields, 'domains').some((domain) => call.account.inUse.has(domain)))
        throw new Refusal('not_found')
      return right(call)
    }),
  },
]
