import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished } from 'vitest'
import { CERTIFICATE, PRIVATE_KEY } from '../evidence/proxy/certificate.ts'
import { budget } from '../support/budget.ts'
import { expectRefusal, it } from '../support/program.ts'
import type { RunningProgram } from '../support/running-program.ts'
import { API_KEY, startService } from '../support/service.ts'

/** Where the proxy listens, read from its greeting. */
async function listens(running: RunningProgram): Promise<string> {
  const [, baseUrl = ''] = await running.prints(/Base URL {3}(\S+)[\s\S]*Try it:\n {2}curl .+\n/)
  return baseUrl
}

function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...init.headers }
  return fetch(url, { ...init, headers })
}

async function dataAt<Data>(url: string): Promise<Data> {
  return ((await (await fetch(url)).json()) as { data: Data }).data
}

function add(baseUrl: string, body: object): Promise<Response> {
  return ask(`${baseUrl}/domains`, { method: 'POST', body: JSON.stringify(body) })
}

/** A service that does with each connection what the test says. */
async function startRaw(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function residentBytes(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' })) * 1024
}

describe('proxy', () => {
  it('passes on, records, judges, shows both sides in its control plane, and ends with 0', async ({
    folder,
    start,
  }) => {
    const service = await startService()
    const [har, evidence, json, readyFile] = ['a.har', 'a.evidence', 'a.json', 'ready.json'].map((name) =>
      join(folder, name),
    ) as [string, string, string, string]
    const running = start([
      ...['proxy', '--target', service.baseUrl, '--port', '0', '--record', har, '--evidence', evidence],
      ...['--report', `json=${json}`, '--ready-file', readyFile],
    ])
    const baseUrl = await listens(running)
    expect(JSON.parse(readFileSync(readyFile, 'utf8'))).toMatchObject({ base_url: baseUrl, api_key: null })
    expect((await add(baseUrl, { domains: ['a.example'] })).status).toBe(200)
    expect(await (await ask(`${baseUrl}/domains`)).json()).toEqual({ success: true, data: { domains: ['a.example'] } })
    expect((await add(baseUrl, { domains: ['b.example'], name: 'x' })).status).toBe(400)
    await ask(`${new URL(baseUrl).origin}/elsewhere`)
    const admin = `${new URL(baseUrl).origin}/__admin`
    await expect.poll(async () => (await dataAt<{ requests: number }>(`${admin}/verdict`)).requests).toBe(4)
    const verdict = await dataAt<object>(`${admin}/verdict`)
    expect(verdict).toMatchObject({
      passed: false,
      violations: { count: 1, by_code: { unknown_field: 1 }, first: [{ correction: null }] },
      service: { findings: 0, exchanges: 4, not_judged: 1 },
    })
    const journal = await dataAt<{ requests: unknown }>(`${admin}/accounts/default/requests?operation=addDomains`)
    expect(journal.requests).toMatchObject([
      { status: 200, key: 'key 1', request: { body: '{"domains":["a.example"]}' }, violations: [] },
      { status: 400, code: 'unknown_field', problems: [{ code: 'unknown_field' }] },
    ])
    const refused = await fetch(`${admin}/accounts/default/clock`)
    const { error } = (await refused.json()) as { error: { message: string } }
    expect([refused.status, error.message]).toEqual([
      403,
      'getClock is not possible here, because the proxy only observes a service: it has no account of its own.',
    ])
    expect(await (await fetch(`${admin}/`)).text()).toMatch(/^<!doctype html>/i)
    running.stop()
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr).toContain('1 request to paths that are not below the base URL of the service was passed on')
    const { log } = JSON.parse(readFileSync(har, 'utf8'))
    expect(log.entries.map(({ response }: { response: { status: number } }) => response.status)).toEqual([
      200, 200, 400, 404,
    ])
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ exchanges: 3 })
    for (const file of [har, evidence, json]) {
      expect(readFileSync(file, 'utf8')).not.toContain(API_KEY)
      expect(readFileSync(file, 'utf8')).not.toContain(API_KEY.split('.')[1])
    }
    expect(statSync(har).mode & 0o077).toBe(0)
  })

  it('ends with 1 with --fail-on-violation when something is wrong, or nothing was judged', async ({ start }) => {
    const body = '{"success":true,"data":{"domains":[]}}'
    const answer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const keyless = await startRaw((socket) => socket.once('data', () => socket.end(answer)))
    const service = await startService()
    const violating = start(['proxy', '--target', keyless, '--port', '0', '--fail-on-violation'])
    await (await fetch(`${await listens(violating)}/domains`)).text()
    violating.stop()
    const { code, stderr } = await violating.ended
    expect(stderr).toMatch(/dmarc-understudy: broken rule by the service: GET \/domains → 200/)
    expect(code).toBe(1)
    const idle = start(['proxy', '--target', service.baseUrl, '--port', '0', '--fail-on-violation'])
    await listens(idle)
    idle.stop()
    expect(await idle.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was judged') })
  })

  it('accuses nobody where a name holds a key, however it is written', async ({ start }) => {
    const service = await startService()
    const running = start(['proxy', '--target', service.baseUrl, '--port', '0', '--fail-on-violation'])
    const baseUrl = await listens(running)
    const escaped = API_KEY.replace('_', '\\u005f')
    for (const name of [escaped, `a ${API_KEY}`, Buffer.from(API_KEY).toString('base64')]) {
      const url = `${baseUrl}/domaingroups`
      expect((await ask(url, { method: 'POST', body: `{"name":"${name}"}` })).status).toBe(200)
    }
    await ask(`${baseUrl}/domaingroups`)
    await ask(`${baseUrl}/domains`)
    running.stop()
    const { code, stderr } = await running.ended
    expect(stderr).toContain('The service and its clients did nothing wrong')
    expect(code).toBe(0)
  })

  it('starts when the service does not answer, says so, and closes connections until it does', async ({ start }) => {
    const service = await startService()
    const { port } = new URL(service.baseUrl)
    await service.stop()
    const running = start(['proxy', '--target', `http://127.0.0.1:${port}`, '--port', '0'])
    const baseUrl = await listens(running)
    expect(running.stderr()).toContain('nothing listens there (ECONNREFUSED)')
    await expect(ask(`${baseUrl}/domains`)).rejects.toThrow()
    await expect(ask(`${baseUrl}/domains`)).rejects.toThrow()
    running.stop()
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr.match(/The connection of the client was closed/g)).toHaveLength(1)
    expect(stderr).toContain('2 connections to the service could not be made')
  })

  it('says what is strange in what a service answers', async ({ start }) => {
    const answers: Readonly<Record<string, string>> = {
      html: 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Hi</h1>',
      elsewhere: 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n',
      cut: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"su',
      nonsense: 'hello\r\n\r\n',
    }
    const target = await startRaw((socket) =>
      socket.once('data', (chunk) => socket.end(answers[/\?(\w+)/.exec(chunk.toString())?.[1] ?? ''] ?? '')),
    )
    const running = start(['proxy', '--target', target, '--port', '0'])
    const baseUrl = await listens(running)
    for (const name of Object.keys(answers)) {
      await ask(`${baseUrl}/domains?${name}`, { redirect: 'manual' })
        .then((response) => response.text())
        .catch(() => {})
    }
    running.stop()
    const { code, stderr } = await running.ended
    expect(stderr).toContain('1 response is HTML')
    expect(stderr).toContain('1 response led elsewhere (3xx)')
    expect(stderr).toContain('2 requests got no whole response')
    expect(code).toBe(0)
  })

  it('says so when a service refuses everything with 429', async ({ start }) => {
    const refusal = 'HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n'
    const running = start([
      'proxy',
      '--target',
      await startRaw((socket) => socket.once('data', () => socket.end(refusal))),
      '--port',
      '0',
    ])
    await ask(`${await listens(running)}/domains`)
    running.stop()
    expect((await running.ended).stderr).toContain('All requests were refused with 429')
  })

  it('never passes its control plane on, also on a connection that was used for the service', async ({ start }) => {
    const seen: string[] = []
    const target = await startRaw((socket) => {
      socket.on('data', (chunk) => {
        seen.push(chunk.toString())
        socket.write('HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n')
      })
    })
    const running = start(['proxy', '--target', target, '--port', '0'])
    const { port } = new URL(await listens(running))
    const socket = connect(Number(port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
    socket.write(get('/api/v1/domains') + get('/__admin/health') + get('/__admin/verdict'))
    await once(socket, 'close')
    expect(received).toMatch(/^HTTP\/1\.1 404 No\r\n[\s\S]*HTTP\/1\.1 200 OK\r\n[\s\S]*"status":"ok"/)
    expect(seen).toEqual([get('/api/v1/domains').replace(/localhost:\d+/, new URL(target).host)])
  })
})

