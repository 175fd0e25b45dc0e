import { type AccountState, type DomainGroup, type MonitoredDomain, withContents } from './account.ts'
import { type RecordPin, refreshDay } from './dmarc.ts'
import { accept, type Decision, type Problem, refusalOf } from './errors.ts'
import type { Settings } from './settings.ts'

/** The domains of a successful request, in its order. */
export interface ChangedDomains {
  domains: readonly string[]
}

/**
 * Monitors all of `names` (canonical, in the request's order) from `now` on, or none of them. `traits` gives a domain
 * further properties. Like all decisions, it reads a setting only where the setting makes a difference: the judgement of
 * another service asks which settings an answer rests on.
 * Source: POST /domains, "Duplicate entries are rejected."
 */
export function addDomains(
  state: AccountState,
  names: readonly string[],
  now: number,
  settings: Pick<Settings, 'repeatedDomains' | 'alreadyMonitored'>,
  traits: (name: string) => Partial<MonitoredDomain> = () => ({}),
): Decision<AccountState, ChangedDomains> {
  const problems = hasRepeats(names) ? repeats(names, '/domains', settings.repeatedDomains) : []
  const domains = [...new Set(names)].filter((name) => !state.domains.has(name))
  const monitored = names.flatMap((name, index) => (state.domains.has(name) ? [index] : []))
  if (monitored.length > 0 && settings.alreadyMonitored !== 'skipped') {
    for (const index of monitored)
      problems.push(problemWith(names[index] ?? '', `/domains/${index}`, settings.alreadyMonitored, 'monitored'))
  }
  const refusal = refusalOf(problems)
  if (refusal) return refusal
  const added = domains.map((name): [string, MonitoredDomain] => [
    name,
    { name, addedAt: now, features: [], ...traits(name) },
  ])
  return accept(added.length === 0 ? state : withContents(state, { domains: state.domains.merge(added) }), { domains })
}

/**
 * Removes all of `names` from the account and from its groups, or none of them. A name that is there twice is refused,
 * as in an addition.
 * Source: DELETE /domains, "a domain still actively used in certain monitoring features cannot be removed."
 */
export function deleteDomains(
  state: AccountState,
  names: readonly string[],
  settings: Pick<Settings, 'unmonitoredDeletion' | 'deletionOfMembers'>,
): Decision<AccountState, ChangedDomains> {
  const problems = hasRepeats(names) ? repeats(names, '/domains', 'invalid_domain') : []
  const removed = new Set(names.filter((name) => state.domains.has(name)))
  const affected = [...state.groups.values()].filter((group) => group.domains.some((member) => removed.has(member)))
  const keepsMembers = affected.length > 0 && settings.deletionOfMembers === 'refused'
  const members = new Set(keepsMembers ? affected.flatMap((group) => group.domains) : [])
  for (const [index, domain] of names.entries()) {
    const monitored = state.domains.get(domain)
    const field = `/domains/${index}`
    if (monitored === undefined) {
      if (settings.unmonitoredDeletion !== 'ignored') {
        problems.push(problemWith(domain, field, settings.unmonitoredDeletion, 'unmonitored'))
      }
    } else if (monitored.features.length > 0) {
      const features = monitored.features.join(', ')
      problems.push({ ...problemWith(domain, field, 'domain_delete_failed', 'in-use'), about: { domain, features } })
    } else if (members.has(domain)) {
      problems.push(problemWith(domain, field, 'domain_delete_failed', 'member'))
    }
  }
  const refusal = refusalOf(problems)
  if (refusal) return refusal
  const domains = [...removed]
  if (domains.length === 0) return accept(state, { domains })
  const shrunk = affected.map((group): [string, DomainGroup] => [
    group.id,
    { ...group, domains: group.domains.filter((member) => !removed.has(member)) },
  ])
  const groups = state.groups.merge(shrunk)
  return accept(withContents(state, { domains: state.domains.deleteAll(removed), groups }), { domains })
}

export function hasRepeats(names: readonly string[]): boolean {
  // For a few names, which is the usual case, a set costs more than it saves.
  if (names.length < 10) return names.some((name, index) => names.indexOf(name) < index)
  return new Set(names).size < names.length
}

/** One problem for each entry of the list at `field` that equals an earlier entry. */
function repeats(names: readonly string[], field: string, code: Problem['code']): Problem[] {
  const seen = new Set<string>()
  const problems: Problem[] = []
  for (const [index, domain] of names.entries()) {
    if (seen.has(domain)) problems.push(problemWith(domain, `${field}/${index}`, code, 'repeated'))
    seen.add(domain)
  }
  return problems
}

/** The problem of the domain at `field`. */
export function problemWith(domain: string, field: string, code: Problem['code'], reason: string): Problem {
  return { code, reason, field, value: domain, about: { domain } }
}

/**
 * The fixed values of the record at the refresh `day`. They hold from the refresh whose record they changed, or if they
 * are fixed from the beginning, on all days.
 */
export function pinOn({ pin, pinnedAt }: MonitoredDomain, day: number, refresh: string): RecordPin | undefined {
  return pinnedAt === undefined || day >= refreshDay(pinnedAt, refresh) ? pin : undefined
}

/** The domain with other fixed values from `now` on, or with none. Values that it had before are forgotten. */
export function changePin(domain: MonitoredDomain, pin: RecordPin | undefined, now: number): MonitoredDomain {
  const { pin: last, pinnedAt: _, ...rest } = domain
  if (JSON.stringify(last) === JSON.stringify(pin)) return domain
  return pin === undefined ? rest : { ...rest, pin, pinnedAt: now }
}
