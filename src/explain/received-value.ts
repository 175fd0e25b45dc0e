import type { Catalogue } from '../contract/catalogue.ts'
import { HIDDEN_VALUE } from '../contract/problems.ts'
import type { Problem } from '../domain/errors.ts'
import { stepsOf, writeJson } from '../ground/json.ts'
import { type Content, isCut, textOf } from '../http/content.ts'
import { describeProblem, type ProblemReport, shortenReceived } from '../journal/description.ts'
import type { Redact } from '../journal/redaction/redaction.ts'
import { sourceAt } from './json-tokens.ts'

/** In bytes, the largest body that is searched for the values of its problems. */
const SEARCHED = 65_536

/**
 * A problem with what the body has at its place, character by character. The value in the problem is that of the check:
 * a number may be rounded, and spaces around a name may be removed.
 */
export function describeReceived(
  problem: Problem<string>,
  body: Content | undefined,
  catalogue: Catalogue,
  redact: Redact,
): ProblemReport {
  const report = describeProblem(problem, catalogue, redact)
  const { field, value } = problem
  if (value === undefined || value === HIDDEN_VALUE || body === undefined || body.size > SEARCHED || isCut(body))
    return report
  if (field !== '' && field?.startsWith('/') !== true) return report
  const source = sourceAt(textOf(body), stepsOf(field))
  // A secret may be spelt with escapes, which hide it.
  const checked = writeJson(value)
  if (source === undefined || checked === undefined || redact(checked) !== checked) return report
  return { ...report, received: shortenReceived(source, redact) }
}
