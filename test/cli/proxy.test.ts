import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect } from 'vitest'
import { CERTIFICATE, PRIVATE_KEY } from '../proxy/certificate.ts'
import { actionsFor } from '../support/alternatives.ts'
import { listenOn } from '../support/listening.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it } from '../support/program.ts'
import { API_KEY, startService } from '../support/service.ts'
import { ask, listens, startRaw } from './proxied.ts'

async function dataAt<Data>(url: string): Promise<Data> {
  return ((await (await fetch(url)).json()) as { data: Data }).data
}

const add = (baseUrl: string, body: object) => ask(`${baseUrl}/domains`, { method: 'POST', body: JSON.stringify(body) })

describe('proxy', () => {
  it('passes on, records, judges, shows both sides in its control plane, and ends with 0', async ({
    folder,
    start,
  }) => {
    const service = await startService()
    const [har, evidence, json, ready] = ['har', 'evidence', 'json', 'ready'].map((name) => join(folder, name)) as [
      ...[string, string, string, string],
    ]
    const running = start([
      ...['proxy', '--target', service.baseUrl, '--port', '0', '--record', har, '--evidence', evidence],
      ...['--report', `json=${json}`, '--ready-file', ready],
    ])
    const baseUrl = await listens(running)
    expect(JSON.parse(readFileSync(ready, 'utf8'))).toMatchObject({ base_url: baseUrl, api_key: null })
    expect((await add(baseUrl, { domains: ['a.example'] })).status).toBe(200)
    const answer = await (await ask(`${baseUrl}/domains`)).json()
    expect(answer).toEqual({ success: true, data: { domains: ['a.example'] } })
    expect((await add(baseUrl, { domains: ['b.example'], name: 'x' })).status).toBe(400)
    await ask(`${new URL(baseUrl).origin}/elsewhere`)
    const admin = `${new URL(baseUrl).origin}/__admin`
    await expect.poll(async () => (await dataAt<{ requests: number }>(`${admin}/verdict`)).requests).toBe(4)
    expect(await dataAt<object>(`${admin}/verdict`)).toMatchObject({
      passed: true,
      judged: 3,
      violations: { count: 1, by_code: { unknown_field: 1 }, first: [{ correction: null }] },
      service: { findings: 0, exchanges: 4, not_judged: 1 },
    })
    const journal = await dataAt<{ requests: { id: string }[] }>(
      `${admin}/accounts/default/requests?operation=addDomains`,
    )
    expect(journal.requests).toMatchObject([
      {
        ...{ status: 200, key: 'key 1', violations: [] },
        request: { body: '{"domains":["a.example"]}', headers: { 'content-type': 'application/json' } },
        response: { headers: { 'x-ratelimit-limit': '30' } },
      },
      { status: 400, code: 'unknown_field', violations: [{ by: 'client', label: 'contract violation' }] },
    ])
    const [, violation] = journal.requests
    expect(await dataAt<object>(`${admin}/explain/${violation?.id}`)).toMatchObject({
      summary: expect.stringMatching(/^The service refused it with 400 "unknown_field"\. .+/),
      ...{ correction: null, reproduction: null, problems: [{ code: 'unknown_field' }] },
    })
    const refused = await fetch(`${admin}/accounts/default/clock`)
    const { error } = (await refused.json()) as { error: { message: string } }
    const message =
      'getClock is not possible here, because the proxy only observes a service: it has no account of its own.'
    expect([refused.status, error.message]).toEqual([403, message])
    running.stop()
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr).toContain('which were passed on and not judged: 1.')
    expect(stderr).toMatch(/^Recording +.*har, 4 exchanges$/m)
    const { entries } = JSON.parse(readFileSync(har, 'utf8')).log as { entries: { response: { status: number } }[] }
    expect(entries.map(({ response }) => response.status)).toEqual([200, 200, 400, 404])
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ exchanges: 3 })
    const written = [har, evidence, json].map((file) => readFileSync(file, 'utf8'))
    for (const text of [...written, JSON.stringify(journal)]) expect(text).not.toContain(API_KEY.split('.')[1])
    expect(statSync(har).mode & 0o077).toBe(0)
  })

  it('passes on what is too long to be judged, and says so', async ({ start }) => {
    const size = 17 << 20
    const target = await startRaw((socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
        socket.end(Buffer.alloc(size, ' '))
      }),
    )
    const running = start(['proxy', '--target', target, '--port', '0', '--fail-on-violation'])
    const baseUrl = await listens(running)
    expect(await (await fetch(new URL('/__admin/', baseUrl))).text()).toMatch(/^<!doctype html>/i)
    let received = 0
    for await (const chunk of (await ask(`${baseUrl}/domains`)).body ?? []) received += chunk.length
    expect(received).toBe(size)
    running.stop('SIGINT')
    expect(await running.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The body is longer than 16 MiB.'),
    })
  })

  it('starts when the service does not answer, says so, and answers 502 until it does', async ({ start }) => {
    const service = await startService()
    await service.stop()
    const running = start(['proxy', '--target', new URL(service.baseUrl).origin, '--port', '0'])
    const baseUrl = await listens(running)
    expect(running.stderr()).toContain('nothing listens there (ECONNREFUSED)')
    for (const _ of [1, 2]) expect((await ask(`${baseUrl}/domains`)).status).toBe(502)
    running.stop()
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr.match(/The client got 502/g)).toHaveLength(1)
    expect(stderr).toContain('Connections to the service that could not be made or were broken off: 2.')
  })
})

