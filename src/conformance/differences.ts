import type { Explanation, OpenPoint } from '../choices/explainer.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { AccountTrack } from './account-track.ts'
import { findBrokenRule } from './broken-rule.ts'
import type { JudgementContext } from './context.ts'
import type { Mismatch } from './list-comparison.ts'

/** Reports each alternative that the service has chosen in place of our choice, or that it is not certain which. */
export function reportDeviations(
  context: JudgementContext,
  reading: ReadExchange,
  { deviations, isAmbiguous, expected }: Explanation,
  report: (finding: JudgedDifference) => void,
): void {
  const { results } = context
  const all = Object.entries(deviations)
  if (all.length === 0) return
  const would = describeExpected(context, expected)
  if (isAmbiguous) {
    const names = all.map(([id, number]) => `${id}/${number}`).join(' and ')
    const message = `${would} More than one assumption explains the difference, among them ${names}.`
    report(results.describe(reading, 'cannot tell', names, message))
    return
  }
  for (const [id, number] of all) {
    const message = `${would} The service has chosen alternative ${number} of ${id}.`
    const finding = results.describe(reading, 'decides assumption', `${id}/${number}`, message)
    report({ ...finding, assumption: id, alternative: number })
  }
}

/** Describes a list that contradicts what no other client can have changed. */
export function describeMismatch(
  { results, variants }: JudgementContext,
  reading: ReadExchange,
  { message, since, rule: id }: Mismatch,
): JudgedDifference {
  const { operations } = variants.contract
  const rule = operations.flatMap(({ rules }) => rules).find((each) => each.id === id)
  const by = `This contradicts ${since || 'an earlier response'}.`
  if (rule === undefined) return results.describe(reading, 'unexplained', 'state', `${message} ${by}`)
  const told = `${rule.says} ${message}${since === '' ? '' : ` ${by}`}`
  return results.describe(reading, 'broken rule', rule.id, told, rule)
}

/** Describes a response that is explained only if another client has changed what was known. */
export function changedByAnother(
  context: JudgementContext,
  reading: ReadExchange,
  { expected }: Explanation,
): JudgedDifference {
  const message = `${describeExpected(context, expected)} Another client may have changed the account.`
  return context.results.describe(reading, 'cannot tell', 'changed', message)
}

/** Of requests that overlap, it is not known in which order the service handled them. */
export function orderUnknown({ results }: JudgementContext, reading: ReadExchange): JudgedDifference {
  const message = 'Another request that may change the account was in progress, so it is not known what came first.'
  return results.describe(reading, 'cannot tell', 'overlap', message)
}

/**
 * Describes a response that no combination of alternatives explains in any world. It is another choice if the
 * specification leaves it open, a broken rule if an `x-rule` forbids it, and unexplained otherwise.
 */
export function describeUnexplained(
  context: JudgementContext,
  reading: ReadExchange,
  purpose: RequestPurpose,
  track: AccountTrack,
  { expected, open }: Explanation,
): JudgedDifference {
  const { results, variants } = context
  const { outcome } = reading
  const would = describeExpected(context, expected)
  const other = open && describeOpen(context, reading, would, open)
  if (other !== undefined) return other
  const rule = findBrokenRule(reading, purpose, track.knowledge, expected, variants)
  if (rule !== undefined) return results.describe(reading, 'broken rule', rule.id, `${rule.says} ${would}`, rule)
  const what = outcome.kind === 'refusal' ? outcome.code : 'data'
  const message = `${would} No choice and nothing that the account may hold explains it.`
  return results.describe(reading, 'unexplained', what, message)
}

/** Describes a response that the specification permits, although no alternative of openapi.yaml is like it. */
function describeOpen(
  { results, permitted }: JudgementContext,
  reading: ReadExchange,
  would: string,
  open: OpenPoint,
): JudgedDifference {
  const code = reading.outcome.kind === 'refusal' ? reading.outcome.code : 'success'
  if (open.kind === 'order of checks') {
    const message = `${would} More than one refusal applies to the request, and the specification gives no order of checks.`
    return results.describe(reading, 'another choice', `order/${code}`, message)
  }
  const { spec = '', place = '' } = permitted.assumptions.find(({ id }) => id === open.id) ?? {}
  const message = `${would} The specification leaves it open, and no alternative of ${open.id} is like it: ${spec}`
  const finding = results.describe(reading, 'another choice', `${open.id}/${code}`, message)
  return { ...finding, assumption: open.id, pointer: place, line: permitted.lineOf(place) }
}

/** What the stand-in would do, in a sentence; in each world that the account may be. */
function describeExpected({ variants: { contract } }: JudgementContext, expected: Explanation['expected']): string {
  const answers = new Map(expected.map((each) => [each.ok ? '' : each.code, each]))
  const [only, ...others] = answers.values()
  if (only === undefined) return ''
  if (others.length > 0) {
    const ways = [...answers.keys()].map((code) => (code === '' ? 'accept it' : `refuse it with ${code}`))
    return `By what is known of the account, the stand-in would ${ways.slice(0, 3).join(' or ')}.`
  }
  if (only.ok) return 'The stand-in would accept the request.'
  return `The stand-in would refuse the request with ${only.code}: ${contract.catalogue.answer(only.problems[0]).message}`
}
