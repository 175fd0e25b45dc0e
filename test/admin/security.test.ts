import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { isLoopback } from '../../src/http/hosts.ts'
import { OptionError, startUnderstudy } from '../../src/index.ts'
import { type ControlPlane, controlApi, expectDocumented, startControlPlane } from '../support/control-plane.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const TOKEN = 'a-token-for-the-control-plane'

interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies whose shape the document has validated
  body: any
}

/** Sends a request line and header fields as they are, and holds what comes back to the document. */
async function sendRaw(
  { adminUrl }: ControlPlane,
  method: string,
  target: string,
  fields: readonly string[],
  body = '',
): Promise<RawAnswer> {
  const { hostname, port } = new URL(adminUrl)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write([`${method} ${target} HTTP/1.1`, ...fields, 'Connection: close', '', body].join('\r\n'))
  await new Promise((resolve) => socket.once('close', resolve))
  const [head = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  const [line = '', ...given] = head.split('\r\n')
  const headers = Object.fromEntries(
    given.map((field) => [field.split(':')[0]?.toLowerCase(), field.replace(/^[^:]*: /, '')]),
  )
  const text = rest.join('\r\n\r\n')
  const answer = {
    status: Number(line.split(' ')[1]),
    headers,
    text,
    body: headers['content-type'] === 'application/json' && text !== '' ? JSON.parse(text) : undefined,
  }
  if (target.startsWith('/__admin/')) {
    expectDocumented(method, target.slice('/__admin'.length), answer)
  }
  return answer
}

/** A log that keeps everything, errors with their messages. */
function recordingLog() {
  const entries: string[] = []
  function keep(fields: object, message: string): void {
    const plain = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? String(value.stack) : value]),
    )
    entries.push(JSON.stringify({ ...plain, message }))
  }
  return { entries, info: keep, warn: keep, error: keep }
}

/** The same with the Host of the server itself. */
function sendTo(plane: ControlPlane, method: string, target: string, fields: readonly string[] = [], body = '') {
  return sendRaw(plane, method, target, [`Host: ${new URL(plane.adminUrl).host}`, ...fields], body)
}

describe('without a token, the control plane answers', () => {
  it.each<[host: string, status: number]>([
    ['127.0.0.1', 200],
    ['127.0.0.1:4010', 200],
    ['127.8.9.10:80', 200],
    ['localhost', 200],
    ['localhost:1', 200],
    ['LOCALHOST:4010', 200],
    ['[::1]', 200],
    ['[::1]:4010', 200],
    ['::1', 403],
    ['0.0.0.0:4010', 403],
    ['evil.example', 403],
    ['evil.example:4010', 403],
    ['127.0.0.1.nip.io', 403],
    ['127.0.0.1.evil.example:4010', 403],
    ['localhost.evil.com', 403],
    ['evil.localhost', 403],
    ['localhost.', 403],
    ['localhost@evil.example', 403],
    ['evil.example#localhost', 403],
    ['localhost:4010:80', 403],
    ['localhost:port', 403],
    ['169.254.169.254', 403],
    ['2130706433', 403],
    ['0x7f000001', 403],
    ['127.1', 403],
    ['[::ffff:127.0.0.1]', 403],
    ['', 403],
  ])('the Host %j with %i', async (host, status) => {
    const plane = await startControlPlane()
    const answer = await sendRaw(plane, 'GET', '/__admin/accounts', [`Host: ${host}`])
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body.error.code).toBe('forbidden')
    const { status: health } = await sendRaw(plane, 'GET', '/__admin/health', [`Host: ${host}`])
    expect(health).toBe(200)
    // Nor is what is wrong with the question.
    expect((await sendRaw(plane, 'GET', '/__admin/health?x=1', [`Host: ${host}`])).status).toBe(400)
  })

  it('no Host at all with 403', async () => {
    const plane = await startControlPlane()
    expect((await sendRaw(plane, 'GET', '/__admin/accounts', [])).status).toBe(403)
  })

  it.each<[origin: (origin: string) => string, status: number]>([
    [(own) => own, 200],
    [(own) => own.toUpperCase().replace('HTTP', 'http'), 200],
    [() => 'null', 403],
    [() => '', 403],
    [() => 'http://evil.example', 403],
    [() => 'https://evil.example', 403],
    [(own) => own.replace('http:', 'https:'), 403],
    [() => 'http://127.0.0.1', 403],
    [(own) => `${own}.evil.example`, 403],
    [(own) => `http://evil.example/${own}`, 403],
    [() => 'http://localhost:1', 403],
    [() => 'file://', 403],
  ])('an Origin made by %s with %i', async (make, status) => {
    const plane = await startControlPlane()
    const { origin } = new URL(plane.adminUrl)
    const answer = await sendTo(plane, 'POST', '/__admin/accounts', [`Origin: ${make(origin)}`])
    expect(answer.status).toBe(status === 200 ? 201 : status)
    expect((await plane.get('/accounts')).data.count).toBe(status === 200 ? 2 : 1)
    if (status === 403) expect(answer.body.error.message).toContain('pages of another site')
  })

  it('nothing that lets a page of another site read it', async () => {
    const plane = await startControlPlane()
    const preflight = ['Origin: http://evil.example', 'Access-Control-Request-Method: POST']
    for (const [method, fields] of [
      ['OPTIONS', preflight],
      ['GET', preflight],
      ['GET', []],
    ] as const) {
      const { headers } = await sendTo(plane, method, '/__admin/accounts', fields)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
    expect((await sendTo(plane, 'OPTIONS', '/__admin/accounts', preflight)).status).toBe(403)
  })
})

