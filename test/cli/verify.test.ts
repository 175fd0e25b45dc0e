import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { API_KEY, startService } from '../support/service.ts'

const KEY = { DMARC_UNDERSTUDY_API_KEY: API_KEY }

/** A server that answers anything to everything, until the test is over. */
async function listen(
  server: { listen(port: number, host: string): unknown; address(): unknown; close(): unknown },
  onTestFinished: (end: () => void) => void,
): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1')
    ;(server as never as { once(name: string, done: () => void): void }).once('listening', resolve)
  })
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
}

const answering = (listener: RequestListener) => createHttpServer(listener)
const speaking = (speak: (socket: Socket) => void) =>
  createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => speak(socket))
  })
const envelope = (code: string) => JSON.stringify({ success: false, error: { code, message: 'No.' } })
const json = { 'content-type': 'application/json' }

interface BadTarget {
  what: string
  open(): ReturnType<typeof answering> | ReturnType<typeof speaking>
  code: 1 | 3
  says: RegExp
  scheme?: 'https'
  args?: string[]
}

const BAD_TARGETS: readonly BadTarget[] = [
  {
    what: 'redirects',
    open: () => answering((_, response) => response.writeHead(301, { location: 'https://other.example/' }).end()),
    code: 1,
    says: /redirects to https:\/\/other\.example\/ \(301\)/,
  },
  {
    what: 'says that a quota is reset at the end of time',
    open: () => answering((_, response) => response.writeHead(429, { 'x-ratelimit-reset': '1e308' }).end()),
    code: 1,
    says: /the quota is used up already \(429\); come back within the hour/,
  },
  {
    what: 'has a code that a terminal would obey',
    open: () => answering((_, response) => response.writeHead(401, json).end(envelope('\u001b[31mred'))),
    code: 1,
    says: /refuses the key \(401 \\u001b\[31mred\)/,
  },
  {
    what: 'has a web page',
    open: () =>
      answering((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>')),
    code: 1,
    says: /web page \(200\)/,
  },
  {
    what: 'answers 404 to everything',
    open: () => answering((_, response) => response.writeHead(404, json).end(envelope('not_found'))),
    code: 1,
    says: /404 to every path/,
  },
  {
    what: 'answers 500 to everything',
    open: () => answering((_, response) => response.writeHead(500, json).end(envelope('internal_error'))),
    code: 1,
    says: /500, 500, 500/,
  },
  {
    what: 'refuses the key',
    open: () => answering((_, response) => response.writeHead(401, json).end(envelope('unauthorized'))),
    code: 1,
    says: /refuses the key \(401 unauthorized\)/,
  },
  {
    what: 'has no request left',
    open: () =>
      answering((_, response) =>
        response
          .writeHead(429, { ...json, 'x-ratelimit-reset': '1768471200', date: 'Thu, 15 Jan 2026 09:30:00 GMT' })
          .end(envelope('rate_limited')),
      ),
    code: 1,
    says: /come back in 30 min \(2026-01-15T10:00:00Z\)/,
  },
  {
    what: 'speaks something else',
    open: () => speaking((socket) => socket.end('220 mail\r\n')),
    code: 3,
    says: /not HTTP/,
  },
  {
    what: 'closes connections',
    open: () => speaking((socket) => socket.destroy()),
    code: 3,
    says: /closed without a response/,
  },
  {
    what: 'stops in the middle of a response',
    open: () =>
      speaking((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{')
        setImmediate(() => socket.destroy())
      }),
    code: 3,
    says: /in the middle of the response/,
  },
  {
    what: 'says nothing',
    open: () => speaking(() => {}),
    code: 3,
    says: /within 1 s \(--timeout\)/,
    args: ['--timeout', '1s'],
  },
  {
    what: 'sends a huge header',
    open: () => speaking((socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`)),
    code: 3,
    says: /more than 64 KiB/,
  },
  {
    what: 'sends a huge body',
    open: () => answering((_, response) => response.writeHead(200, json).end(Buffer.alloc(33 << 20, ' '))),
    code: 3,
    says: /more than 32 MiB/,
  },
  {
    what: 'has no TLS',
    open: () => answering((_, response) => response.end()),
    code: 3,
    says: /no TLS/,
    scheme: 'https',
  },
]

describe('verify', () => {
  it.for(BAD_TARGETS)(
    'says in one sentence that the target $what',
    async ({ open, code, says, scheme, args = [] }, { folder, onTestFinished }) => {
      const url = await listen(open(), onTestFinished)
      const target = scheme === undefined ? url : url.replace('http:', `${scheme}:`)
      await expectRefusal(['verify', '--base-url', target, ...args], code, says, { environment: KEY, folder })
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it.for<[what: string, status: number, body: string, says: RegExp]>([
    ['rubbish', 200, 'rubbish', /a body that is not JSON: "rubbish"/],
    ['a success as a failure', 418, '{"success":true,"data":{"groups":[],"count":0}}', /the status 418/],
  ])('judges a service that answers %s, and only reads', async ([, status, body, says], { folder, onTestFinished }) => {
    const methods = new Set<string | undefined>()
    const url = await listen(
      answering((request, response) => {
        methods.add(request.method)
        response.writeHead(status, json).end(body)
      }),
      onTestFinished,
    )
    const args = ['verify', '--base-url', url]
    const { code, stderr } = await runInProcess(args, { environment: KEY, folder })
    expect(code).toBe(1)
    expect(stderr).toMatch(says)
    expect(stderr).toMatch(/Nothing had to be removed/)
    expect(methods).toEqual(new Set(['GET', 'HEAD']))
    expect(readdirSync(folder)).toEqual([])
  })

  it('says that nothing listens there', async ({ folder }) => {
    const args = ['verify', '--base-url', 'http://127.0.0.1:9/api/v1']
    await expectRefusal(args, 3, /cannot be reached: nothing listens there/, { environment: KEY, folder })
  })

  it.for<[args: string[], says: RegExp]>([
    [[], /^--base-url URL: is needed/],
    [['--base-url', 'ftp://a.example/'], /^--base-url ftp:\/\/a\.example\/: must be the base URL/],
    [['--base-url', 'http://user:secret@a.example/'], /^--base-url: must not hold credentials$/],
    [['--base-url', 'http://a.example/', '--api-key', 'two words'], /^--api-key: must be 1 to 200 visible/],
    [
      ['--base-url', 'http://127.0.0.1:9/', '--read-only', '--allow-writes'],
      /^--read-only: contradicts --allow-writes/,
    ],
    [['--base-url', 'http://127.0.0.1:9/', '--resume', 'a', '--sweep', 'a'], /contradicts --sweep/],
    [
      ['--base-url', 'http://127.0.0.1:9/', '--resume', 'none.json'],
      /^--resume none\.json: cannot be opened \(ENOENT\)$/,
    ],
    [['--base-url', 'http://127.0.0.1:9/', '--domain-suffix', 'no host'], /^--domain-suffix no host: must be a domain/],
    [
      ['--base-url', 'http://127.0.0.1:9/', '--ledger', '/nowhere/a.json'],
      /^--ledger \/nowhere\/a\.json: cannot be opened/,
    ],
    [
      ['--base-url', 'http://127.0.0.1:9/', '--evidence', 'x', '--report', 'json=x'],
      /^--report json=x: is the file of --evidence x already; give each a file of its own$/,
    ],
    [
      ['--base-url', 'http://127.0.0.1:9/', '--ledger', './x', '--evidence', 'x'],
      /^--evidence x: is the file of --ledger \.\/x already/,
    ],
    [
      ['--base-url', 'http://127.0.0.1:9/', '--sweep', 'x', '--report', 'json=x'],
      /^--report json=x: is the file of --sweep x already/,
    ],
  ])('refuses %j', async ([args, says], { folder }) => {
    await expectRefusal(['verify', ...args], 2, says, { environment: KEY, folder })
  })

  it('needs a key', async ({ folder }) => {
    await expectRefusal(['verify', '--base-url', 'http://127.0.0.1:9/'], 2, /^--api-key KEY: is needed/, { folder })
  })

  it('prints its plan without sending anything', async ({ folder }) => {
    const { code, stdout } = await runInProcess(['verify', '--plan', '--base-url', 'http://127.0.0.1:9/'], { folder })
    expect(code).toBe(0)
    expect(stdout).toContain('costs 1 of /domaingroups')
    expect(stdout).toContain('POST /domains (write)')
    expect(stdout).toMatch(/It takes 2 windows of an hour/)
    const remote = await runInProcess(['verify', '--plan', '--base-url', 'https://a.example/'], { folder })
    expect(remote.stdout).not.toContain('(write)')
  })

  it('refuses the ledger of another target or key, and what is no ledger', async ({ folder }) => {
    const service = await startService()
    const ledger = join(folder, 'a.json')
    const head = {
      ledger: 'dmarc-understudy verify',
      version: 1,
      run: 'abcd1234',
      target: 'https://a.example',
      digest: 'x',
    }
    writeFileSync(ledger, `${JSON.stringify({ ...head, suffix: 'example', writes: true })}\n`)
    const args = ['verify', '--base-url', service.baseUrl, '--sweep', ledger]
    const environment = KEY
    await expectRefusal(args, 2, /is the ledger of another target, https:\/\/a\.example$/, { environment })
    writeFileSync(ledger, `${JSON.stringify({ ...head, target: service.baseUrl, suffix: 'example', writes: true })}\n`)
    await expectRefusal(args, 2, /is the ledger of another key$/, { environment })
    writeFileSync(ledger, `${JSON.stringify({ ...head, run: '', suffix: 'example', writes: true })}\n`)
    await expectRefusal(args, 2, /is no ledger of verify$/, { environment })
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

  it('restores the account when a signal comes', async ({ folder, start }) => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    const before = (await service.get('/domains')).text
    const running = start(['verify', '--base-url', service.baseUrl], { environment: KEY, folder })
    while ((await service.store.read('default')).groups.size < 8 && !running.stderr().includes('checks')) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(stderr).toContain('restores the account; another signal ends it at once')
    expect(stderr).toMatch(/^FAILED {2}The run was interrupted\. /m)
    expect(code).toBe(130)
    expect((await service.get('/domains')).text).toBe(before)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('that was killed is undone by a sweep', async ({ folder, startProcess }) => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    const inventory = async () => [(await service.get('/domains')).text, (await service.get('/domaingroups')).text]
    const before = await inventory()
    for (const moment of [1, 3].slice(0, budget({ quick: 1, full: 2 }))) {
      const killed = startProcess(['verify', '--base-url', service.baseUrl], { environment: KEY, folder })
      const { groups } = await service.store.read('default')
      while ((await service.store.read('default')).groups.size < groups.size + moment) {
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      killed.stop('SIGKILL')
      await killed.ended
      const [ledger = ''] = readdirSync(folder)
      expect(statSync(join(folder, ledger)).mode & 0o777).toBe(0o600)
      expect(readFileSync(join(folder, ledger), 'utf8')).not.toContain(API_KEY)
      expect(await inventory()).not.toEqual(before)
      const { code, stderr } = await runInProcess(
        ['verify', '--base-url', service.baseUrl, '--sweep', join(folder, ledger)],
        { environment: KEY },
      )
      expect(stderr).toMatch(/removed \d+ domains and \d+ groups of the run \w{8}; the account is as before\.\n$/)
      expect(code).toBe(0)
      expect(await inventory()).toEqual(before)
      expect(readdirSync(folder)).toEqual([])
    }
  }, 120_000)
})
