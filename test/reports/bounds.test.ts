import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BOUNDS, boundReport, cut } from '../../src/reports/bounds.ts'
import { FORMAT_NAMES } from '../../src/reports/formats.ts'
import { annotate } from '../../src/reports/github.ts'
import type { Report } from '../../src/reports/report.ts'
import { summarise } from '../../src/reports/summary.ts'
import { check, finding, report, reportOf, SURROUNDINGS } from './sample-report.ts'
import { write } from './structure.ts'

const KEY = 'uk_live_0123456789abcdef'

const unchanged = (text: string) => text

/** The report in every format, with what goes to a terminal. */
async function everywhere(value: Report): Promise<string[]> {
  return [
    ...(await Promise.all(FORMAT_NAMES.map((name) => write(name, value)))),
    summarise(value, SURROUNDINGS.lineOf, { size: undefined, colours: false }).join('\n'),
    annotate(value, SURROUNDINGS).join('\n'),
  ]
}

describe('a report within bounds', () => {
  it('that is small is the same in every format', async () => {
    expect(await everywhere(boundReport(report(), unchanged))).toEqual(await everywhere(report()))
  })

  it('has the worst of many findings, in their order, and says how many are left out', () => {
    const findings = Array.from({ length: BOUNDS.findings + 5 }, (_, index) =>
      finding({ level: index < 10 ? 'note' : 'error', message: `Number ${index}.` }),
    )
    const bounded = boundReport(report({ findings, checks: [check({ outcome: 'failed', findings })] }), unchanged)
    expect(bounded.findings).toHaveLength(BOUNDS.findings)
    expect(bounded.findings.filter(({ level }) => level === 'note').map(({ message }) => message)).toEqual(
      [0, 1, 2, 3, 4].map((index) => `Number ${index}.`),
    )
    expect(bounded.facts.at(-1)).toEqual({ name: 'Findings left out', value: '5, because a report shows at most 1000' })
    expect(bounded.checks[0]?.findings).toHaveLength(BOUNDS.findings)
  })

  it('has so many checks and rows, and says how many are left out', () => {
    const checks = Array.from({ length: BOUNDS.checks + 1 }, (_, index) =>
      check({ id: `${index}`, outcome: index === BOUNDS.checks ? 'failed' : 'passed' }),
    )
    const rows = Array.from({ length: BOUNDS.rows + 7 }, (_, index) => [`${index}`])
    const sections = [{ title: 'Rows', blocks: [{ kind: 'table', columns: ['a'], rows } as const] }]
    const bounded = boundReport(report({ checks, sections }), unchanged)
    expect(bounded.checks).toHaveLength(BOUNDS.checks)
    expect(bounded.checks.at(-1)?.outcome).toBe('failed')
    expect(bounded.facts.at(-1)).toEqual({ name: 'Checks left out', value: '1, because a report shows at most 10000' })
    expect(bounded.sections[0]?.blocks[0]).toMatchObject({
      rows: expect.objectContaining({ length: BOUNDS.rows + 1, [BOUNDS.rows]: ['… and 7 more rows'] }),
    })
  })

  it('cuts long texts, code later than words, and says how much is left out', () => {
    const long = report({ ...reportOf('x'.repeat(20_000)), json: 'y'.repeat(20_000) })
    const { findings, json } = boundReport(long, unchanged)
    expect(findings[0]?.message).toBe(`${'x'.repeat(4000)}… (16000 more characters)`)
    expect(findings[0]?.request?.body).toBe(`${'x'.repeat(10_240)}… (9760 more characters)`)
    expect(findings[0]?.details?.[2]).toMatchObject({ text: expect.stringMatching(/^x{10240}…/) })
    expect(json).toHaveLength(20_000)
  })

  it('cuts no character in half', () => {
    expect(cut('a😀b', 2)).toBe('a… (3 more characters)')
    const whole = fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, limit) => {
      expect(cut(text, limit)).not.toMatch(/[\ud800-\udfff]/u)
    })
    fc.assert(whole, { seed: 1 })
  })

  it('has no key in any format, wherever it was', async () => {
    const withKey = { ...reportOf(`before ${KEY} after`), json: { body: [KEY] } }
    expect((await everywhere(withKey)).every((text) => text.includes(KEY))).toBe(true)
    const clean = boundReport(withKey, (text) => text.replaceAll(KEY, '[redacted]'))
    for (const text of await everywhere(clean)) {
      expect(text).not.toContain(KEY)
      expect(text).toContain('redacted')
    }
  })

  it.each(['failed', 'note', 'outcome', 'e'])('keeps the words of this program if the key is %s', async (key) => {
    const whole = { ...reportOf('x'), json: { checks: [{ outcome: 'failed' }] } }
    const clean = boundReport(whole, (text) => text.replaceAll(key, '$KEY'))
    expect(clean.json).toEqual(whole.json)
    expect(clean.findings.map(({ level }) => level)).toEqual(whole.findings.map(({ level }) => level))
    await expect(everywhere(clean)).resolves.toHaveLength((await everywhere(whole)).length)
  })

  it('takes a field with any name for a field', () => {
    const json = JSON.parse('{"__proto__": {"polluted": true}}')
    expect(JSON.stringify(boundReport(report({ json }), unchanged).json)).toBe('{"__proto__":{"polluted":true}}')
    expect(Object.prototype).not.toHaveProperty('polluted')
  })
})
