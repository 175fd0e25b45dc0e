import { isDeepStrictEqual } from 'node:util'
import { answerUnder } from '../behaviour/counterfactual.ts'
import { changesAccount, type ServiceContract } from '../behaviour/operation.ts'
import { operationOf } from '../contract/api.ts'
import type { Schemas } from '../contract/control-plane.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import type { FixtureDomain } from '../domain/fixture.ts'
import { diffMaps, type KeyChange } from '../domain/immutable.ts'
import { type Entry, isBodyUnknown, PAST } from '../journal/entry.ts'
import { type Redact, redactWithin } from '../journal/redaction/redaction.ts'
import { askedAgain } from './decisive-settings.ts'

/** A part of the account that a request has changed. */
export type ChangeReport = Schemas['Change']

/** The changes of a request to its account. */
export interface StateChanges {
  domains: readonly KeyChange<MonitoredDomain>[]
  groups: readonly KeyChange<DomainGroup>[]
}

/** The changes of a request, or the reason in one sentence why they are unknown. */
export type FoundChanges = { ok: true; changes: StateChanges } | { ok: false; why: string }

/** The maximum number of listed changes, and of listed members that were added to or removed from a group. */
const LISTED_CHANGES = 100
const LISTED_MEMBERS = 10

export const NO_CHANGES: FoundChanges = { ok: true, changes: { domains: [], groups: [] } }

const unknown = (why: string): FoundChanges => ({
  ok: false,
  why: `${why}, so it is not known what the request changed.`,
})
const NOT_KEPT = unknown('The state of the account before this request is no longer kept')

/**
 * The changes of a request as far as its entry tells them: by what it is, or by the states before and after it, which
 * contain no changes of other requests. Returns `undefined` if the request has to be repeated.
 */
export function knownChanges(entry: Entry, contract: Pick<ServiceContract, 'operations'>): FoundChanges | undefined {
  const operation = operationOf(contract, entry.operation)
  const { failure, decided, status, code, injected } = entry
  if (operation === undefined || !changesAccount(operation)) return NO_CHANGES
  if (failure !== undefined) return unknown('The stand-in itself failed')
  const isAccepted =
    decided === undefined ? status !== undefined && code === undefined && !injected : decided.code === undefined
  if (!isAccepted) return NO_CHANGES
  const past = entry[PAST]
  if (past === undefined) return undefined
  return past.after === undefined ? NO_CHANGES : { ok: true, changes: compareAccounts(past.account, past.after) }
}

/**
 * The changes of a request if only the state before it is kept. The request is
 * decided again, which is pure: the same request to the same state at the same instant has the same outcome.
 */
export function repeatChanges(entry: Entry, before: AccountState | undefined, contract: ServiceContract): FoundChanges {
  if (before === undefined || entry.operation === undefined) return NOT_KEPT
  if (isBodyUnknown(entry)) return unknown('The journal keeps only the beginning of the body')
  const { code, state } = answerUnder(askedAgain(entry, before), contract)
  // In an exchange that servers share, secrets are hidden. The hidden part may have made the request acceptable.
  return code === undefined ? { ok: true, changes: compareAccounts(before, state) } : NOT_KEPT
}

/** The changes from one state to another. */
export function compareAccounts(before: AccountState, after: AccountState): StateChanges {
  return {
    domains: diffMaps(before.domains, after.domains),
    // A request may set a group to its present value.
    groups: diffMaps(before.groups, after.groups).filter(([, one, other]) => !isDeepStrictEqual(one, other)),
  }
}

/** The changes in a form for a person: domains first, then groups, each kind in the order of the changes. */
export function describeChanges(
  found: FoundChanges,
  writeDomain: (domain: MonitoredDomain) => FixtureDomain,
  redact: Redact,
): Pick<Schemas['Explanation'], 'changes' | 'changes_count' | 'changes_note'> {
  if (!found.ok) return { changes: null, changes_count: null, changes_note: found.why }
  const { domains, groups } = found.changes
  const listed = [
    ...domains.slice(0, LISTED_CHANGES).map(([, ...domain]) => describeDomain(...domain, writeDomain)),
    ...groups.slice(0, LISTED_CHANGES).map(([, ...group]) => describeGroup(...group)),
  ]
  return {
    changes: redactWithin(listed.slice(0, LISTED_CHANGES), redact),
    changes_count: domains.length + groups.length,
    changes_note: null,
  }
}

function describeDomain(
  before: MonitoredDomain | undefined,
  after: MonitoredDomain | undefined,
  writeDomain: (domain: MonitoredDomain) => FixtureDomain,
): ChangeReport {
  const { name = '', spelling = name } = after ?? before ?? {}
  const write = (domain: MonitoredDomain | undefined) => (domain === undefined ? null : { ...writeDomain(domain) })
  return { what: 'domain', name: spelling, before: write(before), after: write(after), members: null }
}

function describeGroup(before: DomainGroup | undefined, after: DomainGroup | undefined): ChangeReport {
  const [former, present] = [new Set(before?.domains), new Set(after?.domains)]
  const removed = [...former].filter((name) => !present.has(name))
  const added = [...present].filter((name) => !former.has(name))
  const write = (group: DomainGroup | undefined) =>
    group === undefined ? null : { id: group.id, name: group.name, members: group.domains.length }
  return {
    what: 'group',
    name: (after ?? before)?.name ?? '',
    before: write(before),
    after: write(after),
    members: {
      added: added.slice(0, LISTED_MEMBERS),
      added_count: added.length,
      removed: removed.slice(0, LISTED_MEMBERS),
      removed_count: removed.length,
    },
  }
}
