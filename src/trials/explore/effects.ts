import type { AccountState, DomainGroup } from '../../domain/account.ts'
import type { Entry } from '../../journal/entry.ts'

/** What a run of a command has done, by meaning: ids, order and times are no part of it. */
export interface Effects {
  /** For each account that is left, in no order: everything that it holds, as sorted sentences. */
  accounts: readonly (readonly string[])[]
  /** The changes that requests have made, as sorted sentences. Those that were undone later are there, too. */
  changes: readonly string[]
}

export function effectsOf(accounts: Iterable<AccountState>, exchanges: readonly Entry[]): Effects {
  return {
    accounts: [...accounts].map(contentsOf).toSorted((one, other) => (one.join('\n') < other.join('\n') ? -1 : 1)),
    changes: exchanges.flatMap(changesBy).toSorted(),
  }
}

/** What an account holds. Its sentences are sorted. */
function contentsOf({ plan, domains, groups, keys }: AccountState): string[] {
  const facts = [`has the plan ${plan}`]
  for (const { label, disabled } of keys) facts.push(`has a key ${label ?? ''}${disabled ? ', disabled' : ''}`)
  for (const { name, features, pin } of domains.values()) {
    facts.push(`monitors ${name}`)
    for (const feature of features) facts.push(`uses ${name} for ${feature}`)
    if (pin !== undefined) facts.push(`pins ${name} to ${JSON.stringify(pin)}`)
  }
  for (const { name, domains: members } of groups.values()) {
    facts.push(`has the group ${name}`)
    for (const member of members) facts.push(`has ${member} in the group ${name}`)
  }
  return facts.toSorted()
}

/** What one request has changed. */
export function changesBy({ before, after }: Pick<Entry, 'before' | 'after'>): string[] {
  return before === undefined || after === undefined ? [] : changesBetween(before.account, after)
}

function changesBetween(before: AccountState, after: AccountState): string[] {
  const changes: string[] = []
  if (before.domains !== after.domains) {
    for (const name of after.domains.keys()) if (!before.domains.has(name)) changes.push(`added the domain ${name}`)
    for (const name of before.domains.keys()) if (!after.domains.has(name)) changes.push(`removed the domain ${name}`)
  }
  if (before.groups !== after.groups) {
    for (const group of after.groups.values()) changes.push(...groupChanges(before.groups.get(group.id), group))
    for (const { id, name } of before.groups.values())
      if (!after.groups.has(id)) changes.push(`deleted the group ${name}`)
  }
  return changes
}

function groupChanges(before: DomainGroup | undefined, after: DomainGroup): string[] {
  if (before === after) return []
  const { name } = after
  const [old, now] = [new Set(before?.domains), new Set(after.domains)]
  return [
    ...(before === undefined ? [`created the group ${name}`] : []),
    ...(before !== undefined && before.name !== name ? [`renamed the group ${before.name} to ${name}`] : []),
    ...[...now].filter((member) => !old.has(member)).map((member) => `put ${member} into the group ${name}`),
    ...[...old].filter((member) => !now.has(member)).map((member) => `took ${member} out of the group ${name}`),
  ]
}

export function haveSameEffects(one: Effects, other: Effects): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** How many differences are told. */
export const TOLD = 5

/** What is other than expected, in a few sentences. */
export function describeDifference(expected: Effects, received: Effects): string[] {
  const changes = compare(expected.changes, received.changes, 'not done', 'done too often')
  // What was changed by a request says why the account is as it is.
  const differences =
    changes.length > 0
      ? changes
      : compare(expected.accounts.flat(), received.accounts.flat(), 'missing at the end', 'too much at the end')
  const rest = differences.length - TOLD
  return rest > 0 ? [...differences.slice(0, TOLD), `and ${rest} more`] : differences
}

function compare(expected: readonly string[], received: readonly string[], missing: string, surplus: string): string[] {
  const lacks = without(expected, received)
  const extras = without(received, expected)
  return [...lacks.map((each) => `${missing}: ${each}`), ...extras.map((each) => `${surplus}: ${each}`)]
}

/** The items of a list that another does not have, or not as often. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const item of other) left.set(item, (left.get(item) ?? 0) + 1)
  return list.filter((item) => {
    const count = left.get(item) ?? 0
    left.set(item, count - 1)
    return count <= 0
  })
}
