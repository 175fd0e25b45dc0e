import { expect } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import type { Row } from './corpus.ts'
import { explain, type Played, sendPlanned } from './play.ts'

/** Rows whose explanation names something open that does not matter here, because a second choice hides it. */
const SAYS_MORE = ['delete-domain-group: an empty id', 'update-domain-group: an empty id', 'other-requests: HEAD']

/**
 * Holds the explanation of an answer to its row: the rules that decide, nothing open that does not, and a request that is accepted
 * instead, which is sent.
 */
export async function expectExplanation(row: Row, played: Played): Promise<void> {
  const explanation = await explain(played)
  const { rules, assumptions, status, code, problems, correction, documented } = explanation
  expect({ status, code, rules: rules.map(({ id }) => id).sort() }).toEqual({
    status: row.answer.status,
    code: row.answer.code ?? null,
    rules: [...row.rules].sort(),
  })
  const open = assumptions.map(({ id }) => id).filter((id) => !id.startsWith('status-'))
  if (!SAYS_MORE.includes(row.id)) expect(row.open).toEqual(expect.arrayContaining(open))
  expect(documented).toBe(assumptions.length === 0)
  if (code === null) {
    expect(correction).toBeNull()
    return
  }
  expect(problems.length === 0 || problems[0]?.code === code).toBe(true)
  expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(problems.length)
  const [, told = '0'] = /(One|\d+) more problems? would remain/.exec(explanation.summary) ?? []
  expect(told === 'One' ? 1 : Number(told)).toBe(Math.max(0, problems.length - 1))
  if (row.others !== undefined) expect(problems).toHaveLength(1 + row.others)
  expect(correction?.changes.join('\n')).not.toMatch(/Nothing:|undefined|NaN/)
  if (row.corrected !== undefined) expect(requestOf(explanation, played)).toBe(row.corrected)
  if (row.changes !== undefined) expect(correction?.changes).toEqual(row.changes)
  // The correction of a request of nobody is for the account that everybody has.
  if (explanation.account === null) return
  const accepted = await sendPlanned(played, (correction?.requests ?? []) as PlannedRequest[])
  expect(accepted?.status, JSON.stringify(correction?.requests)).toBeLessThan(300)
}

/** A corrected request as the corpus writes it. */
function requestOf({ correction }: ExplanationReport, { service }: Played): string {
  const { method = '', path = '', body = null } = correction?.request ?? {}
  const below = path.slice(service.contract.basePath.length)
  const id = correction?.before.length === 0 ? below : below.replace(/(?<=id=)\w+/, '{new}')
  return [method, id, ...(body === null ? [] : [body])].join(' ')
}
