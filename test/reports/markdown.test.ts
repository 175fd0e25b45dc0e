import { describe, expect, it } from 'vitest'
import { LONGEST_COMMENT } from '../../src/reports/markdown.ts'
import { finding, report } from './sample-report.ts'
import { write } from './structure.ts'

describe('the Markdown report', () => {
  it('tells what came out, what was found, and what to do', async () => {
    expect(await write('markdown', report())).toBe(`## dmarc-understudy run: npm test

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
`)
  })

  it('of a run that passed has no findings', async () => {
    const text = await write('markdown', report({ findings: [], sections: [], facts: [] }))
    expect(text).toBe('## dmarc-understudy run: npm test\n\n**✅ Passed.** No request violates the contract, of 12.\n')
  })

  it('fits a comment, and says how much is left out', async () => {
    const findings = Array.from({ length: 300 }, (_, index) =>
      finding({ level: index === 299 ? 'error' : 'warning', message: `Number ${index}.` }),
    )
    const text = await write('markdown', report({ findings }))
    expect(text.length).toBeLessThanOrEqual(LONGEST_COMMENT)
    expect(text.length).toBeGreaterThan(LONGEST_COMMENT - 2500)
    const shown = text.match(/^### (Error|Warning)/gm) ?? []
    expect(shown[0]).toBe('### Error')
    expect(text).toContain(`_Left out, because the text would be too long: ${300 - shown.length} warnings more.`)
    const blocks = [{ kind: 'text', text: 'x'.repeat(30_000) } as const]
    const sections = ['S0', 'S1', 'S2'].map((title) => ({ title, blocks }))
    expect(await write('markdown', report({ sections }))).toMatch(/### S1[\s\S]*too long: 1 more section\./)
  })
})
