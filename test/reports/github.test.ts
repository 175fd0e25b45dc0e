import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ANNOTATIONS, annotate, appendStepSummary, LARGEST_SUMMARY, withoutCommands } from '../../src/reports/github.ts'
import type { Report } from '../../src/reports/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { HOSTILE } from './hostile-texts.ts'
import { finding, report, SURROUNDINGS } from './sample-report.ts'

const lines = (value: Report) => annotate(value, SURROUNDINGS)

describe('the annotations', () => {
  it('are one line for each finding, with its place and its remedy', () => {
    expect(lines(report())).toEqual([
      '::error title=A field that the contract does not know,file=openapi.yaml,line=7::' +
        'POST /domains → 400 unknown_field: The body has the field "domain", which the contract does not know.' +
        '%0ASend the list of domains as "domains".' +
        `%0Acurl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'`,
    ])
  })

  it('have the level of the finding', () => {
    const findings = (['note', 'warning', 'error'] as const).map((level) => finding({ level }))
    expect(lines(report({ findings })).map((line) => line.split(' ')[0])).toEqual(['::error', '::warning', '::notice'])
  })

  it('are as many as a step shows, the worst first, and a last line counts the rest', () => {
    const levels = [...Array(30).fill('note'), ...Array(12).fill('warning'), ...Array(11).fill('error')]
    const all = lines(report({ findings: levels.map((level) => finding({ level })) }))
    const count = (start: string) => all.filter((line) => line.startsWith(`::${start} `)).length
    expect([count('error'), count('warning'), count('notice')]).toEqual([ANNOTATIONS, ANNOTATIONS, ANNOTATIONS])
    expect(all[0]).toMatch(/^::error /)
    expect(all.at(-1)).toBe(
      '::notice title=dmarc-understudy run::1 error, 2 warnings and 21 notes more; the summary of the step lists them.',
    )
  })

  it('say what failed where no finding does, and nothing where nothing failed', () => {
    expect(lines(report({ findings: [], passed: false, summary: 'No request came.' }))).toEqual([
      '::error title=dmarc-understudy run::No request came.',
    ])
    expect(lines(report({ findings: [] }))).toEqual([])
  })

  it('escape what would end a property or the line', () => {
    const rule = { id: 'x', name: 'a: b, c%\n::d', description: '' }
    const odd = finding({ rule, message: '50% ::x\r\ny,z', remedy: undefined, request: undefined })
    expect(lines(report({ findings: [odd] }))).toEqual([
      '::error title=a%3A b%2C c%25%0A%3A%3Ad,file=openapi.yaml,line=7::50%25 ::x%0Ay,z',
    ])
  })

  it.each(HOSTILE)('are one command with %j in every text', (text) => {
    const rule = { id: text, name: text, description: text }
    const all = lines(report({ findings: [finding({ rule, message: text, remedy: { text, command: text } })] }))
    expect(all).toHaveLength(1)
    const [, properties] = /^::error ([^\n\r]*?)::[^\n\r]*$/.exec(all[0] ?? '') ?? []
    expect(properties?.split(',').map((pair) => pair.split('=')[0])).toEqual(['title', 'file', 'line'])
  })
})

describe('a line of the log', () => {
  it.each([
    ['::error::x', ': :error::x'],
    ['  ::add-mask::x', '  : :add-mask::x'],
    ['a ##[error]b', 'a # #[error]b'],
    ['a ::b', 'a ::b'],
    ['POST /domains', 'POST /domains'],
  ])('is no command: %j', (line, expected) => {
    expect(withoutCommands(line)).toBe(expected)
  })
})

describe('the summary of the step', () => {
  it('is appended to what is there', async () => {
    const file = join(temporaryFolder(), 'summary')
    writeFileSync(file, '# Before\n')
    expect(await appendStepSummary(report(), SURROUNDINGS, file)).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toMatch(/^# Before\n\n## dmarc-understudy run: npm test\n/)
  })

  it('is never larger than a step can have, with what is there', async () => {
    const file = join(temporaryFolder(), 'summary')
    writeFileSync(file, 'x'.repeat(LARGEST_SUMMARY - 9000))
    const findings = Array.from({ length: 30 }, () => finding({ message: 'ü'.repeat(500) }))
    expect(await appendStepSummary(report({ findings }), SURROUNDINGS, file)).toBeUndefined()
    const text = readFileSync(file)
    expect(text.length).toBeLessThanOrEqual(LARGEST_SUMMARY)
    expect(text.toString()).toMatch(/Left out, because the text would be too long: 2\d errors more\..*\n$/)
  })

  it('says why it could not be written', async () => {
    const file = join(temporaryFolder(), 'summary')
    writeFileSync(file, 'x'.repeat(LARGEST_SUMMARY - 10))
    expect(await appendStepSummary(report(), SURROUNDINGS, file)).toBe('has no room left')
    expect(await appendStepSummary(report(), SURROUNDINGS, '/none/summary')).toBe('cannot be written (ENOENT)')
  })
})
