import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { applyCounts, type Counting, type CountingPlan, decideCounts } from '../domain/counting.ts'
import { chanceOfFault, fraction } from '../ground/chance.ts'
import type { Admission, Entered } from './store.ts'

/** Lets a request enter an account in this process, and counts it there. The caller calls `conclude` of the admission. */
export function enterAccount<Plan extends CountingPlan>(
  account: AccountState,
  counting: Counting,
  { clock, longestWindow, plan: makePlan }: Omit<Admission<Plan, unknown>, 'conclude'>,
  incarnation = 1,
): Entered<Plan> {
  const { quotas, tallies, requests } = counting
  const real = clock()
  const now = timeOn(account.clock, real)
  const plan = makePlan(account)
  const draw = (rule: string, ordinal: number) => fraction(chanceOfFault(account, rule, ordinal)[0])
  const counted = decideCounts(plan, counting, now, draw)
  if (plan.isCounted) applyCounts(counting, counted, account.faults, now, longestWindow)
  return { account, incarnation, real, plan, counted, countersBefore: { quotas, tallies, requests }, moment: undefined }
}
