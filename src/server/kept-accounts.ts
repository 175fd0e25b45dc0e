import { FIXTURE_NAMES, findFixtureViolation } from '../accounts/fixture.ts'
import { validateAccount } from '../accounts/validation.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountOrigin } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import { isInstant } from '../domain/iso-8601.ts'
import type { RuleCheck } from '../faults/rule-check.ts'
import { isDeeperThan } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { Clock } from '../ground/timers.ts'
import type { AccountRecord } from '../store/record.ts'

/** No fixture nests its values deeper, because the schema does not allow it. */
const FIXTURE_DEPTH = 20

/**
 * Creates the function that says why an account of the data folder cannot be served. It checks the present account and
 * its origin, because a reset makes the account again from it. The text begins with a JSON pointer into the file.
 */
export function createKeptCheck(contract: Contract, clock: Clock) {
  let ruleCheck: Promise<RuleCheck> | undefined

  return async function check(record: AccountRecord): Promise<string | undefined> {
    const { faults, origin } = record
    return (
      validateAccount(record, contract, clock()) ??
      validateOrigin(origin) ??
      (await findRuleProblem(faults, '/account/faults')) ??
      (await findRuleProblem(origin.faults ?? [], '/account/origin/faults')) ??
      (await findFixtureProblem(origin.fixture, '/account/origin/fixture')) ??
      (await findFixtureProblem(origin.story, '/account/origin/story'))
    )
  }

  /** The schemas of other documents are loaded only if an account needs them. */
  async function findRuleProblem(faults: readonly { rule: FaultRule }[], place: string): Promise<string | undefined> {
    if (faults.length === 0) return undefined
    ruleCheck ??= import('../faults/rule-check.ts').then(({ loadRuleCheck }) => loadRuleCheck(contract))
    const { findProblem } = await ruleCheck
    for (const [index, { rule }] of faults.entries()) {
      const problem = findProblem(rule, `${place}/${index}/rule`)
      if (problem !== undefined) return `${problem.pointer} is refused: ${problem.message}`
    }
    return undefined
  }
}

function validateOrigin({ fixture, ...instants }: AccountOrigin): string | undefined {
  for (const name of ['now', 'countedFrom'] as const) {
    const instant = instants[name]
    if (instant !== undefined && !isInstant(instant)) return `/account/origin/${name} ${show(instant)} is no instant`
  }
  if (typeof fixture !== 'string' || FIXTURE_NAMES.some((name) => name === fixture)) return undefined
  return `/account/origin/fixture ${show(fixture)} must be one of ${FIXTURE_NAMES.join(', ')}, or a fixture`
}

async function findFixtureProblem(
  fixture: AccountOrigin['fixture'] | AccountOrigin['story'],
  place: string,
): Promise<string | undefined> {
  if (fixture === undefined || typeof fixture === 'string') return undefined
  if (isDeeperThan(FIXTURE_DEPTH, fixture)) return `${place} is nested too deeply`
  const violation = await findFixtureViolation(fixture)
  return violation && `${place}${violation.pointer} ${violation.reason}`
}
