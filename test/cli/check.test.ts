import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import type { EvidenceReport } from '../../src/evidence/report.ts'
import type { Json } from '../../src/ground/json.ts'
import { type ExchangeRequest, exchangeWith } from '../support/exchanges.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryFrom, entryOf, harOf, RECORDED_AT } from '../support/recorded.ts'
import { expectReport } from '../support/report-schema.ts'
import { openService } from '../support/service.ts'

const SESSION: readonly ExchangeRequest[] = [
  { path: '/domains' },
  { path: '/domains', method: 'POST', body: { domains: ['a.example', 'b.example'] } },
  { path: '/domains' },
  { path: '/domaingroups', method: 'POST', body: { name: 'Lamps', domains: ['a.example'] } },
  { path: '/domaingroups' },
  { path: '/domains', method: 'DELETE', body: { domains: ['b.example'] } },
  { path: '/domaingroups?id=unknown' },
]
const service = await openService()
afterAll(service.stop)
const traffic: Json[] = []
for (const [index, asked] of SESSION.entries()) {
  traffic.push(entryFrom(await exchangeWith(service.baseUrl, { ...asked, at: RECORDED_AT + 1000 * index })))
}
/** A request without a key, which was answered. */
const wrong = entryOf({ after: 9000, request: { headers: [{ name: 'host', value: 'dmarc.example' }] } })

/** Checks recordings of these texts; resolves to how it ended, and to its JSON report. */
async function check(folder: string, texts: readonly string[], ...args: string[]) {
  const files = texts.map((text, index) => {
    const file = join(folder, `${index + 1}.har`)
    writeFileSync(file, text)
    return file
  })
  const json = join(folder, 'report.json')
  const result = await runInProcess(['check', ...files, ...args, '--report', `json=${json}`])
  const report: EvidenceReport = JSON.parse(readFileSync(json, 'utf8'))
  return { ...result, report }
}

