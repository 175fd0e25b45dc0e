import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { changeClock } from '../domain/clock.ts'
import { setWindow } from '../domain/counting.ts'
import { type Ending, nextEnding } from '../domain/endings.ts'
import { accept } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type Allowance, bucketOf, whatIsLeft } from '../domain/quotas.ts'
import type { Clock } from '../ground/clock.ts'
import type { Account, Store } from '../store/store.ts'
import type { InjectionTarget } from './injection.ts'

export interface AccountEventDeps {
  contract: Contract
  store: Pick<Store, 'update' | 'transact'>
  clock: Clock
}

/**
 * Moves the account's clock forward to the next ending: of its own quota window, of the day (daily refresh), or of the
 * grace period of its key. Returns a description. A clock that is past the ending stays.
 */
export async function passEnding(
  ending: Ending,
  target: InjectionTarget,
  { contract, store, clock }: AccountEventDeps,
): Promise<string> {
  const { principal, incarnation, allowance } = target
  const windowEnds = allowance === undefined ? [] : [allowance.resetAt * 1000]
  const instant = nextEnding(ending, { now: principal.now, windowEnds, keys: [principal.key] }, contract.settings)
  if (instant === undefined) return 'There was no such instant to come, so the clock of the account stayed as it was.'
  const move = (state: AccountState) => {
    const next = changeClock(state.clock, { now: instant }, clock())
    return next === undefined ? accept(state, false) : accept({ ...state, clock: next }, true)
  }
  const moved = await store.update(principal.account.id, move, incarnation)
  return moved.ok && moved.value
    ? `After the answer, the clock of the account moved on to ${writeInstant(instant)}.`
    : `The clock of the account was past ${writeInstant(instant)} already, so it stayed as it was.`
}

/**
 * Uses up the rest of the quota that the request was charged to. A whole window follows, so that the time until the
 * reset does not depend on the time of the request. `undefined` if the request has no quota.
 */
export async function useUpQuota(
  { operation, principal, incarnation, allowance }: InjectionTarget,
  { contract: { settings }, store }: AccountEventDeps,
): Promise<Allowance | undefined> {
  if (allowance === undefined || operation.quota === undefined) return undefined
  const { account, key, now } = principal
  const hits = { startedAt: now, used: allowance.limit }
  const bucket = bucketOf(key.hash, operation.path, settings.quotaScope)
  const useUp = ({ counters }: Account) => ({ counters: setWindow(counters, bucket, hits), value: undefined })
  await store.transact(account.id, useUp, incarnation)
  return whatIsLeft(hits, allowance.limit, operation.quota.window, false)
}
