import type { Catalogue } from '../contract/catalogue.ts'
import { HIDDEN_VALUE } from '../contract/problems.ts'
import type { Problem } from '../domain/errors.ts'
import { stepsOf, writeJson } from '../ground/json.ts'
import { describeProblem, type ProblemReport, shortenReceived } from '../journal/description.ts'
import { type RecordedBody, textOf } from '../journal/entry.ts'
import { sourceAt } from './json-tokens.ts'

/** In bytes, the largest body that is searched for the values of its problems. */
const SEARCHED = 65_536

/**
 * A problem with what the body has at its place, character by character. The value in the problem is that of the check:
 * a number may be rounded, and spaces around a name may be removed.
 */
export function describeReceived(
  problem: Problem<string>,
  body: RecordedBody | undefined,
  catalogue: Catalogue,
): ProblemReport {
  const report = describeProblem(problem, catalogue)
  const { field, value } = problem
  if (value === undefined || value === HIDDEN_VALUE || body === undefined || body.size > SEARCHED || body.isCut)
    return report
  if (field !== '' && field?.startsWith('/') !== true) return report
  const source = sourceAt(textOf(body), stepsOf(field))
  if (source === undefined || writeJson(value) === undefined) return report
  return { ...report, received: shortenReceived(source) }
}
