import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ANNOTATIONS, annotate, appendStepSummary, LARGEST_SUMMARY, withoutCommands } from '../../src/reports/github.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { finding, report } from './sample-report.ts'

describe('the annotations', () => {
  it('are one line for each finding, with its request and its remedy', () => {
    expect(annotate(report())).toEqual([
      '::error title=A field that the contract does not know::' +
        'POST /domains → 400 unknown_field: The body has the field "domain", which the contract does not know.' +
        '%0ASend the list of domains as "domains".' +
        `%0Acurl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'`,
    ])
  })

  it('are as many as a step shows, the worst first, and a last line counts the rest', () => {
    const levels = [...Array(30).fill('note'), ...Array(12).fill('warning'), ...Array(11).fill('error')]
    const all = annotate(report({ findings: levels.map((level) => finding({ level })) }))
    const count = (start: string) => all.filter((line) => line.startsWith(`::${start} `)).length
    expect([count('error'), count('warning'), count('notice')]).toEqual([ANNOTATIONS, ANNOTATIONS, ANNOTATIONS])
    expect(all[0]).toMatch(/^::error /)
    expect(all.at(-1)).toBe(
      '::notice title=dmarc-understudy run::1 error, 2 warnings, 21 notes more; the summary of the step lists them.',
    )
  })

  it('say what failed where no finding does, and nothing where nothing failed', () => {
    expect(annotate(report({ findings: [], passed: false, summary: 'No request came.' }))).toEqual([
      '::error title=dmarc-understudy run::No request came.',
    ])
    expect(annotate(report({ findings: [] }))).toEqual([])
  })

  it('escape what would end a property or the line', () => {
    const rule = { id: 'x', name: 'a: b, c%\n::d', description: '' }
    const odd = finding({ rule, message: '50% ::x\r\ny,z', remedy: undefined, request: undefined })
    expect(annotate(report({ findings: [odd] }))).toEqual(['::error title=a%3A b%2C c%25%0A%3A%3Ad::50%25 ::x%0Ay,z'])
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
  const append = async (before: string, value = report()) => {
    const file = join(temporaryFolder(), 'summary')
    writeFileSync(file, before)
    const problem = await appendStepSummary(value, file)
    return { problem, text: readFileSync(file, 'utf8') }
  }

  it('is appended to what is there, and never larger than a step can have', async () => {
    const { problem, text } = await append('# Before\n')
    expect({ problem, text }).toEqual({
      text: expect.stringMatching(/^# Before\n\n## dmarc-understudy run: npm test\n/),
    })
    const findings = Array.from({ length: 30 }, () => finding({ message: 'ü'.repeat(500) }))
    const long = await append('x'.repeat(LARGEST_SUMMARY - 9000), report({ findings }))
    expect(Buffer.byteLength(long.text)).toBeLessThanOrEqual(LARGEST_SUMMARY)
    expect(long.text).toMatch(/Left out, because the text would be too long: 2\d errors more\..*\n$/)
  })

  it('says why it could not be written', async () => {
    expect((await append('x'.repeat(LARGEST_SUMMARY - 10))).problem).toBe('has no room left')
    expect(await appendStepSummary(report(), '/none/summary')).toBe('cannot be written (ENOENT)')
  })
})