describe('with a token', () => {
  it.each<[authorization: string | null, status: number]>([
    [`Bearer ${TOKEN}`, 200],
    [`bearer ${TOKEN}`, 200],
    [`BEARER   ${TOKEN}`, 200],
    [null, 401],
    ['', 401],
    ['Bearer', 401],
    ['Bearer ', 401],
    [TOKEN, 401],
    [`Basic ${TOKEN}`, 401],
    [`Basic ${Buffer.from(`admin:${TOKEN}`).toString('base64')}`, 401],
    [`Token ${TOKEN}`, 401],
    [`Bearer ${TOKEN.slice(0, -1)}`, 401],
    [`Bearer ${TOKEN}x`, 401],
    [`Bearer ${TOKEN.toUpperCase()}`, 401],
    [`Bearer ${TOKEN} ${TOKEN}`, 401],
    [`Bearer wrong, Bearer ${TOKEN}`, 401],
    [`Bearer ${TOKEN}`.repeat(100), 401],
  ])('the Authorization %j is answered with %i', async (authorization, status) => {
    const { send } = await startControlPlane({ adminToken: TOKEN })
    const answer = await send('GET', '/accounts', undefined, { authorization })
    expect(answer.status).toBe(status)
    if (status === 401) {
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.error.code).toBe('unauthorized')
      expect(answer.text).not.toContain(TOKEN)
    }
  })

  it('neither Host nor Origin matter', async () => {
    const plane = await startControlPlane({ adminToken: TOKEN })
    const fields = ['Host: demo.example', 'Origin: https://elsewhere.example', `Authorization: Bearer ${TOKEN}`]
    expect((await sendRaw(plane, 'POST', '/__admin/accounts', fields)).status).toBe(201)
    expect((await sendRaw(plane, 'POST', '/__admin/accounts', fields.slice(0, 2))).status).toBe(401)
  })

  it.each(controlApi.operations.map(({ id, method, path }) => [id, method, path] as const))(
    '%s is for those who know it',
    async (id, method, path) => {
      const { send } = await startControlPlane({ adminToken: TOKEN })
      const there = path.replace('{account}', 'default').replaceAll(/\{[^}]+\}/g, 'x')
      const { status } = await send(method, there, undefined, { authorization: null })
      // The page holds nothing, and asks for the token itself.
      expect(status).toBe(['getHealth', 'getReadiness', 'getDashboard'].includes(id) ? 200 : 401)
    },
  )

  it('an unknown path tells nothing either, and a key of the service is no token', async () => {
    const { send, understudy } = await startControlPlane({ adminToken: TOKEN })
    for (const path of ['/nothing', '/accounts/nobody', '/accounts/default']) {
      const answer = await send('GET', path, undefined, { authorization: `Bearer ${understudy.apiKey}` })
      expect([answer.status, answer.error.code]).toEqual([401, 'unauthorized'])
    }
  })
})

