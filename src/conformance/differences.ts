import type { Explanation } from '../choices/behaviour.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { AccountTrack } from './account-track.ts'
import { findBrokenRule } from './broken-rule.ts'
import type { JudgedDifference } from './finding.ts'
import type { Mismatch } from './list-comparison.ts'
import type { Means } from './means.ts'

export function reportDeviations(
  { gathered }: Means,
  reading: ReadExchange,
  { deviations, isAmbiguous, expected }: Explanation,
  report: (finding: JudgedDifference) => void,
): void {
  const all = Object.entries(deviations)
  if (all.length === 0) return
  const would = describeExpected(expected)
  if (isAmbiguous) {
    const names = all.map(([id, number]) => `${id}/${number}`).join(' and ')
    report(
      gathered.describe(
        reading,
        'cannot tell',
        names,
        `${would} More than one assumption explains the difference, among them ${names}.`,
      ),
    )
    return
  }
  for (const [id, number] of all) {
    const finding = gathered.describe(
      reading,
      'decides assumption',
      `${id}/${number}`,
      `${would} The service has chosen alternative ${number} of ${id}.`,
    )
    report({ ...finding, assumption: id, alternative: number })
  }
}

export function describeMismatch(
  { gathered, variants }: Means,
  reading: ReadExchange,
  { message, since, rule: id }: Mismatch,
): JudgedDifference {
  const { operations } = variants.contract
  const rule = operations.flatMap(({ rules }) => rules).find((each) => each.id === id)
  const by = `This contradicts ${since || 'an earlier response'}.`
  if (rule === undefined) return gathered.describe(reading, 'unexplained', 'state', `${message} ${by}`)
  return gathered.describe(
    reading,
    'broken rule',
    rule.id,
    `${rule.says} ${message}${since === '' ? '' : ` ${by}`}`,
    rule,
  )
}

export function changedByAnother(
  { gathered }: Means,
  reading: ReadExchange,
  { expected }: Explanation,
): JudgedDifference {
  const message = `${describeExpected(expected)} Another client may have changed the account.`
  return gathered.describe(reading, 'cannot tell', 'changed', message)
}

/** Describes a response that no choice and no state of the account explains. */
export function describeBreach(
  { gathered }: Means,
  reading: ReadExchange,
  purpose: RequestPurpose,
  track: AccountTrack,
  { expected }: Explanation,
): JudgedDifference {
  const { outcome } = reading
  const would = describeExpected(expected)
  const rule = findBrokenRule(reading, purpose, track.knowledge, expected)
  if (rule !== undefined) return gathered.describe(reading, 'broken rule', rule.id, `${rule.says} ${would}`, rule)
  const what = outcome.kind === 'refusal' ? outcome.code : 'data'
  return gathered.describe(
    reading,
    'unexplained',
    what,
    `${would} No choice and nothing that the account may hold explains it.`,
  )
}

function describeExpected(expected: Explanation['expected']): string {
  const [first] = expected
  if (first === undefined) return ''
  const answers = new Set(expected.map((each) => (each.ok ? 'a success' : each.code)))
  return `Expected ${[...answers].slice(0, 3).join(' or ')}.`
}