describe('The program proxy', () => {
  it('leaves a whole recording when it is killed at any moment', async ({ folder, startProcess }) => {
    const service = await startService({ enforceQuotas: false })
    for (let run = 0; run < budget({ quick: 1, full: 8 }); run++) {
      const har = join(folder, `${run}.har`)
      const running = startProcess(['proxy', '--target', service.baseUrl, '--port', '0', '--record', har])
      const baseUrl = await listens(running)
      let answered = 0
      const traffic = (async () => {
        for (;;) {
          await (await ask(`${baseUrl}/domains`)).text()
          answered++
        }
      })().catch(() => {})
      await expect.poll(() => JSON.parse(readFileSync(har, 'utf8')).log.entries.length).toBeGreaterThan(3 * run)
      running.stop('SIGKILL')
      await running.ended
      await traffic
      const { log } = JSON.parse(readFileSync(har, 'utf8'))
      expect(log.entries.length).toBeLessThanOrEqual(answered + 1)
    }
  })

  it('judges in a thread of its own, and passes a stream on that is longer than its memory', async ({
    folder,
    startProcess,
  }) => {
    const size = budget({ quick: 64, full: 1_024 }) << 20
    const block = Buffer.alloc(1 << 20, ' ')
    const target = await startRaw((socket) => {
      let left = size
      const send = () => {
        while (left > 0) {
          left -= block.length
          if (!socket.write(block)) return
        }
      }
      socket.on('drain', send)
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
        send()
      })
    })
    const file = join(folder, 'ready.json')
    const running = startProcess([
      'proxy',
      '--target',
      target,
      '--port',
      '0',
      '--fail-on-violation',
      '--ready-file',
      file,
    ])
    const baseUrl = await listens(running)
    const { pid } = JSON.parse(readFileSync(file, 'utf8'))
    const before = residentBytes(pid)
    let received = 0
    let highest = 0
    for await (const chunk of (await ask(`${baseUrl}/domains`)).body ?? []) {
      if (received >> 25 !== (received + chunk.length) >> 25) highest = Math.max(highest, residentBytes(pid))
      received += chunk.length
    }
    expect(received).toBe(size)
    expect(highest - before).toBeLessThan(150 << 20)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect(stderr).toContain('The body is longer than 16 MiB.')
    expect(code).toBe(1)
  })
})

