import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { Investigation } from '../../src/conformance/investigation.ts'
import { Witness } from '../../src/proxy/witness.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../proxy/certificate.ts'
import { listenOn } from '../support/listening.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it, type Tools } from '../support/program.ts'
import { API_KEY, startService } from '../support/service.ts'
import { ask, listens, startRaw } from './proxied.ts'

async function dataAt<Data>(url: string): Promise<Data> {
  return ((await (await fetch(url)).json()) as { data: Data }).data
}

function add(baseUrl: string, body: object): Promise<Response> {
  return ask(`${baseUrl}/domains`, { method: 'POST', body: JSON.stringify(body) })
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
    expect(await (await ask(`${baseUrl}/domains`)).json()).toEqual({
      success: true,
      data: { domains: ['a.example'] },
    })
    expect((await add(baseUrl, { domains: ['b.example'], name: 'x' })).status).toBe(400)
    await ask(`${new URL(baseUrl).origin}/elsewhere`)
    const admin = `${new URL(baseUrl).origin}/__admin`
    await expect.poll(async () => (await dataAt<{ requests: number }>(`${admin}/verdict`)).requests).toBe(4)
    const verdict = await dataAt<object>(`${admin}/verdict`)
    expect(verdict).toMatchObject({
      passed: true,
      judged: 3,
      violations: { count: 1, by_code: { unknown_field: 1 }, first: [{ correction: null }] },
      service: { findings: 0, exchanges: 4, not_judged: 1 },
    })
    const journal = await dataAt<{ requests: unknown }>(`${admin}/accounts/default/requests?operation=addDomains`)
    expect(journal.requests).toMatchObject([
      { status: 200, key: 'key 1', request: { body: '{"domains":["a.example"]}' }, violations: [] },
      { status: 400, code: 'unknown_field', violations: [{ by: 'client', label: 'contract violation' }] },
    ])
    const refused = await fetch(`${admin}/accounts/default/clock`)
    const { error } = (await refused.json()) as { error: { message: string } }
    expect([refused.status, error.message]).toEqual([
      403,
      'getClock is not possible here, because the proxy only observes a service: it has no account of its own.',
    ])
    // It is whole after each exchange; other tests kill the program meanwhile.
    const recorded = () => JSON.parse(readFileSync(har, 'utf8')).log.entries
    await expect.poll(() => recorded().length).toBe(4)
    running.stop()
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr).toContain('1 request to paths that are not below the base URL of the service was passed on')
    const statuses = recorded().map(({ response }: { response: { status: number } }) => response.status)
    expect(statuses).toEqual([200, 200, 400, 404])
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

  it('says what is strange in what a service answers', async ({ folder, start }) => {
    const answers: Readonly<Record<string, string>> = {
      html: 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Hi</h1>',
      elsewhere: 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n',
      cut: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"su',
      nonsense: 'hello\r\n\r\n',
    }
    const target = await startRaw((socket) =>
      socket.once('data', (chunk) => socket.end(answers[/\?(\w+)/.exec(chunk.toString())?.[1] ?? ''] ?? '')),
    )
    const json = join(folder, 'a.json')
    const running = start(['proxy', '--target', target, '--port', '0', '--report', `json=${json}`])
    const baseUrl = await listens(running)
    for (const name of Object.keys(answers)) {
      await ask(`${baseUrl}/domains?${name}`, { redirect: 'manual' })
        .then((response) => response.text())
        .catch(() => {})
    }
    running.stop()
    expect((await running.ended).code).toBe(0)
    expect(JSON.parse(readFileSync(json, 'utf8')).warnings).toEqual([
      '1 message was not valid HTTP/1.1, and not passed on.',
      '1 connection to the service could not be made or was broken off.',
      '2 requests got no whole response.',
      '1 response led elsewhere (3xx), where the proxy does not see what a client does.',
      '1 response is HTML; is every path right?',
    ])
  })

  it('says so when a service refuses everything with 429', async ({ start }) => {
    const refusal = 'HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n'
    const target = await startRaw((socket) => socket.once('data', () => socket.end(refusal)))
    const running = start(['proxy', '--target', target, '--port', '0'])
    await ask(`${await listens(running)}/domains`)
    running.stop()
    expect((await running.ended).stderr).toContain('All requests were refused with 429')
  })
})

