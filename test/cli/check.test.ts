import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import type { EvidenceReport } from '../../src/evidence/report.ts'
import type { Json } from '../../src/ground/json.ts'
import { budget } from '../support/budget.ts'
import { type ExchangeRequest, exchangeWith } from '../support/exchanges.ts'
import { expectRefusal, it } from '../support/program.ts'
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

/** So deep that whoever calls itself for each level has no stack left. */
const DEPTH = budget({ quick: 10_000, whole: 50_000, full: 50_000 })

/** A response with a quota of 30 requests of which so many are left. */
function answerOf(envelope: Json, remaining: number) {
  const quota = { 'X-RateLimit-Limit': 30, 'X-RateLimit-Remaining': remaining, 'X-RateLimit-Reset': 1768471200 }
  const id = `00000000-0000-4000-8000-${String(remaining).padStart(12, '0')}`
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': id, ...quota }
  return {
    response: { headers: Object.entries(headers).map(([name, value]) => ({ name, value: String(value) })) },
    content: { size: -1, text: JSON.stringify(envelope) },
  }
}

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
  expectReport('check', report)
  return { ...result, report }
}

describe('check', () => {
  it('passes what the stand-in itself has answered, and says how much of it was judged', async ({ folder }) => {
    const evidence = join(folder, 'evidence.json')
    const { code, stdout, stderr, report } = await check(folder, [harOf(traffic)], '--evidence', evidence)
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

  it('judges requests that are nested absurdly, and leaves out what has no method', async ({ folder }) => {
    const text = `{"domains":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`
    const deep = entryOf({ request: { method: 'POST', postData: { mimeType: 'application/json', text } } })
    const nameless = ['', 'G\r\nET', 'x'.repeat(100_000)].map((method) => entryOf({ request: { method } }))
    const evidence = join(folder, 'evidence.json')
    const { code, report, stderr } = await check(folder, [harOf([deep, ...nameless])], '--evidence', evidence)
    expect(stderr).not.toMatch(/RangeError|^ +at /m)
    expect({ code, exchanges: report.exchanges }).toEqual({ code: 1, exchanges: 1 })
    expectReport('evidence', JSON.parse(readFileSync(evidence, 'utf8')))
  })

  it('reads several recordings as one', async ({ folder }) => {
    const { code, report } = await check(folder, [harOf(traffic.slice(4)), harOf(traffic.slice(0, 4))], '--sole-writer')
    expect({ code, report }).toMatchObject({ code: 0, report: { exchanges: 7, judged: 7 } })
  })

  it('fails on what is wrong, with the request and the id of the finding', async ({ folder }) => {
    const { code, stderr, report } = await check(folder, [harOf([...traffic, wrong, wrong])])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^FAILED {2}/m)
    expect(stderr).toContain('GET /domains → 200')
    expect(stderr).toContain('(2 times)')
    const broken = { id: 'broken-rule/listDomains/200/key-required', label: 'broken rule', count: 2 }
    expect(report.findings).toContainEqual(expect.objectContaining(broken))
  })

  it('says of what another client may have done that --sole-writer would tell it, and then fails', async ({
    folder,
  }) => {
    const listed = (after: number, domains: readonly string[]) =>
      entryOf({ after, ...answerOf({ success: true, data: { domains } }, 29 - after / 1000) })
    const text = harOf([listed(0, ['a.example']), listed(1000, ['a.example', 'b.example'])])
    const { code, report, stderr } = await check(folder, [text])
    expect(code).toBe(0)
    expect(report.untold).toMatchObject([{ times: 1, remedy: 'Give --sole-writer if no other client did.' }])
    expect(stderr).toMatch(/^PASSED {2}.* 1 thing cannot be told, because: Another client .* Give --sole-writer /m)
    expect(stderr).toMatch(/^Not asked +listDmarc, addDomains, /m)
    expect(await check(folder, [text], '--sole-writer')).toMatchObject({ code: 1 })
  })

  it('says of requests that overlap that their order is not known, and not of those within a millisecond', async ({
    folder,
  }) => {
    const postData = { mimeType: 'application/json', text: '{"domains":["b.example"]}' }
    const answer = answerOf({ success: true, data: { message: 'Done.', domains: ['b.example'], count: 1 } }, 29)
    const added = (time: number) => entryOf({ method: 'POST', request: { postData, bodySize: 25 }, ...answer, time })
    const listed = entryOf({ after: 20, ...answerOf({ success: true, data: { domains: [] } }, 28) })
    const overlapping = await check(folder, [harOf([added(50), listed])], '--sole-writer')
    expect(overlapping.code).toBe(0)
    expect(overlapping.report.findings.map(({ id }) => id)).toContain('cannot-tell/listDomains/200/overlap')
    expect(overlapping.report.untold).toMatchObject([{ times: 1, remedy: 'Send such requests one after the other.' }])
    // The list lacks what was added before it.
    const { report, code } = await check(folder, [harOf([added(20.9), listed])], '--sole-writer')
    expect(code).toBe(1)
    expect(report.findings).toContainEqual(expect.objectContaining({ label: 'broken rule', path: '/domains' }))
  })

  it('fails on a mistake of the client only with --fail-on, and shows it', async ({ folder }) => {
    const text = harOf([
      entryOf({
        method: 'POST',
        request: { bodySize: 0 },
        response: { status: 400 },
        content: { text: '{"success":false,"error":{"code":"invalid_request_body","message":"No."}}', size: -1 },
      }),
    ])
    const { code, stderr } = await check(folder, [text])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^warning {2}The client violates/m) })
    expect((await check(folder, [text], '--fail-on', 'client')).code).toBe(1)
    expect((await check(folder, [text], '--fail-on', 'both')).code).toBe(1)
  })

  it('ends with 3 where the evidence cannot be written at the end, and still writes its baseline and its report', async ({
    folder,
  }) => {
    const baseline = join(folder, 'baseline.json')
    const options = ['--evidence', '/dev/full', '--baseline', baseline, '--update-baseline']
    const { code, stderr, report } = await check(folder, [harOf(traffic)], ...options)
    expect(stderr).toMatch(/^dmarc-understudy: check: \/dev\/full: .*finds the disk full; make room/m)
    expect({ code, exchanges: report.exchanges }).toEqual({ code: 3, exchanges: 7 })
    expect(JSON.parse(readFileSync(baseline, 'utf8'))).toEqual({ findings: [] })
  })

  it('accepts the findings of a baseline, which it has written', async ({ folder }) => {
    const baseline = join(folder, 'baseline.json')
    const text = harOf([...traffic, wrong])
    const first = await check(folder, [text], '--baseline', baseline, '--update-baseline')
    expect(first.code).toBe(1)
    const { findings } = JSON.parse(readFileSync(baseline, 'utf8')) as { findings: { id: string; reason: string }[] }
    expect(findings.length).toBeGreaterThan(0)
    const second = await check(folder, [text], '--baseline', baseline)
    expect(second.code).toBe(0)
    expect(second.stderr).toContain('accepted by the baseline')
    expect(second.report.findings.some(({ accepted }) => accepted !== undefined)).toBe(true)
  })

  it.for<[what: string, text: string, failure: RegExp]>([
    [
      'an empty recording',
      harOf([]),
      /^No request went to a path of the service\. There is no request at all\. Say with/,
    ],
    [
      'traffic of other services',
      harOf([entryOf({ url: 'https://a.example/' })]),
      /The requests went to https:\/\/a\.example/,
    ],
    [
      'exchanges of which nothing can be judged',
      harOf([entryOf({ response: { status: 0 } }), entryOf({ content: { text: undefined } })]),
      /^None of the 2 exchanges could be judged\./,
    ],
  ])('never passes %s', async ([, text, failure], { folder }) => {
    const { code, stderr, report } = await check(folder, [text])
    expect(code).toBe(1)
    expect(stderr).not.toContain('PASSED')
    expect(report.failures?.[0]).toMatch(failure)
  })

  it('does not pass a recording of which the end is missing, and judges the rest', async ({ folder }) => {
    const { code, report } = await check(folder, [harOf(traffic).slice(0, -50)])
    expect(code).toBe(1)
    expect(report).toMatchObject({ exchanges: 6, judged: 6, findings: [] })
    expect(report.failures?.[0]).toMatch(/1\.har is broken at byte \d+: the file ends within an entry/)
  })

  it('tells of entries that cannot be read, and of what was left out', async ({ folder }) => {
    const more = [null, entryOf({ url: 'https://a.example/' })]
    const { code, stderr, report } = await check(folder, [harOf([...traffic, ...more])])
    expect(code).toBe(0)
    expect(report.warnings?.[0]).toMatch(/1\.har: Entry 8 is no object\.$/)
    expect(stderr).toMatch(/^Left out +1 to other addresses$/m)
  })

  it('ends when it is told to, with what was found', async ({ start, folder }) => {
    const file = join(folder, 'a.har')
    const entries = Array.from({ length: 3000 }, (_, index) => entryOf({ after: index * 100 }))
    writeFileSync(file, harOf(entries))
    const running = start(['check', file, '--report', `json=${folder}/report.json`])
    await expect.poll(() => running.stderr(), { interval: 5 }).toContain(' exchanges judged')
    running.stop('SIGINT')
    const { code } = await running.ended
    expect(code).toBe(130)
    const report: EvidenceReport = JSON.parse(readFileSync(`${folder}/report.json`, 'utf8'))
    expect(report.exchanges).toBeLessThan(3000)
    expect(report.failures).toContain('It was told to stop before all exchanges were judged.')
  })
})

describe('check refuses', () => {
  it('to write over a recording', async ({ folder }) => {
    const file = join(folder, 'a.har')
    writeFileSync(file, harOf([entryOf()]))
    const reason = `is the file of ${file} already; give each a file of its own`
    await expectRefusal(['check', file, '--evidence', file], 2, `--evidence ${file}: ${reason}`)
    await expectRefusal(['check', file, '--report', `html=${file}`], 2, `--report html=${file}: ${reason}`)
  })

  it('a folder, and two services', async ({ folder }) => {
    mkdirSync(join(folder, 'recordings'))
    await expectRefusal(['check', join(folder, 'recordings')], 2, /This is a folder; give the HAR files in it\.$/)
    const file = join(folder, 'a.har')
    writeFileSync(file, harOf([entryOf(), entryOf({ url: 'http://localhost:1/api/v1/dmarc' })]))
    await expectRefusal(['check', file], 2, /say with --base-url which one is meant$/)
  })
})
