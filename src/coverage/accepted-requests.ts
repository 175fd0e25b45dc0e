import type { DomainGroup } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import type { Json } from '../ground/json.ts'
import type { Rehearsal } from './rehearsal.ts'
import { freshDomains, freshName, unknownGroupId } from './samples.ts'

/** What a planned request sends to its operation. */
export interface Sent {
  query?: Readonly<Record<string, string>>
  /** A string is sent as it is. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  padTo?: number
  times?: number
  /** The group that the query names. */
  group?: DomainGroup
}

/** Brings the account of the rehearsal into a state, and says what to send then. */
export type Prepare = (rehearsal: Rehearsal) => Sent

/** The same for a refusal for what the account holds, which no schema tells of; `undefined` where it never comes. */
export type PrepareRefusal = (rehearsal: Rehearsal) => Refused | undefined

export interface Refused {
  sent: Sent
  problem: Problem
  /** Plans what puts the account back, once the request is planned. */
  restore?: () => void
}

/** Requests that each operation accepts, the plainest first. Together they show every field of its body. */
export const ACCEPTED: Readonly<Record<string, readonly Prepare[]>> = {
  listDmarc: [() => ({}), () => ({ times: 2 })],
  listDomains: [() => ({})],
  addDomains: [(rehearsal) => ({ body: { domains: freshDomains(rehearsal.state, atLeast(rehearsal, 'addDomains')) } })],
  deleteDomains: [(rehearsal) => ({ body: { domains: rehearsal.removable(atLeast(rehearsal, 'deleteDomains')) } })],
  listDomainGroups: [() => ({}), (rehearsal) => naming(rehearsal.group())],
  createDomainGroup: [
    (rehearsal) => ({ body: { name: newName(rehearsal) } }),
    (rehearsal) => ({ body: { name: newName(rehearsal), domains: rehearsal.monitored(1) } }),
  ],
  updateDomainGroup: [
    (rehearsal) => ({ ...naming(rehearsal.groupWithMember()), body: { name: newName(rehearsal) } }),
    (rehearsal) => ({ ...naming(rehearsal.groupWithMember()), body: { domains: rehearsal.monitored(1) } }),
    (rehearsal) => ({ ...naming(rehearsal.groupWithMember()), body: { add_domains: rehearsal.monitored(1) } }),
    (rehearsal) => ({
      ...naming(rehearsal.groupWithMember()),
      body: { remove_domains: freshDomains(rehearsal.state, 1) },
    }),
    (rehearsal) => {
      const [member = ''] = rehearsal.monitored(1)
      return { ...naming(rehearsal.groupWithMember()), body: { add_domains: [member], remove_domains: [member] } }
    },
  ],
  deleteDomainGroup: [(rehearsal) => naming(rehearsal.groupWithMember())],
}

/** Requests that each operation refuses for what the account holds. */
export const REFUSED: Readonly<Record<string, readonly PrepareRefusal[]>> = {
  addDomains: [
    (rehearsal) => {
      const domains = freshDomains(rehearsal.state, Math.max(1, atLeast(rehearsal, 'addDomains') - 1))
      return repeating(rehearsal, 'repeatedDomains', { body: { domains: [...domains, ...domains.slice(0, 1)] } })
    },
    (rehearsal) => {
      if (rehearsal.contract.settings.alreadyMonitored !== 'refused') return undefined
      const body = { domains: rehearsal.monitored(atLeast(rehearsal, 'addDomains')) }
      return { sent: { body }, problem: { code: 'invalid_domain', reason: 'monitored' } }
    },
  ],
  deleteDomains: [
    (rehearsal) => {
      const { name, free } = rehearsal.usedDomain()
      const least = atLeast(rehearsal, 'deleteDomains')
      const others = least === 1 ? [] : rehearsal.removable(least).filter((each) => each !== name)
      const problem: Problem = { code: 'domain_delete_failed', reason: 'in-use' }
      return { sent: { body: { domains: [name, ...others].slice(0, least) } }, problem, ...(free && { restore: free }) }
    },
    (rehearsal) => {
      const { unmonitoredDeletion: code } = rehearsal.contract.settings
      const body = { domains: freshDomains(rehearsal.state, atLeast(rehearsal, 'deleteDomains')) }
      return code === 'ignored' ? undefined : { sent: { body }, problem: { code, reason: 'unmonitored' } }
    },
    (rehearsal) => {
      if (rehearsal.contract.settings.deletionOfMembers !== 'refused') return undefined
      const body = { domains: rehearsal.groupWithMember().domains.slice(0, 1) }
      return { sent: { body }, problem: { code: 'domain_delete_failed', reason: 'member' } }
    },
    (rehearsal) => {
      const domains = rehearsal.removable(Math.max(1, atLeast(rehearsal, 'deleteDomains') - 1))
      return repeating(rehearsal, 'repeatedDomains', { body: { domains: [...domains, ...domains.slice(0, 1)] } })
    },
  ],
  listDomainGroups: [unknownId],
  createDomainGroup: [
    (rehearsal) => stranger({ body: { name: newName(rehearsal), domains: freshDomains(rehearsal.state, 1) } }),
    (rehearsal) => ({ sent: { body: { name: rehearsal.group().name } }, problem: { code: 'duplicate_name' } }),
    (rehearsal) => {
      const [domain = ''] = rehearsal.monitored(1)
      const body = { name: newName(rehearsal), domains: [domain, domain] }
      return repeating(rehearsal, 'repeatedMembers', { body })
    },
  ],
  updateDomainGroup: [
    (rehearsal) => unknownId(rehearsal, { name: newName(rehearsal) }),
    (rehearsal) => stranger({ ...naming(rehearsal.group()), body: { add_domains: freshDomains(rehearsal.state, 1) } }),
    (rehearsal) => {
      const group = rehearsal.group()
      const other = [...rehearsal.state.groups.values()].find(({ id }) => id !== group.id) ?? rehearsal.createGroup([])
      return { sent: { ...naming(group), body: { name: other.name } }, problem: { code: 'duplicate_name' } }
    },
    (rehearsal) => {
      const [domain = ''] = rehearsal.monitored(1)
      return repeating(rehearsal, 'repeatedMembers', {
        ...naming(rehearsal.group()),
        body: { add_domains: [domain, domain] },
      })
    },
  ],
  deleteDomainGroup: [unknownId],
}

function naming(group: DomainGroup): Sent {
  return { query: { id: group.id }, group }
}

function newName({ state, contract }: Rehearsal): string {
  return freshName(state, 'Example', contract.settings)
}

/** The fewest domains that the operation takes. */
function atLeast(rehearsal: Rehearsal, operationId: string): number {
  return Math.max(1, rehearsal.limitOf(operationId, 'minItems') ?? 1)
}

function unknownId({ state, contract }: Rehearsal, body?: Json): Refused | undefined {
  const query = { id: unknownGroupId(state, contract.groupIds) }
  return { sent: { query, ...(body && { body }) }, problem: { code: 'not_found' } }
}

function stranger(sent: Sent): Refused | undefined {
  return { sent, problem: { code: 'not_monitored' } }
}

function repeating(
  { contract }: Rehearsal,
  setting: 'repeatedDomains' | 'repeatedMembers',
  sent: Sent,
): Refused | undefined {
  if (contract.settings[setting] !== 'refused') return undefined
  return { sent, problem: { code: 'invalid_domain', reason: 'repeated' } }
}
