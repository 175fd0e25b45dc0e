import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type Counting, type CountingPlan, countPlanned, countRequest } from '../domain/counting.ts'
import { chanceOfFault, fraction } from '../ground/chance.ts'
import type { Admission } from './store.ts'

/** Lets a request enter a loaded account, and counts the request there. */
export function enterAccount<Plan extends CountingPlan, Value>(
  account: AccountState,
  counting: Counting,
  { clock, longestWindow, plan: makePlan, conclude }: Admission<Plan, Value>,
): Value {
  const before = { ...counting }
  const real = clock()
  const now = timeOn(account.clock, real)
  const plan = makePlan(account)
  const draw = (rule: string, ordinal: number) => fraction(chanceOfFault(account, rule, ordinal)[0])
  const counted = countPlanned(plan, counting, now, draw)
  if (plan.isCounted) countRequest(counting, counted, account.faults, now, longestWindow)
  return conclude({ account, incarnation: 1, real, plan, counted, before, moment: undefined })
}
