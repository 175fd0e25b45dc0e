import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { applyCounts, type Counting, type CountingPlan, decideCounts } from '../domain/counting.ts'
import { chanceOfFault, fraction } from '../ground/chance.ts'
import type { Admission, Entered } from './store.ts'

/** Lets a request enter an account in this process, and counts it there. The caller calls `conclude` of the admission. */
export function enterAccount<Request, Plan extends CountingPlan>(
  account: AccountState,
  counting: Counting,
  admission: Omit<Admission<Request, Plan, unknown>, 'conclude'>,
  request: Request,
  incarnation = 1,
): Entered<Plan> {
  const { quotas, tallies, requests } = counting
  const real = admission.clock()
  const now = timeOn(account.clock, real)
  const plan = admission.plan(request, account)
  const counted = decideCounts(plan, counting, now, plan.rules.length === 0 ? NO_DRAW : drawOf(account))
  if (plan.isCounted) applyCounts(counting, counted, account.faults, now, admission.longestWindow)
  return { account, incarnation, real, plan, counted, countersBefore: { quotas, tallies, requests }, moment: undefined }
}

/** The chance of the fault rules of an account, see `triggerRule`. */
function drawOf(account: AccountState): (rule: string, ordinal: number) => number {
  return (rule, ordinal) => fraction(chanceOfFault(account, rule, ordinal)[0])
}

/** Without rules, nothing is drawn. */
const NO_DRAW = () => 0
