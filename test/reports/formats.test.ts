import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { writeHtml } from '../../src/reports/html.ts'
import { writeJUnit } from '../../src/reports/junit.ts'
import { LONGEST_COMMENT, writeMarkdown } from '../../src/reports/markdown.ts'
import { SHOWN, summarise } from '../../src/reports/terminal.ts'
import { finding, report, reportOf } from './sample-report.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => finding({ message: `Number ${index}.` }))

describe('the summary on a terminal', () => {
  const lines = (value = report()) => summarise(value, false)

  it('says what was found, why, what to do, the facts, and at the end what came out', () => {
    expect(lines().join('\n')).toBe(`dmarc-understudy run: npm test

error  A field that the contract does not know  violation/unknown_field
  POST /domains → 400 unknown_field  openapi.yaml#/paths/~1domains/post  request 4be0643f-1d98-573b-97cd-ca98a65347dd
  The body has the field "domain", which the contract does not know.
  Send the list of domains as "domains".
  curl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'

Requests  12
Coverage  64 % of the responses
FAILED  1 request violates the contract, of 12.`)
  })

  it('of a run that passed is short, and has colours where they are shown', () => {
    const passed = report({ findings: [], facts: [] })
    expect(lines(passed)).toEqual([
      'dmarc-understudy run: npm test',
      '',
      'PASSED  No request violates the contract, of 12.',
    ])
    expect(summarise(passed, true).at(-1)).toBe('\u001b[32mPASSED\u001b[39m  No request violates the contract, of 12.')
  })

  it('says that a result is inconclusive, whatever the exit code is', () => {
    const results = [true, false].map((passed) => lines(report({ passed, isInconclusive: true })).at(-1))
    expect(results).toEqual(Array(2).fill(expect.stringMatching(/^INCONCLUSIVE {2}1 request violates/)))
  })

  it('names the worst findings and counts the rest', () => {
    const findings = [...many(14).map((each) => ({ ...each, level: 'warning' as const })), finding()]
    const text = lines(report({ findings }))
    expect(text.filter((line) => /^(error|warning)/.test(line))).toHaveLength(SHOWN)
    expect(text[2]).toMatch(/^error {2}/)
    expect(text).toContain('and 5 more (5 warnings); --report html=FILE shows all')
  })
})

describe('the Markdown report', () => {
  it('tells what came out, what was found, and what to do', () => {
    expect(writeMarkdown(report())).toBe(`## dmarc-understudy run: npm test

**❌ Failed.** 1 request violates the contract, of 12.

|  |  |
| --- | --- |
| Requests | 12 |
| Coverage | 64 % of the responses |

### Error: A field that the contract does not know

\`violation/unknown_field\` · \`POST /domains → 400 unknown_field\` · \`openapi.yaml#/paths/~1domains/post\` · \`request 4be0643f-1d98-573b-97cd-ca98a65347dd\`

The body has the field "domain", which the contract does not know.

The body holds only fields that the contract lists.

**Remedy:** Send the list of domains as "domains".

\`\`\`sh
curl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'
\`\`\`

<details><summary>Details</summary>

Body:

\`\`\`
{"domain":"example.com"}
\`\`\`

Response:

\`\`\`
{"error":{"code":"unknown_field"}}
\`\`\`

</details>

<details><summary>Coverage</summary>

|  | Operation | Responses seen |
| --- | --- | --- |
| ✅ | listDomains | 1 of 4 |
| ❌ | addDomains | 2 of 9 |
| ➖ | listDmarc | 0 of 3 |

</details>
`)
  })

  it('fits a comment, the worst first, and says how much is left out', () => {
    const findings = many(300).map((each, index) => ({ ...each, level: index === 299 ? 'error' : 'warning' }) as const)
    const text = writeMarkdown(report({ findings }))
    expect(text.length).toBeLessThanOrEqual(LONGEST_COMMENT)
    expect(text.length).toBeGreaterThan(LONGEST_COMMENT - 2500)
    const shown = text.match(/^### (Error|Warning)/gm) ?? []
    expect(shown[0]).toBe('### Error')
    expect(text).toContain(`_Left out, because the text would be too long: ${300 - shown.length} warnings more.`)
    const rows = [{ cells: ['x'.repeat(LONGEST_COMMENT)] }]
    expect(writeMarkdown(report({ table: { title: 'Long', columns: ['a'], rows } }))).toContain('too long: the table.')
  })
})

describe('the HTML report', () => {
  it('is the whole Markdown as a page, whose policy permits its own style alone', async () => {
    const page = await writeHtml(report({ findings: many(300) }))
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    for (const part of [
      '<title>Failed: dmarc-understudy run</title>',
      `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
      '<td>64 % of the responses</td>',
      '<h2>Error: A field that the contract does not know</h2>',
      '<p>Number 299.</p>',
      '<pre><code class="language-sh">curl -X POST http://127.0.0.1:4010',
      '<details><summary>Coverage</summary>',
      '<td>listDmarc</td>',
    ])
      expect(page).toContain(part)
    expect(page).not.toMatch(/<(script|link|img|iframe|object|base|form)\b|\b(src|href|style|on\w+)=|url\(|@import/)
  })
})

describe('the JUnit report', () => {
  it('has a test case for the whole and for each row, and a finding is the failure of its row', () => {
    const text = writeJUnit(report())
    for (const part of [
      '<testsuites name="dmarc-understudy run: npm test" tests="4" failures="1" errors="0" time="3.250">',
      '<testsuite name="run" tests="4" failures="1" errors="0" skipped="1" time="3.250" timestamp="2026-01-15T09:00:00">',
      '<property name="Coverage" value="64 % of the responses"/>',
      '<testcase name="npm test" classname="dmarc-understudy.run" time="0"><system-out>',
      '<testcase name="listDomains" classname="dmarc-understudy.run" time="0"><system-out>1 of 4',
      '<skipped>0 of 3</skipped>',
      '<failure message="The body has the field &quot;domain&quot;, which the contract does not know." type="violation/unknown_field">',
      'openapi.yaml#/paths/~1domains/post',
      'Send the list of domains as &quot;domains&quot;.',
    ])
      expect(text).toContain(part)
  })

  it('has one case for the findings of a kind at a request that is no row, which fails only for an error', () => {
    const request = { method: 'GET', path: '/dmarc' }
    const findings = [finding({ message: 'One.' }), finding({ level: 'note', message: 'Two.' })]
    const mild = finding({ level: 'warning', message: 'Mild.', request })
    const text = writeJUnit(report({ findings: [...findings, mild], table: undefined }))
    expect(text).toContain('<testsuites name="dmarc-understudy run: npm test" tests="3" failures="1"')
    expect(text).toMatch(/name="violation\/unknown_field at POST [^>]*><failure message="One\."[^<]*One\.[^<]*Two\./)
    expect(text).toMatch(/name="violation\/unknown_field at GET \/dmarc"[^>]*><system-out>[^<]*Mild\./)
  })

  it('fails as a whole where nothing else says why', () => {
    const text = writeJUnit(report({ findings: [], passed: false, summary: 'No request came.' }))
    expect(text).toContain('<failure message="No request came." type="failed">No request came.</failure>')
  })

  it('escapes what XML forbids', () => {
    expect(writeJUnit(reportOf('a\u0000\u001b\ud800b😀'))).toContain('a\\u0000\\u001b\\ud800b😀')
  })
})