describe('The verdict of the control plane and the result of the command are the same', () => {
  const BOTH = ['--fail-on', 'both']
  const CLIENT = ['--fail-on', 'client']
  const post = (path: string, body: object) => (baseUrl: string) =>
    ask(baseUrl + path, { method: 'POST', body: JSON.stringify(body) })
  const list = (baseUrl: string) => ask(`${baseUrl}/domains`)
  const MISTAKE = post('/domains', { domains: ['a.example'], name: 'x' })
  const KNOWN = 'broken-rule/listDomains/200/key-required'

  it.for<
    [
      what: string,
      passed: boolean,
      args: string[],
      ask: (baseUrl: string) => Promise<unknown>,
      setting?: [name: string, value: string],
    ]
  >([
    [
      'a service with another choice',
      true,
      BOTH,
      post('/domaingroups', { name: 'a', domains: null }),
      ['null-fields', 'absent'],
    ],
    [
      'another choice that refuses',
      true,
      BOTH,
      (baseUrl) => ask(`${baseUrl}/domains?a=b`),
      ['unknown-query-parameters', 'refused'],
    ],
    ['a mistake of the client', true, [], MISTAKE],
    ['a mistake of the client that counts', false, CLIENT, MISTAKE],
    ['a mistake of either side that counts', false, BOTH, MISTAKE],
    ['no traffic', false, [], async () => {}],
  ])('with %s', async ([, passed, args, send, setting], { start, folder }) => {
    const [name, value] = setting ?? []
    const overlays =
      name === undefined ? [] : [writeOverlay(folder, [{ target: `$['x-settings']['${name}']`, update: { value } }])]
    const service = await startService({ overlays })
    expect(await results(start, service.baseUrl, args, send)).toEqual([passed, passed, passed ? 0 : 1])
  })

  it.for<[what: string, passed: boolean, args: string[], baseline: string[]]>([
    ['counts', false, [], []],
    ['is of the other side', true, CLIENT, []],
    ['is accepted', true, [], [KNOWN]],
  ])('with a mistake of the service that %s', async ([, passed, args, known], { start, folder }) => {
    const service = await startService()
    const target = await startRaw((client) => {
      client.once('data', (chunk) => {
        // A key is not asked for, in spite of the rule.
        const inner = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
        inner.on('error', () => {})
        inner.pipe(client)
        inner.write(chunk.toString('latin1').replace('\r\n\r\n', `\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`))
      })
    })
    const baseline = join(folder, 'known.json')
    writeFileSync(baseline, JSON.stringify({ findings: known.map((id) => ({ id, reason: 'It is known.' })) }))
    const send = async (baseUrl: string) => {
      await fetch(`${baseUrl}/domains`)
      await list(baseUrl)
    }
    const all = [...args, '--baseline', baseline]
    expect(await results(start, target, all, send)).toEqual([passed, passed, passed ? 0 : 1])
  })

  it('with exchanges that were not judged before the end', async ({ start }) => {
    const service = await startService()
    let judge = () => {}
    const gate = new Promise<void>((resolve) => {
      judge = resolve
    })
    const { take } = Investigation.prototype
    const taking = vi.spyOn(Investigation.prototype, 'take').mockImplementation(async function (
      this: Investigation,
      exchange,
    ) {
      await gate
      return take.call(this, exchange)
    })
    const { finish } = Witness.prototype
    const ending = vi.spyOn(Witness.prototype, 'finish').mockImplementation(function (this: Witness) {
      const done = finish.call(this, AbortSignal.abort())
      judge()
      return done
    })
    onTestFinished(() => {
      taking.mockRestore()
      ending.mockRestore()
    })
    const running = start(['proxy', '--target', service.baseUrl, '--port', '0', '--fail-on-violation', '--no-admin'])
    const baseUrl = await listens(running)
    for (let count = 0; count < 4; count++) expect((await list(baseUrl)).status).toBe(200)
    await expect.poll(() => taking.mock.calls.length).toBe(1)
    running.stop()
    const { code, stderr } = await running.ended
    expect(stderr).toContain('FAILED  3 of 4 exchanges were not judged before the proxy ended.')
    expect(code).toBe(1)
  })

  it('ends with its report and 3 when the judge has ended', async ({ folder, start }) => {
    const service = await startService()
    const report = join(folder, 'report.json')
    const concluding = vi.spyOn(Investigation.prototype, 'conclude').mockImplementation(() => {
      throw new Error('out of memory')
    })
    onTestFinished(() => concluding.mockRestore())
    const args = ['proxy', '--target', service.baseUrl, '--port', '0', '--report', `json=${report}`]
    const running = start(args)
    await list(await listens(running))
    running.stop()
    const { code, stderr } = await running.ended
    expect(stderr).toMatch(/^FAILED {2}.*ended with all that it has found.*: out of memory/m)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(code).toBe(3)
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ judged: 0, findings: [] })
  })

  /** Whether the verdict and the command say that the traffic passes, and the exit code. */
  async function results(
    start: Tools['start'],
    target: string,
    args: readonly string[],
    send: (baseUrl: string) => Promise<unknown>,
  ): Promise<[verdict: boolean, command: boolean, code: number | null]> {
    const running = start(['proxy', '--target', target, '--port', '0', '--fail-on-violation', ...args])
    const baseUrl = await listens(running)
    await send(baseUrl)
    const { passed } = await dataAt<{ passed: boolean }>(`${new URL(baseUrl).origin}/__admin/verdict`)
    running.stop()
    const { code, stderr } = await running.ended
    return [passed, /^PASSED /m.test(stderr), code]
  }
})

describe('proxy refuses', () => {
  it('a file of certificates without one', async ({ folder }) => {
    const file = join(folder, 'a.pem')
    writeFileSync(file, 'hello')
    const args = ['proxy', '--target', 'https://a.example', '--ca', file]
    await expectRefusal(args, 2, /^--ca .*: The file has no certificate. Give certificates in PEM form.$/)
  })

  it('a service with a certificate that is not trusted, unless it is told to trust it', async ({ folder, start }) => {
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, CERTIFICATE)
    const server = createSecureServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (request, response) =>
      response.end(`${request.headers.host} ${(request.socket as TLSSocket).authorized}`),
    )
    const port = await listenOn(server)
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
