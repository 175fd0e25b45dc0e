import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  applyBaseline,
  type Baseline,
  lookedAt,
  readBaseline,
  updateBaseline,
  writeBaseline,
} from '../../src/evidence/baseline.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const TODAY = '2026-03-10'
const KNOWN = 'contract-violation/listDomains/200/response/data/domains'
const GONE = 'broken-rule/listDmarc/200/one-record-per-domain'
const UNSEEN = 'contract-violation/addDomains/400/response/error'
type Entry = Baseline['findings'][number]
const looked = lookedAt({ counts: new Map(['listDomains/200', 'listDmarc/200'].map((answer) => [answer, 1])) })

describe('applyBaseline', () => {
  it('accepts every finding with the id of an entry, which is fixed only if the run looked at its subject', () => {
    const baseline = { findings: [KNOWN, GONE, UNSEEN].map((id) => ({ id, reason: 'told' })) }
    const findings = [KNOWN, 'broken-rule/listDomains/200/data', KNOWN].map((id) => ({ id }))
    const { accepted, entries } = applyBaseline(findings, looked, baseline, TODAY)
    expect([...accepted]).toEqual([[KNOWN, baseline.findings[0]]])
    expect(entries.map(({ state }) => state)).toEqual(['accepted', 'fixed', 'not looked at'])
  })

  it.each([
    ['2026-03-10', 'accepted', 1],
    ['2026-03-09', 'expired', 0],
  ])('on 2026-03-10, an entry until %s is %s', (expires, state, count) => {
    const expiring = { findings: [{ id: KNOWN, reason: 'told', expires }] }
    const { entries, accepted } = applyBaseline([{ id: KNOWN }], looked, expiring, TODAY)
    expect([entries.map((each) => each.state), accepted.size]).toEqual([[state], count])
  })
})

describe('updateBaseline', () => {
  it('keeps reasons and days, adds what is new, and removes only what was looked at and is gone', () => {
    const known = { id: KNOWN, reason: 'told', expires: '2026-01-01' }
    const [gone, unseen] = [GONE, UNSEEN].map((id) => ({ id, reason: 'told' })) as [Entry, Entry]
    const id = 'broken-rule/listDmarc/200/data'
    const after = updateBaseline([{ id: KNOWN }, { id }, { id }], looked, { findings: [known, gone, unseen] })
    expect(after.findings).toEqual([known, unseen, { id, reason: 'to be decided' }])
  })
})

describe('a baseline file', () => {
  it('is read as it was written', async () => {
    const file = join(temporaryFolder(), 'baseline.json')
    const baseline = { findings: [{ id: KNOWN, reason: 'told', expires: '2028-02-29' }] }
    await writeBaseline(file, baseline)
    expect(await readBaseline(file)).toEqual(baseline)
    expect(readFileSync(file, 'utf8').endsWith('}\n')).toBe(true)
  })

  const entries = (...all: object[]) => JSON.stringify({ findings: all })
  const expiring = (expires: string) => entries({ id: 'a', reason: 'b', expires })

  it.each([
    ['nonsense', 'This is not valid JSON'],
    ['[]', 'A baseline is an object: {"findings": [{"id", "reason"}]}.'],
    [entries({ id: 'a' }), '#/findings/0/reason: The value is missing.'],
    [expiring('2026-02-30'), '#/findings/0/expires: There is no day 2026-02-30.'],
    [
      entries({ id: 'a', reason: 'b' }, { id: 'a', reason: 'c' }),
      '#/findings/1/id: The finding a is there twice, also at 0.',
    ],
  ])('%s is refused', async (text, message) => {
    const file = join(temporaryFolder(), 'baseline.json')
    writeFileSync(file, text)
    await expect(readBaseline(file)).rejects.toThrow(message)
  })
})
