import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { digestOf, Ledger } from '../../src/verify/ledger.ts'
import { listenOn } from '../support/listening.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { API_KEY, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

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

const HALF_AN_HOUR = { ...json, 'x-ratelimit-reset': '1768471200', date: 'Thu, 15 Jan 2026 09:30:00 GMT' }

const BAD_TARGETS: readonly (readonly [what: string, serve: Serve, code: 1 | 3, says: RegExp, scheme?: 'https:'])[] = [
  [
    'redirects',
    answers(301, { location: 'https://a.example/' }),
    1,
    /redirects to https:\/\/a\.example\/ \(301\); if its API is there, give that base URL$/,
  ],
  ['has a code in red', answers(401, json, envelope('\u001b[31mred')), 1, /refuses the key \(401 \\u001b\[31mred\)/],
  [
    'has a web page',
    answers(200, { 'content-type': 'text/html' }, '<!doctype html>'),
    1,
    /with 200 and a web page; the base URL/,
  ],
  [
    'is behind a gateway that cannot reach it',
    answers(502, { 'content-type': 'text/html' }, '<html></html>'),
    1,
    /: a gateway answers in place of the service, with 502 and a web page; nothing can be checked$/,
  ],
  ['answers 404 to everything', answers(404, json, envelope('not_found')), 1, /404 to every path/],
  ['answers 500 to everything', answers(500, json, envelope('internal_error')), 1, /500, 500, 500/],
  ['has no request left', answers(429, HALF_AN_HOUR), 1, /\(429\); come back in 30 min, or give --wait$/],
  ['speaks something else', speaks((socket) => socket.end('220 mail\r\n')), 3, /not HTTP/],
  [
    'changes to another protocol',
    speaks((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')),
    3,
    /no response, but another protocol \(101\)$/,
  ],
  ['says nothing', speaks(() => {}), 3, /within 1 s \(--timeout\)/],
  [
    'sends a huge header',
    speaks((socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`)),
    3,
    /more than 64 KiB/,
  ],
  ['has no TLS', answers(200), 3, /no TLS/, 'https:'],
]

describe('verify', () => {
  it.for(BAD_TARGETS)('says in one sentence that the target %s', async (row, { folder }) => {
    const [what, serve, code, says, scheme = 'http:'] = row
    const target = (await listen(serve)).replace('http:', scheme)
    const timeout = what === 'says nothing' ? ['--timeout', '1s'] : []
    const report = ['--report', `json=${folder}/report`, '--report', `junit=${folder}/junit`]
    const options = { environment: KEY, folder }
    await expectRefusal(['verify', '--base-url', target, ...timeout, ...report], code, says, options)
    const written = JSON.parse(readFileSync(join(folder, 'report'), 'utf8'))
    expect(written).toMatchObject({ passed: false, checks: [{ id: 'target', outcome: 'fail' }] })
    expect(readFileSync(join(folder, 'junit'), 'utf8')).toMatch(/<testsuite [^>]*failures="1"/)
    expect(readdirSync(folder).toSorted()).toEqual(['junit', 'report'])
  })

  it('needs a key', async () => {
    await expectRefusal(['verify', '--base-url', 'http://127.0.0.1:9/'], 2, '--api-key KEY: is needed…')
  })

  it('refuses to write and not to write at once', async () => {
    const both = ['--allow-writes', '--read-only']
    const args = ['verify', '--base-url', 'http://127.0.0.1:9/', ...both]
    await expectRefusal(args, 2, /^--allow-writes true: must be left out, because --read-only/, { environment: KEY })
  })

  it('prints its plan without sending anything', async ({ folder }) => {
    const args = ['verify', '--plan', '--base-url', 'http://127.0.0.1:9/', '--reserve', '3']
    const { code, stdout } = await runInProcess(args, { folder })
    expect(code).toBe(0)
    expect(stdout).toContain('costs 1 of /domaingroups')
    expect(stdout).toMatch(/POST \/domains; .* \(write\)/)
    expect(stdout).toMatch(/\/domains: .* less 3 for others/)
  })

  it('passes the stand-in, whose key is one letter, and leaves no ledger', async ({ folder }) => {
    const service = await startService({ fixture: 'demo', apiKey: 'k' })
    const report = join(folder, 'report.json')
    const args = ['verify', '--base-url', service.baseUrl, '--read-only', '--report', `json=${report}`]
    const { code, stderr } = await runInProcess(args, { environment: { DMARC_UNDERSTUDY_API_KEY: 'k' }, folder })
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/^PASSED {2}Nothing was seen that the contract forbids/m)
    const written = JSON.parse(readFileSync(report, 'utf8'))
    expect(written).toMatchObject({ target: service.baseUrl, passed: true, cleanup: { restored: true } })
    expect(written.quota).toHaveLength(3)
    expect(readdirSync(folder)).toEqual(['report.json'])
  })
})

describe('the ledger of verify', () => {
  const RUN = 'abcd1234'
  it.each<[head: object, says: RegExp]>([
    [{ target: 'https://a.example' }, /is the ledger of another target, https:\/\/a\.example$/],
    [{}, /is the ledger of another key$/],
    [{ run: '' }, /is no ledger of verify$/],
  ])('is refused with %j', async (head, says) => {
    const ledger = join(temporaryFolder(), 'a.json')
    const target = 'http://127.0.0.1:9/api/v1'
    const own = {
      ledger: 'dmarc-understudy verify',
      version: 2,
      run: RUN,
      digest: 'x',
    }
    writeFileSync(ledger, `${JSON.stringify({ ...own, target, ...head })}\n`)
    await expectRefusal(['verify', '--base-url', target, '--sweep', ledger], 2, says, { environment: KEY })
  })

  it('is for its owner alone, and gone when a signal has ended the run, after the account was restored', async ({
    folder,
    start,
  }) => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    const before = (await service.get('/domains')).text
    const running = start(['verify', '--base-url', service.baseUrl, '--allow-writes'], { environment: KEY, folder })
    // It has made a group beside the seven of the fixture.
    const groups = async () => (await service.store.read('default')).state.groups.size
    await expect.poll(groups, { interval: 10 }).toBeGreaterThan(7)
    const [ledger = ''] = readdirSync(folder)
    expect(statSync(join(folder, ledger)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, ledger), 'utf8')).not.toContain(API_KEY)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(stderr).toContain('restores the account; another signal ends it at once')
    expect(stderr).toMatch(/^INCONCLUSIVE {2}The run was interrupted\. /m)
    expect(code).toBe(130)
    expect((await service.get('/domains')).text).toBe(before)
    expect(readdirSync(folder)).toEqual([])
  })

  it('of a killed run lets a sweep remove the rest', async ({ folder }) => {
    const service = await startService({ fixture: 'demo' })
    const before = (await service.get('/domaingroups')).text
    const path = join(folder, 'ledger')
    const target = service.baseUrl
    const ledger = new Ledger(path, { run: RUN, target, digest: digestOf(target, API_KEY) })
    const { groups } = (await service.get('/domaingroups')).body.data
    ledger.write({ before: { domains: (await service.get('/domains')).body.data.domains, groups } })
    ledger.write({ creates: { domains: [], group: `verify-${RUN} 1` } })
    const { body } = await service.send('POST', '/domaingroups', { name: `verify-${RUN} 1` })
    ledger.write({ group: body.data.group.id })
    const swept = await runInProcess(['verify', '--base-url', target, '--sweep', path], { environment: KEY })
    const said = `verify: of the run ${RUN}, 0 domains and 1 groups were removed; the account is as before`
    expect(swept).toMatchObject({ code: 0, stderr: expect.stringContaining(said) })
    expect((await service.get('/domaingroups')).text).toBe(before)
    expect(readdirSync(folder)).toEqual([])
  })
})
