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
  const baseline = { findings: [KNOWN, GONE, UNSEEN].map((id) => ({ id, reason: 'told' })) }

  it('accepts every finding with the id of an entry, and leaves the others open', () => {
    const findings = [
      { id: KNOWN, at: 1 },
      { id: 'broken-rule/listDomains/200/data', at: 2 },
      { id: KNOWN, at: 3 },
    ]
    const { open, accepted } = applyBaseline(findings, looked, baseline, TODAY)
    expect(open.map(({ at }) => at)).toEqual([2])
    expect(accepted.map(({ finding, entry }) => [finding.at, entry.reason])).toEqual([
      [1, 'told'],
      [3, 'told'],
    ])
  })

  it('calls an entry fixed only if the operation answered with its status in this run', () => {
    const { entries } = applyBaseline([{ id: KNOWN }], looked, baseline, TODAY)
    expect(entries.map(({ state }) => state)).toEqual(['accepted', 'fixed', 'not looked at'])
  })

  it.each([
    ['2026-03-10', 'accepted', 0],
    ['2026-03-09', 'expired', 1],
  ])('on 2026-03-10, an entry until %s is %s', (expires, state, count) => {
    const expiring = { findings: [{ id: KNOWN, reason: 'told', expires }] }
    const { entries, open } = applyBaseline([{ id: KNOWN }], looked, expiring, TODAY)
    expect(entries.map((each) => each.state)).toEqual([state])
    expect(open).toHaveLength(count)
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