describe('on a host that others can reach', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.com', '::ffff:127.0.0.1', '127.0.0.1.nip.io'])(
    '%s, a start without a token is refused',
    async (host) => {
      const error = await startUnderstudy({ host, fixture: 'empty' }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(OptionError)
      expect((error as OptionError).message).toContain('give adminToken or admin: false')
    },
  )

  it.each(['127.0.0.1', '127.1.2.3', 'localhost', 'LocalHost', '::1'])('%s is none', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  it('a start is not refused with a token, or without a control plane', async () => {
    const { send } = await startControlPlane({ host: '0.0.0.0', adminToken: TOKEN })
    expect((await send('GET', '/accounts')).status).toBe(200)
    expect((await send('GET', '/accounts', undefined, { authorization: null })).status).toBe(401)
    const bare = await startUnderstudy({ host: '0.0.0.0', admin: false, fixture: 'empty' })
    onTestFinished(() => bare.stop())
    expect(bare.adminUrl).toBeUndefined()
    const { origin } = new URL(bare.baseUrl)
    for (const path of ['/__admin', '/__admin/', '/__admin/health', '/__admin/accounts']) {
      const response = await fetch(origin + path)
      expect(response.status).toBe(404)
      expect(Object.keys((await response.json()) as object)).toEqual(['success', 'error'])
    }
  })
})

describe('a path with a trick', () => {
  it.each<[target: string, status: number, isAdmin: boolean]>([
    ['/__admin/../api/v1/domains', 404, true],
    ['/__admin/./accounts', 404, true],
    ['/__admin//accounts', 404, true],
    ['//__admin/accounts', 404, false],
    ['/__ADMIN/accounts', 404, false],
    ['/__admin%2faccounts', 404, false],
    ['/%5f%5fadmin/accounts', 404, false],
    ['/__adminx/accounts', 404, false],
    ['/api/v1/../../__admin/accounts', 404, false],
    ['/__admin/accounts/', 404, true],
    ['/__admin/Accounts', 404, true],
    ['/__admin/accounts/%2e%2e', 404, true],
    ['/__admin/accounts/%2e%2e/x', 404, true],
    ['/__admin/accounts/..%2fdefault', 404, true],
    ['/__admin/accounts/default%2fstate', 404, true],
    ['/__admin/accounts/default%00', 404, true],
    ['/__admin/accounts/%64efault', 200, true],
    ['/__admin/accounts/default%20', 404, true],
    ['/__admin/accounts/%zz', 404, true],
    ['/__admin/accounts/%', 404, true],
    ['/__admin/accounts/%ff', 404, true],
    ['/__admin/accounts/__proto__', 404, true],
    ['/__admin/accounts/constructor', 404, true],
    ['/__admin/accounts/default/keys/__proto__/x', 404, true],
    ['/__admin/accounts/default;x=1', 404, true],
    ['/__admin/accounts#x', 404, true],
    ['http://evil.example/__admin/accounts', 404, false],
    ['http://127.0.0.1/__admin/accounts', 404, false],
    ['*', 404, false],
  ])('%s is answered with %i', async (target, status, isAdmin) => {
    const plane = await startControlPlane()
    const answer = await sendTo(plane, 'GET', target)
    expect(answer.status).toBe(status)
    expect(answer.headers['x-request-id'] === undefined).toBe(isAdmin)
    if (status === 404) expect(answer.body.error.code).toBe('not_found')
  })

  it('finds accounts of odd names, and none of them leads out of the folder', async () => {
    const data = temporaryFolder()
    const { create, get } = await startControlPlane({ data })
    for (const id of ['__proto__', 'constructor', 'a..b', '~', '-', 'NUL', 'A'.repeat(100), 'toString']) {
      await create({ id })
      expect((await get(`/accounts/${id}`)).data.account.id).toBe(id)
      expect((await get(`/accounts/${encodeURIComponent(id)}/state`)).status).toBe(200)
    }
    expect(readdirSync(data).filter((name) => !name.startsWith('.'))).toHaveLength(9)
  })
})