describe('proxy refuses', () => {
  it.each<[args: readonly string[], message: string | RegExp]>([
    [[], 'proxy: needs --target URL, such as --target https://api.example.com'],
    [
      ['--target', 'api.example.com'],
      '--target api.example.com: must begin with http:// or https://, such as https://api.example.com',
    ],
    [['--target', 'ftp://a.example'], '--target ftp://a.example: must begin with http:// or https://'],
    [['--target', 'https://'], '--target https://: must be a URL such as https://api.example.com'],
    [['--target', 'https://me:secret@a.example'], '--target: must not hold credentials; the client sends its own key'],
    [['--target', 'https://a.example/?a=b'], '--target https://a.example/?a=b: must not have a query or a fragment'],
    [
      ['--target', 'http://localhost:4999', '--port', '4999'],
      '--target http://localhost:4999: is the proxy itself; give another --port',
    ],
    [['--target', 'http://localhost:1', 'more'], 'proxy takes no argument, but was given more'],
    [
      ['--target', 'http://localhost:1', '--host', '0.0.0.0'],
      '--host 0.0.0.0: others can reach this address, so give --admin-token TOKEN or --no-admin',
    ],
    [['--target', 'https://a.example', '--ca', 'missing.pem'], '--ca missing.pem: cannot be read (ENOENT)'],
    [['--target', 'http://localhost:1', '--record', '/nowhere/a.har'], /^--record \/nowhere\/a\.har: .*ENOENT/],
    [['--target', 'http://localhost:1', '--evidence', '/nowhere/a.json'], /^--evidence \/nowhere\/a\.json: /],
    [
      ['--target', 'http://localhost:1', '--update-baseline'],
      '--update-baseline: needs --baseline FILE, which it writes',
    ],
  ])('%j', async (args, message) => {
    await expectRefusal(['proxy', ...args], 2, message)
  })

  it('a file of certificates without one', async ({ folder }) => {
    const file = join(folder, 'a.pem')
    writeFileSync(file, 'hello')
    const args = ['proxy', '--target', 'https://a.example', '--ca', file]
    await expectRefusal(args, 2, /^--ca .*: holds no certificate in PEM form$/)
  })

  it('a service with a certificate that is not trusted, unless it is told to trust it', async ({ folder, start }) => {
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, CERTIFICATE)
    const server = createSecureServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (request, response) =>
      response.end(`${request.headers.host} ${(request.socket as TLSSocket).authorized}`),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const target = `https://localhost:${port}`
    const refusal = new RegExp(
      `^${target} has a certificate that is not trusted \\(DEPTH_ZERO_SELF_SIGNED_CERT\\); --ca FILE`,
    )
    await expectRefusal(['proxy', '--target', target, '--port', '0'], 3, refusal)
    for (const trust of [['--ca', ca], ['--insecure']]) {
      const running = start(['proxy', '--target', target, '--port', '0', ...trust])
      const baseUrl = await listens(running)
      expect(await (await ask(`${baseUrl}/domains`)).text()).toBe(`localhost:${port} false`)
      running.stop()
      await running.ended
    }
  })

  it('https:// where no TLS is spoken', async () => {
    const { host } = new URL((await startService()).baseUrl)
    const args = ['proxy', '--target', `https://${host}`, '--port', '0']
    await expectRefusal(args, 2, new RegExp(`^--target https://${host}: https://${host} does not speak TLS`))
  })
})
