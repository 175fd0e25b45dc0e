import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { digestOf, Ledger } from '../../src/verify/ledger.ts'
import { sample } from '../support/budget.ts'
import { listenOn } from '../support/listening.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { API_KEY, startService } from '../support/service.ts'

const KEY = { DMARC_UNDERSTUDY_API_KEY: API_KEY }

/** A server that does this with each connection, until the test is over: it speaks HTTP, or something else. */
async function listen(serve: Serve): Promise<string> {
  const server = 'http' in serve ? createHttpServer(serve.http) : createTcpServer(serve.tcp)
  return `http://127.0.0.1:${await listenOn(server)}/api/v1`
}

type Serve = { http: RequestListener } | { tcp: (socket: Socket) => void }

const json = { 'content-type': 'application/json' }
const envelope = (code: string) => JSON.stringify({ success: false, error: { code, message: 'No.' } })

/** Answers everything alike. */
function answers(status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Serve {
  return { http: (_, response) => response.writeHead(status, headers).end(body) }
}

/** Does this when the first bytes of a request have come. */
function speaks(speak: (socket: Socket) => void): Serve {
  return { tcp: (socket) => void socket.once('data', () => speak(socket)) }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const ENDLESS = { 'x-ratelimit-reset': '1e308' }
const HALF_AN_HOUR = { ...json, 'x-ratelimit-reset': '1768471200', date: 'Thu, 15 Jan 2026 09:30:00 GMT' }

const BAD_TARGETS: readonly (readonly [what: string, serve: Serve, code: 1 | 3, says: RegExp, scheme?: 'https:'])[] = [
  ['redirects', answers(301, { location: 'https://a.example/' }), 1, /redirects to https:\/\/a\.example\/ \(301\)/],
  [
    'has a quota without an end',
    answers(429, ENDLESS),
    1,
    /the quota is used up already \(429\); come back within 60 min$/,
  ],
  ['has a code in red', answers(401, json, envelope('\u001b[31mred')), 1, /refuses the key \(401 \\u001b\[31mred\)/],
  ['has a web page', answers(200, { 'content-type': 'text/html' }, '<!doctype html>'), 1, /web page \(200\)/],
  ['answers 404 to everything', answers(404, json, envelope('not_found')), 1, /404 to every path/],
  ['answers 500 to everything', answers(500, json, envelope('internal_error')), 1, /500, 500, 500/],
  ['has no request left', answers(429, HALF_AN_HOUR), 1, /come back in 30 min \(2026-01-15T10:00:00Z\)/],
  ['speaks something else', speaks((socket) => socket.end('220 mail\r\n')), 3, /not HTTP/],
  ['closes connections', speaks((socket) => socket.destroy()), 3, /closed without a response/],
  [
    'stops within a response',
    speaks((socket) => socket.end(`${OK}Content-Length: 99\r\n\r\n{`)),
    3,
    /in the middle of the/,
  ],
  ['says nothing', speaks(() => {}), 3, /within 1 s \(--timeout\)/],
  [
    'sends a huge header',
    speaks((socket) => socket.write(`${OK}X: ${'x'.repeat(100_000)}\r\n\r\n`)),
    3,
    /more than 64 KiB/,
  ],
  ['sends a huge body', answers(200, json, Buffer.alloc(33 << 20, ' ')), 3, /more than 32 MiB/],
  ['has no TLS', answers(200), 3, /no TLS/, 'https:'],
]

const RUN = 'abcd1234'
const LEFT = `verify-${RUN}-1.example`

/** The ledger of an earlier run with this target. */
function writeLedger(target: string, path: string): Ledger {
  return Ledger.create(path, { run: RUN, target, digest: digestOf(target, API_KEY), suffix: 'example', writes: true })
}

describe('verify', () => {
  it.for(sample(BAD_TARGETS, 5))(
    'says in one sentence that the target %s',
    async ([what, serve, code, says, scheme = 'http:'], { folder }) => {
      const target = (await listen(serve)).replace('http:', scheme)
      const timeout = what === 'says nothing' ? ['--timeout', '1s'] : []
      await expectRefusal(['verify', '--base-url', target, ...timeout], code, says, { environment: KEY, folder })
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it.for<[what: string, serve: Serve, code: number, says: string]>([
    ['refuses the key', answers(401, json, envelope('unauthorized')), 1, 'the service refuses the key'],
    ['is no service', speaks((socket) => socket.destroy()), 3, 'cannot be reached'],
  ])('writes the reports of a run whose target %s', async ([, serve, code, says], { folder }) => {
    const target = await listen(serve)
    const [report, junit] = [join(folder, 'report.json'), join(folder, 'junit.xml')]
    const args = ['verify', '--base-url', target, '--report', `json=${report}`, '--report', `junit=${junit}`]
    await expectRefusal(args, code, new RegExp(says), { environment: KEY, folder })
    const written = JSON.parse(readFileSync(report, 'utf8'))
    expectReport('verify', written)
    expect(written).toMatchObject({ passed: false, checks: [{ id: 'target', outcome: 'fail' }] })
    expect(written.checks[0].message).toContain(says)
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuite [^>]*failures="1"/)
    expect(readdirSync(folder).toSorted()).toEqual(['junit.xml', 'report.json'])
  })

  it('needs a key', async ({ folder }) => {
    await expectRefusal(['verify', '--base-url', 'http://127.0.0.1:9/'], 2, /^--api-key KEY: is needed/, { folder })
  })

  it.each<[written: string, says: RegExp]>([
    ['domain=5', /^--reserve domain=5: there is no quota "domain"; the quotas are dmarc, domains, domaingroups$/],
    [
      'domains=',
      /^--reserve domains=: must be a whole number from 0 to 1000000000000, or a quota and such a number, as domains=5$/,
    ],
    ['domains=x', /^--reserve domains=x: must be a whole number/],
    ['1000000000001', /^--reserve 1000000000001: must be a whole number/],
    ['-1', /^--reserve -1: must be a whole number/],
  ])('refuses the reserve %s', async (written, says) => {
    const args = ['verify', '--plan', '--base-url', 'http://127.0.0.1:9/', `--reserve=${written}`]
    await expectRefusal(args, 2, says)
  })

  it('refuses the ledger of another target or key, and what is no ledger', async ({ folder }) => {
    const service = await startService()
    const ledger = join(folder, 'a.json')
    const own = { ledger: 'dmarc-understudy verify', version: 1, run: 'abcd1234', digest: 'x', suffix: 'example' }
    const args = ['verify', '--base-url', service.baseUrl, '--sweep', ledger]
    const refused: [head: object, says: RegExp][] = [
      [{ target: 'https://a.example' }, /is the ledger of another target, https:\/\/a\.example$/],
      [{ target: service.baseUrl }, /is the ledger of another key$/],
      [{ target: 'https://a.example', run: '' }, /is no ledger of verify$/],
    ]
    for (const [head, says] of refused) {
      writeFileSync(ledger, `${JSON.stringify({ ...own, writes: true, ...head })}\n`)
      await expectRefusal(args, 2, says, { environment: KEY })
    }
  })
})

describe('verify', () => {
  it('prints its plan without sending anything', async ({ folder }) => {
    const { code, stdout } = await runInProcess(['verify', '--plan', '--base-url', 'http://127.0.0.1:9/'], { folder })
    expect(code).toBe(0)
    expect(stdout).toContain('costs 1 of /domaingroups')
    expect(stdout).toMatch(/POST \/domains; .* \(write\)/)
    expect(stdout).toMatch(/It takes \d windows of 60 min/)
    const args = ['verify', '--plan', '--base-url', 'http://127.0.0.1:9/', '--reserve', '3', '--reserve', 'dmarc=5']
    const reserved = await runInProcess(args, { folder })
    expect(reserved.stdout).toMatch(/\/dmarc: .* less 5 for others/)
    expect(reserved.stdout).toMatch(/\/domains: .* less 3 for others/)
    const remote = await runInProcess(['verify', '--plan', '--base-url', 'https://a.example/'], { folder })
    expect(remote.stdout).not.toContain('(write)')
  })

  it('tells the times of an overlay with other quota windows', async ({ folder }) => {
    const windows = ['/dmarc', '/domains', '/domaingroups'].map((path) => ({
      target: `$.paths['${path}']['x-quota']`,
      update: { window: 180 },
    }))
    const overlay = ['--overlay', writeOverlay(folder, windows)]
    const { stdout } = await runInProcess(['verify', '--plan', '--base-url', 'http://127.0.0.1:9/', ...overlay])
    expect(stdout).toMatch(/^\/dmarc: .*; 10 in 3 min, less 0 for others$/m)
    expect(stdout).toMatch(/It takes 2 windows of 3 min \(--wait\), at least 3 min\./)
    const target = await listen(answers(429))
    const args = ['verify', '--base-url', target, ...overlay]
    await expectRefusal(args, 1, /come back within 3 min$/, { environment: KEY, folder })
  })

  it.for<[what: string, status: number, body: string, says: RegExp]>([
    ['rubbish', 200, 'rubbish', /a body that is not JSON: "rubbish"/],
    ['a success as a failure', 418, '{"success":true,"data":{"groups":[],"count":0}}', /the status 418/],
  ])('judges a service that answers %s, and only reads', async ([, status, body, says], { folder }) => {
    const methods = new Set<string | undefined>()
    const target = await listen({
      http(request, response) {
        methods.add(request.method)
        response.writeHead(status, json).end(body)
      },
    })
    const args = ['verify', '--base-url', target]
    const { code, stderr } = await runInProcess(args, { environment: KEY, folder })
    expect(code).toBe(1)
    expect(stderr).toMatch(says)
    expect(stderr).toMatch(/Nothing had to be removed/)
    expect(methods).toEqual(new Set(['GET', 'HEAD']))
    expect(readdirSync(folder)).toEqual([])
  })

  it('checks a service, writes a report without the key, and leaves no ledger', async ({ folder }) => {
    const service = await startService({ fixture: 'demo' })
    const report = join(folder, 'report.json')
    const { stderr } = await runInProcess(
      ['verify', '--base-url', service.baseUrl, '--read-only', '--report', `json=${report}`],
      { environment: KEY, folder },
    )
    const text = readFileSync(report, 'utf8')
    expect(text + stderr).not.toContain(API_KEY)
    const { target, cleanup, quota } = JSON.parse(text)
    expect(target).toBe(service.baseUrl)
    expect(cleanup).toMatchObject({ restored: true })
    expect(quota).toHaveLength(3)
    expect(readdirSync(folder)).toEqual(['report.json'])
  })

  it('checks a service whose key is one letter', async ({ folder }) => {
    const service = await startService({ fixture: 'demo', apiKey: 'k' })
    const report = join(folder, 'report.json')
    const { code, stderr } = await runInProcess(
      ['verify', '--base-url', service.baseUrl, '--read-only', '--report', `json=${report}`],
      { environment: { DMARC_UNDERSTUDY_API_KEY: 'k' }, folder },
    )
    expect(stderr).toMatch(/^PASSED {2}Nothing was seen that the contract forbids/m)
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ passed: true, checks: expect.any(Array) })
    expect(code).toBe(0)
  })

  it('keeps the ledger of a run whose items it may not remove, and says how to remove them', async ({ folder }) => {
    const service = await startService({ fixture: 'empty' })
    const ledger = writeLedger(service.baseUrl, join(folder, 'ledger.json'))
    ledger.write({ before: { domains: [], groups: [] } })
    ledger.write({ creates: { domains: [LEFT] } })
    ledger.close()
    await service.send('POST', '/domains', { domains: [LEFT] })
    const args = ['verify', '--resume', ledger.path, '--base-url', service.baseUrl, '--read-only']
    const { code, stderr } = await runInProcess(args, { environment: KEY, folder })
    expect(stderr).toContain(`this run may not write; still there: the domain ${LEFT}`)
    expect(stderr).toContain(`verify --sweep ${ledger.path}`)
    expect(code).toBe(1)
    expect(readdirSync(folder)).toEqual(['ledger.json'])
  })

  it('keeps the ledger of a run that is continued too early', async ({ folder }) => {
    const target = await listen(answers(429, HALF_AN_HOUR, envelope('rate_limited')))
    const ledger = writeLedger(target, join(folder, 'ledger.json'))
    ledger.write({ done: 'read-records' })
    ledger.close()
    const args = ['verify', '--resume', ledger.path, '--base-url', target]
    await expectRefusal(args, 1, /come back in 30 min/, { environment: KEY, folder })
    expect(Ledger.read(ledger.path)).toMatchObject({ done: ['read-records'] })
  })

  it('says how it is continued with the same permission to write', async ({ folder }) => {
    const service = await startService({ fixture: 'empty' })
    const args = ['verify', '--base-url', service.baseUrl, '--allow-writes']
    const { stderr } = await runInProcess(args, { environment: KEY, folder })
    expect(stderr).toMatch(/verify --resume .* --allow-writes$/m)
  })

  it('restores the account when a signal comes', async ({ folder, start }) => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    const before = (await service.get('/domains')).text
    const running = start(['verify', '--base-url', service.baseUrl], { environment: KEY, folder })
    while ((await service.store.read('default')).groups.size < 8 && !running.stderr().includes('checks')) {
      await turn()
    }
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(stderr).toContain('restores the account; another signal ends it at once')
    expect(stderr).toMatch(/^FAILED {2}The run was interrupted\. /m)
    expect(code).toBe(130)
    expect((await service.get('/domains')).text).toBe(before)
    expect(readdirSync(folder)).toHaveLength(1)
  })
})