describe('a method', () => {
  it.each<[method: string, path: string, status: number, allow?: string]>([
    ['OPTIONS', '/accounts', 405, 'GET, HEAD, POST'],
    ['TRACE', '/accounts', 405, 'GET, HEAD, POST'],
    ['PUT', '/accounts', 405, 'GET, HEAD, POST'],
    ['DELETE', '/accounts', 405, 'GET, HEAD, POST'],
    ['POST', '/accounts/default', 405, 'GET, HEAD, DELETE, PATCH'],
    ['POST', '/health', 405, 'GET, HEAD'],
    ['BREW', '/accounts', 400],
  ])('%s %s is answered with %i', async (method, path, status, allow) => {
    const plane = await startControlPlane()
    const answer = await sendRaw(
      plane,
      method,
      `/__admin${path}`.replace('/__admin', status === 400 ? '/__Admin' : '/__admin'),
      [`Host: ${new URL(plane.adminUrl).host}`],
    )
    expect(answer.status).toBe(status)
    expect(answer.headers['allow']).toBe(allow)
  })

  it.each([
    '/',
    '/health',
    '/openapi.json',
    '/metrics',
    '/accounts',
    '/accounts/default',
    '/events',
    '/accounts/default/events',
  ])('HEAD %s is GET without the body', async (path) => {
    const { send, adminUrl } = await startControlPlane()
    const head = await send('HEAD', path)
    expect(head).toMatchObject({ status: 200, text: '' })
    if (path.endsWith('/events')) return
    const get = await fetch(adminUrl + path)
    const text = await get.text()
    expect(head.headers['content-type']).toBe(get.headers.get('content-type'))
    if (path !== '/metrics') expect(head.headers['content-length']).toBe(String(Buffer.byteLength(text)))
  })
})