describe('check', () => {
  it('passes what the stand-in itself has answered, in several files, and says how much of it was judged', async ({
    folder,
  }) => {
    const evidence = join(folder, 'evidence.json')
    const texts = [harOf(traffic.slice(4)), harOf(traffic.slice(0, 4))]
    const { code, stdout, stderr, report } = await check(folder, texts, '--sole-writer', '--evidence', evidence)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(
      /^PASSED {2}In the 7 of 7 exchanges that could be judged, the service did nothing wrong; its clients did nothing wrong\.$/m,
    )
    expect(stderr).toMatch(/^Service +https:\/\/dmarc\.example\/api\/v1$/m)
    expect(report).toMatchObject({ exchanges: 7, judged: 7, findings: [] })
    const written = readFileSync(evidence, 'utf8')
    expectReport('evidence', JSON.parse(written))
    expect(written).not.toContain('0000000000')
    expect(statSync(evidence).mode & 0o777).toBe(0o600)
  })

  it('says once why each entry of an unreadable recording is none', async ({ folder }) => {
    const { code, stderr, report } = await check(folder, [harOf([1, 2, 3, 4])])
    expect(code).toBe(1)
    expect(report.failures).toEqual([expect.stringMatching(/be read\. .*1\.har: Entry 1 is no object\.$/)])
    expect(report.warnings).toEqual([
      ...[2, 3].map((entry) => expect.stringMatching(`1\\.har: Entry ${entry} is no object\\.$`)),
      '1 more entry cannot be read.',
    ])
    expect(stderr.match(/Entry 1 /g)).toHaveLength(2)
  })

  it('fails on what is wrong, with the request and the id of the finding, unless a baseline accepts it', async ({
    folder,
  }) => {
    const baseline = join(folder, 'baseline.json')
    const again = { ...wrong, startedDateTime: new Date(RECORDED_AT + 9500).toISOString() }
    const text = harOf([...traffic, wrong, again, null, entryOf({ url: 'https://a.example/' })])
    const first = await check(folder, [text], '--baseline', baseline, '--update-baseline')
    expect(first.code).toBe(1)
    expect(first.stderr).toMatch(/^FAILED {2}/m)
    expect(first.stderr).toContain('GET /domains → 200')
    expect(first.stderr).toContain('2 times')
    expect(first.stderr).toMatch(/^Left out +1 to other addresses$/m)
    expect(first.report.warnings?.[0]).toMatch(/1\.har: Entry 10 is no object\.$/)
    const broken = { id: 'broken-rule/listDomains/200/key-required', label: 'broken rule', count: 2 }
    expect(first.report.findings).toContainEqual(expect.objectContaining(broken))
    expectReport('baseline', JSON.parse(readFileSync(baseline, 'utf8')))
    const second = await check(folder, [text], '--baseline', baseline)
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining('accepted by the baseline') })
  })

  it('fails on a mistake of the client only with --fail-on, and shows it', async ({ folder }) => {
    const refusal = '{"success":false,"error":{"code":"invalid_request_body","message":"No."}}'
    const content = { text: refusal, size: -1 }
    const text = harOf([entryOf({ method: 'POST', request: { bodySize: 0 }, response: { status: 400 }, content })])
    const { code, stderr } = await check(folder, [text])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^warning {2}The client violates/m) })
    for (const side of ['client', 'both']) expect((await check(folder, [text], '--fail-on', side)).code).toBe(1)
  })

  it.for<[what: string, text: string, judged: number, failure: RegExp]>([
    [
      'an empty recording',
      harOf([]),
      0,
      /^No request went to a path of the service\. There is no request at all\. Say/,
    ],
    [
      'entries whose times cannot be read',
      harOf([entryOf({ more: { startedDateTime: '15.01.2026' } }), entryOf({ more: { startedDateTime: 0 } })]),
      0,
      /^No request to the service can be read\. \S+1\.har: Entry 1 has a startedDateTime that is no date and time: "15\.01\.2026"\.$/,
    ],
    ['nothing to judge', harOf([entryOf({ response: { status: 0 } })]), 0, /^The only exchange could not be judged/],
    [
      'a service that answers everything with a page',
      harOf(
        [0, 50].map((after) =>
          entryOf({ after, response: { headers: [{ name: 'a', value: 'b' }] }, content: { text: '<p>', size: 3 } }),
        ),
      ),
      0,
      /^None of the 2 exchanges could be judged\. A page came in place of an answer/,
    ],
    [
      'a recording without its end',
      harOf(traffic).slice(0, -50),
      6,
      /1\.har breaks off: only its 6 whole entries are judged\.$/,
    ],
  ])('never passes %s', async ([, text, judged, failure], { folder }) => {
    const { code, stderr, report } = await check(folder, [text])
    expect(code).toBe(1)
    expect(stderr).not.toContain('PASSED')
    expect(report.judged).toBe(judged)
    expect(report.findings.map(({ label }) => label).filter((label) => label !== 'cannot tell')).toEqual([])
    expect(report.failures?.[0]).toMatch(failure)
  })

  it('judges requests that are nested absurdly, and leaves out what has no method', async ({ folder }) => {
    const text = `{"domains":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    const deep = entryOf({ request: { method: 'POST', postData: { mimeType: 'application/json', text } } })
    const nameless = ['', 'G\r\nET', 'x'.repeat(100_000)].map((method) => entryOf({ request: { method } }))
    const { code, report, stderr } = await check(folder, [harOf([deep, ...nameless])])
    expect(stderr).not.toMatch(/RangeError|^ +at /m)
    expect({ code, exchanges: report.exchanges }).toEqual({ code: 1, exchanges: 1 })
  })

  it('ends with 3 where the evidence cannot be written, and still writes its report', async ({ folder }) => {
    const { code, stderr, report } = await check(folder, [harOf(traffic)], '--evidence', '/dev/full')
    expect(stderr).toMatch(/^dmarc-understudy: check: \/dev\/full: .*finds the disk full; make room/m)
    expect({ code, exchanges: report.exchanges }).toEqual({ code: 3, exchanges: 7 })
  })

  it('ends when it is told to, with what was found', async ({ start, folder }) => {
    const file = join(folder, 'a.har')
    writeFileSync(file, harOf(Array.from({ length: 30_000 }, (_, index) => entryOf({ after: index * 100 }))))
    const running = start(['check', file, '--report', `json=${folder}/report.json`])
    await expect.poll(() => running.stderr(), { interval: 5 }).toContain(' exchanges judged')
    running.stop('SIGINT')
    expect((await running.ended).code).toBe(130)
    const report: EvidenceReport = JSON.parse(readFileSync(`${folder}/report.json`, 'utf8'))
    expect(report.exchanges).toBeLessThan(30_000)
    expect(report.failures).toContain('It was told to stop before all exchanges were judged.')
  })
})
