import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Report } from '../../src/reports/report.ts'
import { check, finding, report, reportOf } from './sample-report.ts'
import { write } from './structure.ts'

const htmlOf = (value: Report) => write('html', value)

describe('the HTML report', () => {
  it('tells what came out, each finding with its remedy, the sections and the checks', async () => {
    const page = await htmlOf(report())
    for (const part of [
      '<title>Failed: dmarc-understudy run: npm test</title>',
      '1 request violates the contract, of 12.',
      '<dt>Coverage</dt><dd>64 % of the responses</dd>',
      '<h3>A field that the contract does not know</h3>',
      'POST /domains → 400 unknown_field',
      'openapi.yaml:7 (/paths/~1domains/post)',
      'Send the list of domains as &#34;domains&#34;.',
      // What is different in a comparison is marked.
      '<code>{&#34;domain<mark>&#34;:&#34;example.com&#34;</mark>}</code>',
      '<code>{&#34;domain<mark>s&#34;:[&#34;example.com&#34;]</mark>}</code>',
      '<th scope="col">Responses seen</th>',
      '1 failed, 1 skipped, 1 passed',
      'It was never called.',
      'Made by dmarc-understudy 1.2.3 on 2026-01-15 at 09:00:00 UTC, in 3.3 s.',
    ])
      expect(page).toContain(part)
  })

  it('asks nobody for anything, and its policy permits its own style alone', async () => {
    const page = await htmlOf(report())
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;">`,
    )
    expect(page).not.toMatch(/<(script|link|img|iframe|object|base|form)\b|\b(src|href|style|on\w+)=|url\(|@import/)
  })

  it('shows characters that nobody could see', async () => {
    expect(await htmlOf(reportOf('a\u0000\u001b\u202e\ud800b😀'))).toContain('a\\u0000\\u001b\\u202e\\ud800b😀')
  })

  it('shows the worst findings first, and says where there is none', async () => {
    const findings = (['note', 'error', 'warning'] as const).map((level) => finding({ level }))
    const page = await htmlOf(report({ findings }))
    expect(page.match(/(?<=finding )(error|warning|note)(?=")/g)).toEqual(['error', 'warning', 'note'])
    expect(page).toContain('1 error, 1 warning and 1 note')
    const passed = await htmlOf(report({ findings: [], startedAt: undefined }))
    expect(passed).toContain('No findings')
    expect(passed).toContain('<span class="badge passed">Passed</span>')
  })

  it('folds a long list of checks, and shows those that failed first', async () => {
    const checks = Array.from({ length: 21 }, (_, index) => check({ outcome: index === 20 ? 'failed' : 'passed' }))
    const page = await htmlOf(report({ checks }))
    expect(page).toContain('<details><summary>1 failed, 20 passed</summary>')
    expect(page.indexOf('>failed</span>')).toBeLessThan(page.indexOf('>passed</span></td>'))
    expect(await htmlOf(report({ checks: checks.slice(1) }))).toContain('<details open>')
  })
})