describe('a body', () => {
  const limit = readLimits(controlApi).bodyLimit
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  it('of 10 MB is refused, whether its length is announced or not', async () => {
    const { send, adminUrl } = await startControlPlane()
    const text = JSON.stringify({ id: 'x'.repeat(10 << 20) })
    const announced = await send('POST', '/accounts', text)
    expect(announced).toMatchObject({ status: 413, error: { code: 'request_too_large' } })
    expect(announced.error.message).toContain(String(limit))
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: stream, duplex: 'half' }
    expect((await fetch(`${adminUrl}/accounts`, init as RequestInit)).status).toBe(413)
  })

  it.each<[method: string, path: string, body: string]>([
    ['POST', '/accounts', deep(100_000)],
    ['POST', '/accounts', `{"id":${deep(100_000)}}`],
    ['POST', '/accounts', `{"unknown":${deep(100_000)}}`],
    ['POST', '/accounts', `{"fixture":{"domains":${deep(100_000)}}}`],
    ['POST', '/accounts', `{"fixture":{"domains":[${deep(100_000)}]}}`],
    ['POST', '/accounts', `{"fixture":{"title":${deep(100_000)}}}`],
    ['PUT', '/accounts/default/state', `{"clock":${deep(100_000)}}`],
    ['PUT', '/accounts/default/domains/a.example/features', `{"features":[${deep(100_000)}]}`],
    ['PUT', '/accounts/default/domains/a.example/dmarc', `{"p":${deep(100_000)}}`],
    ['PATCH', '/accounts/default/clock', `{"frozen":${deep(100_000)}}`],
    ['PATCH', '/accounts/default/quotas', `{"bucket":${deep(100_000)},"remaining":0}`],
    ['POST', '/accounts/default/faults', `{"respond":{"status":503,"body":${deep(20_000)}}}`],
    ['POST', '/accounts/default/requests/verify', `{"match":{"body":${deep(100_000)}}}`],
  ])('of %s %s that is nested deeply is refused or understood', async (method, path, body) => {
    const { send, get } = await startControlPlane({ fixture: { domains: ['a.example'] } })
    const { status } = await send(method, path, body)
    expect([200, 400]).toContain(status)
    expect((await get('/accounts')).data.count).toBe(1)
  })

  it.each([
    '{"__proto__":{"plan":"gold"}}',
    '{"constructor":{"prototype":{}}}',
    '{"toString":1}',
    '{"fixture":{"__proto__":{"plan":"gold"}}}',
    '{"fixture":{"keys":[{"__proto__":{"key":"x"}}]}}',
  ])('%s is refused, and changes the prototype of nothing', async (body) => {
    const { send } = await startControlPlane()
    const refusal = await send('POST', '/accounts', body)
    expect(refusal.status).toBe(400)
    expect(['unknown_field', 'invalid_fixture']).toContain(refusal.error.code)
    expect(({} as Record<string, unknown>)['plan']).toBeUndefined()
  })

  it.each<[type: string | null, status: number]>([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['text/plain', 400],
    ['application/x-www-form-urlencoded', 400],
    ['multipart/form-data', 400],
    [null, 400],
  ])('of type %s is answered with %i', async (type, status) => {
    const { send } = await startControlPlane()
    const { status: given } = await send('POST', '/accounts', new TextEncoder().encode('{"seed":1}'), {
      'content-type': type,
    })
    expect(given).toBe(status)
  })

  it('with more unknown fields than anyone would read is refused in short', async () => {
    const { post } = await startControlPlane()
    const refusal = await post(
      '/accounts',
      Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`f${index}`, 0])),
    )
    expect(refusal.error.problems).toHaveLength(100)
    expect(refusal.text.length).toBeLessThan(20_000)
  })
})

