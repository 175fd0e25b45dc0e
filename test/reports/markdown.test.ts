import fc from 'fast-check'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, it } from 'vitest'
import { printable } from '../../src/ground/show.ts'
import { code, escapeText, LONGEST_COMMENT, writeMarkdownReport } from '../../src/reports/markdown.ts'
import type { Report } from '../../src/reports/report.ts'
import { HOSTILE } from './hostile-texts.ts'
import { finding, report, reportOf, SURROUNDINGS } from './sample-report.ts'

const render = (markdown: string) =>
  micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true })

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
/** What a reader sees of HTML that has no elements. */
const read = (html: string) =>
  html.replaceAll(/&(\w+);/g, (_, name: string) => ENTITIES[name] ?? '?').replaceAll('\u200b', '')

const write = async (value: Report) => writeMarkdownReport(value, SURROUNDINGS)
const ANY = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'ab12`|\\*_~<>&@#[]()!:/. \n-+=') }),
)

describe('a text in Markdown', () => {
  it.each(HOSTILE)('looks as it is written: %j', (text) => {
    const shown = printable(text.replaceAll(/\s+/g, ' ').trim())
    expect(read(render(escapeText(text)))).toBe(`<p>${shown}</p>`)
  })

  it('is nothing but a text, whatever it is', () => {
    fc.assert(
      fc.property(ANY, (text) => {
        const html = render(`x ${escapeText(text)} x`)
        expect(html.replaceAll(/&\w+;/g, '')).toMatch(/^<p>[^<>]*<\/p>$/)
      }),
    )
  })

  it.each([
    ...HOSTILE,
    ...['- item', '+ item', '1. item', '1) item', '# heading', '> quote', '===', '---', '***', '    code'],
  ])('begins a line of its own without being more than a text: %j', (text) => {
    expect(render(`above\n\n${escapeText(text)}\n\nbelow`)).toMatch(/^<p>above<\/p>\n<p>[^<>]*<\/p>\n<p>below<\/p>$/)
  })

  it.each([
    ['@octocat', '@&#8203;octocat'],
    ['a@b', 'a@&#8203;b'],
    ['#12', '\\#&#8203;12'],
    ['GH-7', 'GH\\-&#8203;7'],
    ['gh-7', 'gh\\-&#8203;7'],
    [':tada:', '&#58;tada:'],
    ['https://a.example', 'https&#58;//a.example'],
    ['WWW.a.example', 'WWW&#46;a.example'],
  ])('names nobody and refers to nothing: %j', (text, escaped) => {
    expect(escapeText(text)).toBe(escaped)
  })

  it('in code is code, whatever it is', () => {
    fc.assert(
      fc.property(ANY, (text) => {
        if (text.trim() === '') return
        expect(render(`x ${code(text)} x`)).toMatch(/^<p>x <code>[^<>]*<\/code> x<\/p>$/)
      }),
    )
  })
})

describe('the Markdown report', () => {
  it('tells what came out, what was found, and what to do', async () => {
    expect(await write(report())).toMatchInlineSnapshot(`
      "## dmarc-understudy run: npm test

      **❌ Failed.** 1 request violates the contract, of 12.

      |  |  |
      | --- | --- |
      | Requests | 12 |
      | Coverage | 64 % of the responses |

      ### Error: A field that the contract does not know

      \`violation/unknown_field\` · \`POST /domains → 400 unknown_field\` · \`openapi.yaml:7\` · request \`4be0643f-1d98-573b-97cd-ca98a65347dd\`

      The body has the field "domain", which the contract does not know.

      **Remedy:** Send the list of domains as "domains".

      \`\`\`sh
      curl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'
      \`\`\`

      <details><summary>Details</summary>

      Body:

      \`\`\`
      {"domain":"example.com"}
      \`\`\`

      The specification names one field.

      Expected:

      \`\`\`
      {"domains":["example.com"]}
      \`\`\`

      Received:

      \`\`\`
      {"domain":"example.com"}
      \`\`\`

      </details>

      ### Coverage

      | Operation | Responses seen |
      | --- | --- |
      | listDomains | 1 of 4 |
      | addDomains | 2 of 9 |
      "
    `)
  })

  it('of a run that passed has no findings', async () => {
    const text = await write(report({ findings: [], sections: [], facts: [] }))
    expect(text).toBe('## dmarc-understudy run: npm test\n\n**✅ Passed.** No request violates the contract, of 12.\n')
  })

  it.each(HOSTILE)('has no other elements with %j in every text', async (text) => {
    const html = render(await write(reportOf(text)))
    const tags = new Set([...html.matchAll(/<\/?([a-z][a-z0-9]*)([^>]*)>/gi)].map(([, name, rest]) => `${name}${rest}`))
    const known = 'h2 h3 p strong code pre table thead tbody tr th td ul li em details summary'.split(' ')
    expect([...tags].filter((tag) => !known.includes(tag) && tag !== 'code class="language-sh"')).toEqual([])
    expect(html.match(/<details>/g)).toHaveLength(2)
    expect(html.match(/<pre>/g)).toHaveLength(10)
    expect(html.match(/<table>/g)).toHaveLength(3)
  })

  it('fits a comment, and says how much is left out', async () => {
    const findings = Array.from({ length: 300 }, (_, index) =>
      finding({ level: index === 299 ? 'error' : 'warning', message: `Number ${index}.` }),
    )
    const text = await write(report({ findings }))
    expect(text.length).toBeLessThanOrEqual(LONGEST_COMMENT)
    expect(text.length).toBeGreaterThan(LONGEST_COMMENT - 2500)
    const shown = text.match(/^### (Error|Warning)/gm) ?? []
    expect(shown[0]).toBe('### Error')
    expect(text).toContain(`_Left out, because the text would be too long: ${300 - shown.length} warnings more.`)
  })

  it('leaves out sections that do not fit', async () => {
    const sections = Array.from({ length: 3 }, (_, index) => ({
      title: `S${index}`,
      blocks: [{ kind: 'text', text: 'x'.repeat(30_000) } as const],
    }))
    const text = await write(report({ sections }))
    expect(text.length).toBeLessThanOrEqual(LONGEST_COMMENT)
    expect(text).toContain('### S1')
    expect(text).toContain('too long: 1 more section.')
  })
})