describe('proxy --fail-on-violation', () => {
  const [CLIENT, BOTH] = ['--fail-on client', '--fail-on both']
  const mistake = (baseUrl: string) => add(baseUrl, { domains: ['a.example'], name: 'x' })
  const keyless = async (baseUrl: string) => {
    await fetch(`${baseUrl}/domains`)
    await ask(`${baseUrl}/domains`)
  }

  /** A service that asks for no key, in spite of the rule. */
  const startKeyless = (baseUrl: string) =>
    startRaw((client) => {
      const inner = connect(Number(new URL(baseUrl).port), '127.0.0.1').on('error', () => {})
      inner.pipe(client)
      client.on('data', (chunk) => {
        inner.write(chunk.toString('latin1').replace('\r\n\r\n', `\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`))
      })
    })

  it.for<[passed: boolean, what: string, options: string, send: (baseUrl: string) => Promise<unknown>]>([
    [true, 'another choice', BOTH, (baseUrl) => ask(`${baseUrl}/domains?a=b`)],
    [false, 'a mistake of the client that counts', CLIENT, mistake],
    [false, 'a mistake of the service', '', keyless],
    [true, 'a mistake of the service that is accepted', '--baseline known', keyless],
    [false, 'no traffic', '', async () => {}],
  ])('and the verdict of the control plane say %s with %s', async ([passed, , options, send], { folder, start }) => {
    const overlays = [writeOverlay(folder, actionsFor('unknown-query-parameters-1'))]
    const service = await startService({ overlays })
    const id = 'broken-rule/listDomains/200/key-required'
    writeFileSync(join(folder, 'known'), JSON.stringify({ findings: [{ id, reason: 'It is known.' }] }))
    const target = send === keyless ? await startKeyless(service.baseUrl) : service.baseUrl
    const given = options.split(' ').filter(Boolean)
    const args = ['proxy', '--target', target, '--port', '0', '--fail-on-violation', ...given]
    const running = start(args, { folder })
    const baseUrl = await listens(running)
    await send(baseUrl)
    const verdict = await dataAt<{ passed: boolean }>(`${new URL(baseUrl).origin}/__admin/verdict`)
    running.stop()
    const { code, stderr } = await running.ended
    expect([verdict.passed, /^PASSED /m.test(stderr), code]).toEqual([passed, passed, passed ? 0 : 1])
  })
})

describe('proxy with TLS', () => {
  it('refuses a certificate that is not trusted, unless it is told to trust it', async ({ folder, start }) => {
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, CERTIFICATE)
    const server = createSecureServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (request, response) =>
      response.end(`${request.headers.host} ${(request.socket as TLSSocket).authorized}`),
    )
    const port = await listenOn(server)
    const args = ['proxy', '--target', `https://localhost:${port}`, '--port', '0']
    const refusal = / cannot be reached: its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\); --ca FILE/
    await expectRefusal(args, 3, refusal)
    for (const trust of [['--ca', ca], ['--insecure']]) {
      const baseUrl = await listens(start([...args, ...trust]))
      expect(await (await ask(`${baseUrl}/domains`)).text()).toBe(`localhost:${port} false`)
    }
  })

  it('refuses https:// where no TLS is spoken', async () => {
    const { host } = new URL((await startService()).baseUrl)
    const args = ['proxy', '--target', `https://${host}`, '--port', '0']
    await expectRefusal(
      args,
      2,
      `--target https://${host}: https://${host} cannot be reached: there is no TLS at this port…`,
    )
  })
})