describe('a fixture', () => {
  it.each([
    '/etc/passwd',
    './fixtures/demo.json',
    '../package.json',
    'file:///etc/passwd',
    'demo.json',
    'C:\\x',
    ' demo',
  ])('given as %j is neither read nor looked for', async (fixture) => {
    const { post } = await startControlPlane()
    for (const path of ['/accounts', '/accounts/default/reset']) {
      const refusal = await post(path, { fixture })
      expect(refusal).toMatchObject({ status: 400, error: { code: 'invalid_value' } })
      expect(refusal.text).not.toMatch(/ENOENT|root:/)
    }
  })

  it('given as a URL is not fetched', async () => {
    let asked = 0
    const other = createServer((_, response) => {
      asked++
      response.end('{}')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/fixture.json`
    const { post, put } = await startControlPlane()
    expect((await post('/accounts', { fixture: url })).status).toBe(400)
    expect((await post('/accounts/default/reset', { fixture: url })).status).toBe(400)
    expect((await put('/accounts/default/state', { $ref: url })).status).toBe(400)
    expect((await post('/accounts', { fixture: { $schema: url } })).status).toBe(201)
    expect(asked).toBe(0)
  })
})

describe('a query', () => {
  it.each<[path: string, status: number, code: string]>([
    ['/accounts?x=1', 400, 'unknown_field'],
    ['/health?x=1', 400, 'unknown_field'],
    ['/accounts?__proto__=1', 400, 'unknown_field'],
    ['/accounts?constructor=1', 400, 'unknown_field'],
    ['/requests?status=abc', 400, 'invalid_value'],
    ['/requests?status=200&status=abc', 400, 'invalid_value'],
    ['/requests?status=abc&status=200', 400, 'invalid_value'],
    ['/requests?limit=9999999', 400, 'invalid_value'],
    ['/accounts?', 200, ''],
  ])('%s is answered with %i', async (path, status, code) => {
    const { get } = await startControlPlane()
    const answer = await get(path)
    expect(answer.status).toBe(status)
    if (status !== 200) expect(answer.error.code).toBe(code)
  })
})

describe('what a client sent', () => {
  it('comes back in messages without control characters', async () => {
    const { post, get } = await startControlPlane()
    const nasty = '\u001b[2J\u0007\u0000\r\nX: y\u009b31m\u202eevil\u2028'
    const answers = [
      await post('/accounts', { [nasty]: 1 }),
      await post('/accounts', { plan: nasty }),
      await post('/accounts', { fixture: { plan: nasty } }),
      await post('/accounts', { fixture: { domains: [nasty] } }),
      await post('/accounts', { fixture: { keys: [{ [nasty]: 1 }] } }),
      await get(`/accounts/${encodeURIComponent(nasty)}`),
      await get(`/accounts?${encodeURIComponent(nasty)}=1`),
    ]
    for (const { status, error } of answers) {
      expect([400, 404]).toContain(status)
      const messages = [error.message, ...error.problems.map(({ message }: { message: string }) => message)]
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      for (const message of messages) expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
    }
  })
})

describe('a secret', () => {
  it('stands in no answer but the one that gives it, in no log and in no file', async () => {
    const data = temporaryFolder()
    const log = recordingLog()
    const plane = await startControlPlane({ data, log, adminToken: TOKEN, apiKey: 'secret-of-the-default-account' })
    const { create, post, get, put, patch, delete: remove, send, ask } = plane
    const { id, key } = await create({
      fixture: { keys: [{ key: 'secret-of-the-fixture' }] },
      api_key: 'secret-that-was-chosen',
    })
    const given = await post(`/accounts/${id}/keys`, { label: 'CI' })
    const secrets = [TOKEN, 'secret-of-the-default-account', 'secret-of-the-fixture', key, given.data.api_key]
    for (const secret of secrets.slice(1)) await ask(secret, 'GET', '/domains')
    await ask('not-a-key-but-secret', 'GET', '/domains')
    await send('GET', '/accounts', undefined, { authorization: 'Bearer wrong-token' })
    const { data: state } = await get(`/accounts/${id}/state`)
    await post(`/accounts/${id}/snapshots`, { name: 's' })
    const answers = [
      await put(`/accounts/${id}/state`, { ...state, keys: [{ key: 'secret-of-an-import' }] }),
      await post(`/accounts/${id}/keys`, { key }),
      await post('/accounts', { api_key: key }),
      await post(`/accounts/${id}/reset`),
      await post(`/accounts/${id}/snapshots/s/restore`),
      await patch(`/accounts/${id}/clock`, { frozen: true }),
    ]
    const hashes = /"hash"|[0-9a-f]{64}/
    for (const operation of controlApi.operations) {
      if (operation.method !== 'GET' || operation.id.startsWith('stream')) continue
      const path = operation.path.replace('{account}', id).replace('{request-id}', 'x')
      answers.push(await get(path))
    }
    const { data: journal } = await get('/requests')
    for (const { request_id } of journal.requests) answers.push(await get(`/explain/${request_id}`))
    answers.push(await remove(`/accounts/${id}`))
    await plane.stop()
    const files = readdirSync(data)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFileSync(join(data, name), 'utf8'))
    const places = { answers: answers.map(({ text }) => text), log: log.entries, files }
    const all = [...secrets, 'secret-of-an-import', 'not-a-key-but-secret', 'wrong-token']
    for (const [place, texts] of Object.entries(places)) {
      expect(texts.join('').length).toBeGreaterThan(100)
      for (const secret of all)
        expect(
          texts.some((text) => text.includes(secret)),
          `${secret} in ${place}`,
        ).toBe(false)
    }
    expect(JSON.stringify(state)).not.toMatch(hashes)
  })
})

describe('the page', () => {
  it.each(['', '/', '?'])('is served at /__admin%s', async (rest) => {
    const { adminUrl } = await startControlPlane()
    const response = await fetch(adminUrl + rest)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})
