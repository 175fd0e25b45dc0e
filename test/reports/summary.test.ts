import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/reports/columns.ts'
import type { Report } from '../../src/reports/report.ts'
import { type SummaryScreen, summarise } from '../../src/reports/summary.ts'
import { HOSTILE } from './hostile-texts.ts'
import { finding, report, SURROUNDINGS } from './sample-report.ts'

const PIPE: SummaryScreen = { size: undefined, colours: false }
const SCREEN: SummaryScreen = { size: { columns: 80, rows: 24 }, colours: false }
const lines = (value: Report, screen = PIPE) => summarise(value, SURROUNDINGS.lineOf, screen)
const many = (count: number) => Array.from({ length: count }, (_, index) => finding({ message: `Number ${index}.` }))

describe('the summary', () => {
  it('says what was found, why, what to do, the facts, and at the end what came out', () => {
    expect(lines(report()).join('\n')).toBe(`dmarc-understudy run: npm test

error  A field that the contract does not know  violation/unknown_field
  POST /domains → 400 unknown_field  openapi.yaml:7  request 4be0643f-1d98-573b-97cd-ca98a65347dd
  The body has the field "domain", which the contract does not know.
  Send the list of domains as "domains".
  curl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'

Requests  12
Coverage  64 % of the responses
FAILED  1 request violates the contract, of 12.`)
  })

  it('of a run that passed is short', () => {
    expect(lines(report({ findings: [], facts: [] }))).toEqual([
      'dmarc-understudy run: npm test',
      '',
      'PASSED  No request violates the contract, of 12.',
    ])
    const [passed] = lines(report({ findings: [], facts: [] }), { ...PIPE, colours: true }).slice(-1)
    expect(passed).toBe('\u001b[32mPASSED\u001b[39m  No request violates the contract, of 12.')
  })

  it('of a run that tried too little says that it is inconclusive, whatever its exit code is', () => {
    for (const passed of [true, false]) {
      const [last] = lines(report({ findings: [], facts: [], passed, isInconclusive: true })).slice(-1)
      expect(last).toBe('INCONCLUSIVE  No request violates the contract, of 12.')
    }
  })

  it('names the ten worst findings and counts the rest', () => {
    const findings = [...many(14), finding({ rule: { id: 'w', name: 'Worst', description: '' } })].map((each, index) =>
      index === 14 ? each : { ...each, level: 'warning' as const },
    )
    const text = lines(report({ findings }))
    expect(text.filter((line) => /^(error|warning)/.test(line))).toHaveLength(10)
    expect(text[2]).toMatch(/^error {2}Worst/)
    expect(text).toContain('and 5 more (5 warnings); --report html=FILE shows all')
  })

  it('breaks long texts between words on a terminal, and never a command', () => {
    const command = `curl ${'x'.repeat(200)}`
    const long = finding({ message: 'word '.repeat(40), remedy: { text: 'Do.', command } })
    const text = lines(report({ findings: [long] }), SCREEN)
    expect(text).toContain(`  ${command}`)
    for (const line of text) if (!line.includes(command)) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('fits any usual screen, whatever the texts are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.constantFrom(...HOSTILE, '日本語'.repeat(60)),
    )
    const values = fc.record({
      columns: fc.integer({ min: 80, max: 200 }),
      rows: fc.integer({ min: 24, max: 60 }),
      text,
      findings: fc.array(text, { maxLength: 30 }),
      facts: fc.array(text, { maxLength: 8 }),
    })
    fc.assert(
      fc.property(values, ({ columns, rows, text, findings, facts }) => {
        const value = report({
          title: text,
          summary: text,
          findings: findings.map((message) => finding({ message, remedy: { text: message, command: message } })),
          facts: facts.map((each) => ({ name: each, value: each })),
        })
        const shown = lines(value, { size: { columns, rows }, colours: true })
        const height = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
        expect(height).toBeLessThanOrEqual(rows - 2)
        const counted = shown.filter((line) => line.startsWith('\u001b[31merror')).length
        const rest = /^and (\d+) more/.exec(shown.find((line) => line.startsWith('and ')) ?? '')?.[1] ?? 0
        expect(counted + Number(rest)).toBe(findings.length)
      }),
      { seed: 3 },
    )
  })
})
