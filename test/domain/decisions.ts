import { OrderedMap } from 'immutable'
import type { AccountState, DomainGroup, MonitoredDomain } from '../../src/domain/account.ts'
import type { Refusal } from '../../src/domain/errors.ts'
import { comparedName } from '../../src/domain/groups.ts'
import type { Settings } from '../../src/domain/settings.ts'
import { exampleAccount } from '../store/example-account.ts'

/** The settings that decide about domains and groups, as openapi.yaml chooses them. */
export const CHOSEN = {
  ...{ alreadyMonitored: 'invalid_domain', repeatedDomains: 'invalid_domain' },
  ...{ unmonitoredDeletion: 'domain_delete_failed', deletionOfMembers: 'dropped' },
  ...{ sharedDomains: 'allowed', nameComparison: 'unicode' },
} as const satisfies Partial<Settings>

export type ChosenSettings = Pick<Settings, keyof typeof CHOSEN>

interface Contents {
  domains?: (string | Partial<MonitoredDomain>)[]
  /** The members by the name of the group. Its id is its name too. */
  groups?: Record<string, string[]>
}

export function accountWith({ domains = [], groups = {} }: Contents): AccountState {
  const monitored = domains.map((domain): [string, MonitoredDomain] => {
    const given = typeof domain === 'string' ? { name: domain } : domain
    return [given.name ?? '', { name: '', addedAt: 0, features: [], ...given }]
  })
  const listed = Object.entries(groups).map(([name, members]): DomainGroup => ({ id: name, name, domains: members }))
  return {
    ...exampleAccount('acme'),
    domains: OrderedMap(monitored),
    groups: OrderedMap(listed.map((group) => [group.id, group])),
    groupNames: OrderedMap(listed.map(({ id, name }) => [comparedName(name, 'unicode'), id])),
  }
}

/** What is wrong: of each problem the code, the reason and the place. */
export function reasonsOf({ problems }: Refusal): string {
  const reasons = problems.map(({ code, reason, field }) =>
    [code, reason, field].filter((part) => part !== undefined && part !== '').join(' '),
  )
  return reasons.join('; ')
}
