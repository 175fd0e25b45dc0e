import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { UsageError } from '../../src/cli/errors.ts'
import { readReplay } from '../../src/cli/plan-file.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { it } from '../support/program.ts'

const contract = await loadContract()
const RULE = { connection: 'reset' }

describe('A plan', () => {
  it.for<[plan: string, message: RegExp]>([
    ['{', /^--replay PLAN: This is not valid JSON: .+\.$/],
    ['', /^--replay PLAN: This is not valid JSON/],
    ['3', /^--replay PLAN: must hold a list of fault rules, a finding of explore, or a report of explore\.$/],
    ['{"findings": [{}]}', /^--replay PLAN: must hold a list of fault rules/],
    ['{"findings": []}', /^--replay PLAN: The report has no finding, so there is nothing to replay\.$/],
    ['[]', /^--replay PLAN: The plan has no fault rule\.$/],
    ['[{}]', /^--replay PLAN#\/0: .*must have one of the fields respond, connection/],
    ['[3]', /^--replay PLAN#\/0: /],
    [
      '{"plan": [{"connection": "reset"}, {"match": {"operation": "addDomain"}, "connection": "reset"}]}',
      /^--replay PLAN#\/plan\/1\/match\/operation: .*"addDomain"/,
    ],
    [
      '{"findings": [{"plan": [{"respond": {"error": "teapot"}}]}]}',
      /^--replay PLAN#\/findings\/0\/plan\/0\/respond\/error: .*not "teapot"\.$/,
    ],
  ])('%s is refused with its place', async ([plan, message], { folder }) => {
    const path = join(folder, 'plan.json')
    writeFileSync(path, plan)
    const error: Error = await readReplay(path, contract).then(
      () => expect.fail('The plan is accepted.'),
      (reason) => reason,
    )
    expect(error).toBeInstanceOf(UsageError)
    expect(error.message.replace(path, 'PLAN')).toMatch(message)
  })

  it.for<unknown>([[RULE], { plan: [RULE] }, { findings: [{ plan: [RULE] }, { plan: [] }] }])(
    'is read from %j, in a file and as JSON',
    async (content, { folder }) => {
      const path = join(folder, 'plan.json')
      const text = JSON.stringify(content)
      writeFileSync(path, text)
      expect(await readReplay(path, contract)).toEqual({ plan: [RULE] })
      expect(await readReplay(text, contract)).toEqual({ plan: [RULE] })
    },
  )

  it('has the quota window of a finding', async () => {
    const finding = { plan: [RULE], window: 5 }
    expect(await readReplay(JSON.stringify(finding), contract)).toEqual(finding)
    expect(await readReplay(JSON.stringify({ findings: [finding] }), contract)).toEqual(finding)
  })
})
