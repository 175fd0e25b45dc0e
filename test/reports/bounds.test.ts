import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BOUNDS, boundReport, cut } from '../../src/reports/bounds.ts'
import { annotate } from '../../src/reports/github.ts'
import { writeHtml } from '../../src/reports/html.ts'
import { writeJUnit } from '../../src/reports/junit.ts'
import { writeMarkdown } from '../../src/reports/markdown.ts'
import type { Report } from '../../src/reports/report.ts'
import { summarise } from '../../src/reports/terminal.ts'
import { finding, report, reportOf } from './sample-report.ts'

const unchanged = (text: string) => text

/** The report in every format. */
const everywhere = async (value: Report) => [
  JSON.stringify(value.json),
  writeJUnit(value),
  writeMarkdown(value),
  await writeHtml(value),
  summarise(value, false).join('\n'),
  annotate(value).join('\n'),
]

describe('a report within bounds', () => {
  it('that is small is the same in every format', async () => {
    expect(await everywhere(boundReport(report(), unchanged))).toEqual(await everywhere(report()))
  })

  it('has the worst of many findings, in their order, and says how many are left out', () => {
    const findings = Array.from({ length: BOUNDS.findings + 5 }, (_, index) =>
      finding({ level: index < 10 ? 'note' : 'error', message: `Number ${index}.` }),
    )
    const bounded = boundReport(report({ findings }), unchanged)
    expect(bounded.findings).toHaveLength(BOUNDS.findings)
    expect(bounded.findings.filter(({ level }) => level === 'note').map(({ message }) => message)).toEqual(
      [0, 1, 2, 3, 4].map((index) => `Number ${index}.`),
    )
    expect(bounded.facts.at(-1)).toEqual({ name: 'Findings left out', value: '5, because a report shows at most 1000' })
  })

  it('cuts long texts but for JSON, and says how much is left out', () => {
    const { findings, json } = boundReport(reportOf('x'.repeat(20_000)), unchanged)
    expect(findings[0]?.message).toBe(`${'x'.repeat(10_240)}… (9760 more characters)`)
    expect(json).toEqual({ said: ['x'.repeat(20_000)] })
  })

  it('cuts no character in half', () => {
    expect(cut('a😀b', 2)).toBe('a… (3 more characters)')
    const whole = fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, limit) => {
      expect(cut(text, limit)).not.toMatch(/[\ud800-\udfff]/u)
    })
    fc.assert(whole, { seed: 1 })
  })

  it('has no key in any format, wherever it was', async () => {
    const key = 'uk_live_0123456789abcdef'
    const [before, after] = [reportOf(`before ${key} after`), (text: string) => text.replaceAll(key, '[redacted]')]
    const escaped = /uk(_|\\_)live(_|\\_)0123456789abcdef/
    for (const text of await everywhere(before)) expect(text).toMatch(escaped)
    for (const text of await everywhere(boundReport(before, after))) {
      expect(text).not.toMatch(escaped)
      expect(text).toContain('redacted')
    }
  })

  it.each(['failed', 'e'])('keeps the words of this program if the key is %s', async (key) => {
    const whole = { ...reportOf('x'), json: { checks: [{ outcome: 'failed' }] } }
    const clean = boundReport(whole, (text) => text.replaceAll(key, '$KEY'))
    expect(clean.json).toEqual(whole.json)
    expect(clean.findings.map(({ level }) => level)).toEqual(whole.findings.map(({ level }) => level))
    await expect(everywhere(clean)).resolves.toHaveLength(6)
  })

  it('takes a field with any name for a field', () => {
    const json = JSON.parse('{"__proto__": {"polluted": true}}')
    expect(JSON.stringify(boundReport(report({ json }), unchanged).json)).toBe('{"__proto__":{"polluted":true}}')
    expect(Object.prototype).not.toHaveProperty('polluted')
  })
})
