import type { AccountState } from '../domain/account.ts'
import { countersFor } from '../domain/counting.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Account, Change } from './store.ts'
import { StoreError } from './store-error.ts'

/**
 * Refuses more domains or groups than an account may have: one client could fill the heap before it is measured again.
 * An account that has more already, because an earlier version had no limit, may still change and shrink.
 * @throws StoreError `too-large`
 */
export function refuseTooLarge(state: AccountState, before?: AccountState): void {
  for (const part of ['domains', 'groups'] as const) {
    const { size } = state[part]
    if (size <= LIMITS[part] || size <= (before?.[part].size ?? 0)) continue
    throw new StoreError('too-large', `An account may have ${LIMITS[part]} ${part}, and this one would have ${size}`)
  }
}

/**
 * The account after a change: the parts that do not change are the same objects. Counts of keys and fault rules that it
 * does not have any more are left out.
 * @throws StoreError `too-large`
 */
export function applyChange(
  { state: before, counters: known }: Pick<Account, 'state' | 'counters'>,
  { state = before, counters = known }: Partial<Omit<Change<unknown>, 'value'>>,
): Pick<Account, 'state' | 'counters'> {
  if (state.id !== before.id) throw new Error(`The account "${before.id}" cannot become another one`)
  refuseTooLarge(state, before)
  if (state.keys === before.keys && state.faults === before.faults && counters === known) return { state, counters }
  const kept = countersFor(counters, state)
  const isSame = kept.quotas.size === counters.quotas.size && kept.tallies.size === counters.tallies.size
  return { state, counters: isSame ? counters : kept }
}

/** Whether an account would have more items than before. */
export function hasGrown(state: AccountState, before: AccountState): boolean {
  return sizeOf(state) > sizeOf(before)
}

function sizeOf({ domains, groups, keys, faults }: AccountState): number {
  const members = groups.reduce((sum, group) => sum + group.domains.length, 0)
  return domains.size + groups.size + members + keys.length + faults.length
}
