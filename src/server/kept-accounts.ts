import { FIXTURE_NAMES, findFixtureViolation } from '../accounts/fixture.ts'
import { validateAccount } from '../accounts/validation.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountOrigin } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import { isInstant } from '../domain/iso-8601.ts'
import type { RuleCheck } from '../faults/rule-check.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { show } from '../ground/show.ts'
import type { AccountRecord } from '../store/record.ts'

/** No fixture nests its values deeper, because the schema does not allow it. */
const FIXTURE_DEPTH = 20

/**
 * Creates the function that says why an account of the data folder cannot be served. It checks the present account and
 * its origin, because a reset makes the account again from it. The text begins with a JSON pointer into the file.
 */
export function createKeptCheck(
  contract: Contract,
  clock: Clock,
): (record: AccountRecord) => Awaitable<string | undefined> {
  let ruleCheck: Promise<RuleCheck> | undefined

  return function check(record) {
    const problem = validateAccount(record, contract, clock()) ?? validateOrigin(record.origin)
    if (problem !== undefined) return problem
    const { faults, origin } = record
    const needsRules = faults.length > 0 || origin.faults !== undefined
    const needsFixtures = typeof origin.fixture !== 'string' || origin.story !== undefined
    return needsRules || needsFixtures ? checkSchemas(record) : undefined
  }

  /** The schemas of other documents are loaded only if an account needs them. */
  async function checkSchemas({ faults, origin }: AccountRecord): Promise<string | undefined> {
    return (
      (await findRuleProblem(faults, '/account/faults')) ??
      (await findRuleProblem(origin.faults ?? [], '/account/origin/faults')) ??
      (await findFixtureProblem(origin.fixture, '/account/origin/fixture')) ??
      (await findFixtureProblem(origin.story ?? {}, '/account/origin/story'))
    )
  }

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

async function findFixtureProblem(fixture: AccountOrigin['fixture'], place: string): Promise<string | undefined> {
  if (typeof fixture === 'string') return undefined
  if (isDeeperThan(FIXTURE_DEPTH, fixture)) return `${place} is nested too deeply`
  const violation = await findFixtureViolation(fixture)
  return violation && `${place}${violation.pointer} ${violation.reason}`
}
