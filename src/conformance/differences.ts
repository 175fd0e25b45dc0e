import type { Explanation } from '../choices/explainer.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { AccountTrack } from './account-track.ts'
import { findBrokenRule } from './broken-rule.ts'
import type { JudgementContext } from './context.ts'
import type { JudgedDifference } from './finding.ts'
import type { Mismatch } from './list-comparison.ts'

export function reportDeviations(
  { results }: JudgementContext,
  reading: ReadExchange,
  { deviations, isAmbiguous, expected }: Explanation,
  report: (finding: JudgedDifference) => void,
): void {
  const all = Object.entries(deviations)
  if (all.length === 0) return
  const would = describeExpected(expected)
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

export function changedByAnother(
  { results }: JudgementContext,
  reading: ReadExchange,
  { expected }: Explanation,
): JudgedDifference {
  const message = `${describeExpected(expected)} Another client may have changed the account.`
  return results.describe(reading, 'cannot tell', 'changed', message)
}

/** Of requests that overlap, it is not known in which order the service handled them. */
export function orderUnknown({ results }: JudgementContext, reading: ReadExchange): JudgedDifference {
  const message = 'Another request that may change the account was in progress, so it is not known what came first.'
  return results.describe(reading, 'cannot tell', 'overlap', message)
}

/** Describes a response that no choice and no state of the account explains. */
export function describeBreach(
  { results }: JudgementContext,
  reading: ReadExchange,
  purpose: RequestPurpose,
  track: AccountTrack,
  { expected }: Explanation,
): JudgedDifference {
  const { outcome } = reading
  const would = describeExpected(expected)
  const rule = findBrokenRule(reading, purpose, track.knowledge, expected)
  if (rule !== undefined) return results.describe(reading, 'broken rule', rule.id, `${rule.says} ${would}`, rule)
  const what = outcome.kind === 'refusal' ? outcome.code : 'data'
  const message = `${would} No choice and nothing that the account may hold explains it.`
  return results.describe(reading, 'unexplained', what, message)
}

function describeExpected(expected: Explanation['expected']): string {
  const [first] = expected
  if (first === undefined) return ''
  const answers = new Set(expected.map((each) => (each.ok ? 'a success' : each.code)))
  return `Expected ${[...answers].slice(0, 3).join(' or ')}.`
}
