import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { html, writeHtmlReport } from '../../src/reports/html.ts'
import { STYLE } from '../../src/reports/html-style.ts'
import type { Report } from '../../src/reports/report.ts'
import { HOSTILE } from './hostile-texts.ts'
import { check, finding, report, reportOf, SURROUNDINGS } from './sample-report.ts'

const write = async (value: Report) => writeHtmlReport(value, SURROUNDINGS)
/** Every tag, with its attributes but for the values of those that hold words. */
const tagsOf = (page: string) =>
  (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/ (aria-label|content)="[^"]*"/g, ' $1'))

describe('a text in HTML', () => {
  it('is escaped, and markup that was made in the same way is not', () => {
    const inner = html`<b title="${'"'}">${'<i>&'}</b>`
    expect(html`${inner} ${['<', inner]} ${7} ${undefined}`.html).toBe(
      '<b title="&#34;">&#60;i>&#38;</b> &#60;<b title="&#34;">&#60;i>&#38;</b> 7 '.replaceAll('i>', 'i&#62;'),
    )
  })

  it('has no character that could end it, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(html`${text}`.html).not.toMatch(/[<>"']|&(?!#\d+;)/)
      }),
    )
  })

  it('shows what nobody could see', () => {
    expect(html`${'a\u0000\u001b\u202e\ud800\tb\n😀'}`.html).toBe('a\\u0000\\u001b\\u202e\\ud800\tb\n😀')
  })
})

describe('the HTML report', () => {
  it('tells what came out, each finding with its remedy, the sections and the checks', async () => {
    const page = await write(report())
    for (const part of [
      '<title>Failed: dmarc-understudy run: npm test</title>',
      '1 request violates the contract, of 12.',
      '<dt>Coverage</dt><dd>64 % of the responses</dd>',
      '<h3>A field that the contract does not know</h3>',
      'POST /domains → 400 unknown_field',
      'openapi.yaml:7 (/paths/~1domains/post)',
      'Send the list of domains as &#34;domains&#34;.',
      '<th scope="col">Responses seen</th>',
      '1 failed, 1 skipped, 1 passed',
      'It was never called.',
      'Made by dmarc-understudy 1.2.3 on 2026-01-15 at 09:00:00 UTC, in 3.3 s.',
    ]) {
      expect(page).toContain(part)
    }
  })

  it('asks nobody for anything, and its policy permits its own style alone', async () => {
    const page = await write(report())
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;">`,
    )
    expect(page).not.toMatch(/<(script|link|img|iframe|object|base|form)\b|\b(src|href|style|on\w+)=|url\(|@import/)
  })

  it.each(HOSTILE)('has the elements of a harmless report with %j in every text', async (text) => {
    expect(tagsOf(await write(reportOf(text)))).toEqual(tagsOf(await write(reportOf('harmless'))))
  })

  it('marks what is different in a comparison', async () => {
    expect(await write(report())).toContain('<code>{&#34;domain<mark>&#34;:&#34;example.com&#34;</mark>}</code>')
    expect(await write(report())).toContain('<code>{&#34;domain<mark>s&#34;:[&#34;example.com&#34;]</mark>}</code>')
  })

  it('of a run that passed says so', async () => {
    const page = await write(report({ findings: [], checks: [], sections: [], facts: [], startedAt: undefined }))
    expect(page).toContain('No findings')
    expect(page).toContain('<span class="badge passed">Passed</span>')
    expect(page).not.toContain('<table>')
  })

  it('shows the worst findings first', async () => {
    const findings = (['note', 'error', 'warning'] as const).map((level) => finding({ level }))
    const page = await write(report({ findings }))
    expect(page.match(/(?<=finding )(error|warning|note)(?=")/g)).toEqual(['error', 'warning', 'note'])
    expect(page).toContain('1 error, 1 warning and 1 note')
  })

  it('folds a long list of checks, and shows those that failed first', async () => {
    const checks = Array.from({ length: 21 }, (_, index) => check({ outcome: index === 20 ? 'failed' : 'passed' }))
    const page = await write(report({ checks }))
    expect(page).toContain('<details><summary>1 failed, 20 passed</summary>')
    expect(page.indexOf('>failed</span>')).toBeLessThan(page.indexOf('>passed</span></td>'))
    expect(await write(report({ checks: checks.slice(1) }))).toContain('<details open>')
  })
})

/** By name, the colours that a style sheet defines. */
function coloursOf(style: string): Record<string, string> {
  return Object.fromEntries(
    [...style.matchAll(/(--[\w-]+): (light-dark\([^)]*\))/g)].map(([, name, value]) => [name, value]),
  )
}

it('The HTML report has the colours of the dashboard', () => {
  const dashboard = coloursOf(readFileSync(new URL('../../src/dashboard/style/base.css', import.meta.url), 'utf8'))
  const report = coloursOf(STYLE)
  expect(Object.keys(report).length).toBeGreaterThan(5)
  expect(dashboard).toMatchObject(report)
})
