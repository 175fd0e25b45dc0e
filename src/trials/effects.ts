import type { AccountState, DomainGroup } from '../domain/account.ts'
import { compareAccounts, type StateChanges } from '../explain/changes.ts'
import { type Entry, PAST } from '../journal/entry.ts'

/** The effects of a run of the command. Ids, order and times are left out. */
export interface Effects {
  /** For each remaining account, its content as sorted sentences. The accounts have no order. */
  accounts: readonly (readonly string[])[]
  /** The changes by requests, as sorted sentences. They include changes that were undone later. */
  changes: readonly string[]
}

export function effectsOf(accounts: Iterable<AccountState>, exchanges: readonly Entry[]): Effects {
  return {
    accounts: [...accounts].map(contentsOf).toSorted((one, other) => (one.join('\n') < other.join('\n') ? -1 : 1)),
    changes: exchanges.flatMap(changesBy).toSorted(),
  }
}

function contentsOf({ domains, groups }: AccountState): string[] {
  const ofGroups = [...groups.values()].flatMap(({ name, domains: members }) => [
    `has the group ${name}`,
    ...members.map((member) => `has ${member} in the group ${name}`),
  ])
  return [...[...domains.keys()].map((name) => `monitors ${name}`), ...ofGroups].toSorted()
}

function changesBy({ [PAST]: past }: Entry): string[] {
  if (past?.after === undefined) return []
  const { domains, groups } = compareAccounts(past.account, past.after)
  return [...domains.flatMap(domainChange), ...groups.flatMap(([, old, now]) => groupChanges(old, now))]
}

function domainChange([name, before, after]: StateChanges['domains'][number]): string[] {
  if (before === undefined) return [`added the domain ${name}`]
  return after === undefined ? [`removed the domain ${name}`] : []
}

function groupChanges(before: DomainGroup | undefined, after: DomainGroup | undefined): string[] {
  if (after === undefined) return before === undefined ? [] : [`deleted the group ${before.name}`]
  const { name, domains } = after
  const former = before?.domains ?? []
  return [
    ...(before === undefined ? [`created the group ${name}`] : []),
    ...(before !== undefined && before.name !== name ? [`renamed the group ${before.name} to ${name}`] : []),
    ...without(domains, former).map((member) => `put ${member} into the group ${name}`),
    ...without(former, domains).map((member) => `took ${member} out of the group ${name}`),
  ]
}

export function haveSameEffects(one: Effects, other: Effects): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

const TOLD = 5

export function describeDifference(expected: Effects, received: Effects): string[] {
  const changes = compare(expected.changes, received.changes, 'not done', 'done too often')
  // The changes by requests explain the state of the account. So the states are compared only if the changes are equal.
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

/** The texts that the other list does not have, or has less often. */
export function without(list: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1)
  return list.filter((text) => {
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
}
