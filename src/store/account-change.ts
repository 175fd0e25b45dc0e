import type { AccountState } from '../domain/account.ts'
import { LIMITS } from '../domain/limits.ts'
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

/** Whether an account would have more items than before. */
export function hasGrown(state: AccountState, before: AccountState): boolean {
  return sizeOf(state) > sizeOf(before)
}

function sizeOf({ domains, groups, keys, faults }: AccountState): number {
  const members = groups.reduce((sum, group) => sum + group.domains.length, 0)
  return domains.size + groups.size + members + keys.length + faults.length
}
