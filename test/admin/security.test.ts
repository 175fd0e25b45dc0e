import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createGuard } from '../../src/admin/guard.ts'
import { startUnderstudy } from '../../src/index.ts'
import {
  type ControlPlane,
  controlApi,
  expectDocumented,
  openControlPlane,
  startControlPlane,
} from '../support/control-plane.ts'
import { readResponses } from '../support/wire.ts'

const TOKEN = 'a-token-for-the-control-plane'

/** Sends a request line and header fields as they are, and holds what comes back to the document. */
async function sendRaw({ adminUrl }: ControlPlane, method: string, target: string, fields: readonly string[]) {
  const { hostname, port } = new URL(adminUrl)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write([`${method} ${target} HTTP/1.1`, ...fields, 'Connection: close', '', ''].join('\r\n'))
  await new Promise((resolve) => socket.once('close', resolve))
  const [response] = readResponses(Buffer.concat(chunks).toString(), [method])
  if (response === undefined) throw new Error(`${method} ${target} has no response.`)
  const { status, text } = response
  const headers = Object.fromEntries(response.headers.map(([name, value]) => [name.toLowerCase(), value]))
  const isJson = headers['content-type'] === 'application/json' && text !== ''
  const answer = { status, headers, text, body: isJson ? JSON.parse(text) : undefined }
  if (target.startsWith('/__admin/')) expectDocumented(method, target.slice('/__admin'.length), answer)
  return answer
}

/** The same with the Host of the server itself. */
function sendTo(plane: ControlPlane, method: string, target: string, fields: readonly string[] = []) {
  return sendRaw(plane, method, target, [`Host: ${new URL(plane.adminUrl).host}`, ...fields])
}

/** A server for tests that change nothing. */
let shared: ControlPlane
beforeAll(async () => {
  shared = await openControlPlane({ fixture: { domains: ['a.example'] } })
  return shared.stop
})

/** Whether a request with such headers is let in. */
function admits(headers: IncomingHttpHeaders, token?: string): boolean {
  const request = { url: '/__admin/accounts', headers, rawHeaders: [] as string[] }
  return createGuard(token, '127.0.0.1')(request as IncomingMessage) === undefined
}

describe('without a token, the control plane answers', () => {
  it('only Hosts of this machine', () => {
    const own = ['127.0.0.1', '127.8.9.10:80', 'localhost:1', 'LOCALHOST:4010', '[::1]:4010']
    const foreign = [
      ...[
        '::1',
        'evil.example:4010',
        '127.0.0.1.nip.io',
        'evil.localhost',
        'localhost@evil.example',
        '127.1',
        undefined,
      ],
    ]
    expect([...own, ...foreign].filter((host) => admits({ host }))).toEqual(own)
  })

  it('only an Origin that is its own', () => {
    const own = ['http://localhost:4010', 'http://LOCALHOST:4010']
    const foreign = [
      ...['null', '', 'http://evil.example', 'https://localhost:4010', 'http://localhost:1', 'file://'],
      ...['http://localhost:4010.evil.example', 'http://evil.example/http://localhost:4010'],
    ]
    expect([...own, ...foreign].filter((origin) => admits({ host: 'localhost:4010', origin }))).toEqual(own)
  })

  it('a foreign Host or Origin, and no Host, with 403, and only how it is to anybody', async () => {
    const answer = async (target: string, fields: string[]) => (await sendRaw(shared, 'GET', target, fields)).status
    const foreign = ['Host: evil.example']
    expect(await answer('/__admin/accounts', [])).toBe(403)
    expect(await answer('/__admin/accounts', foreign)).toBe(403)
    expect(await answer('/__admin/', foreign)).toBe(403)
    expect(await answer('/__admin/health', foreign)).toBe(200)
    // Nor is what is wrong with the question.
    expect(await answer('/__admin/health?x=1', foreign)).toBe(400)
    const refusal = await sendTo(shared, 'POST', '/__admin/accounts', ['Origin: http://evil.example'])
    expect([refusal.status, refusal.body.error.code]).toEqual([403, 'forbidden'])
    expect(refusal.body.error.message).toContain('pages of another site')
    expect((await shared.get('/accounts')).data.count).toBe(1)
  })
})

describe('with a token', () => {
  it('only those who give it are let in', () => {
    const right = [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER   ${TOKEN}`]
    const wrong = [
      ...[undefined, '', 'Bearer ', TOKEN, `Token ${TOKEN}`, `Bearer ${TOKEN.slice(0, -1)}`, `Bearer ${TOKEN}x`],
      ...[`Bearer ${TOKEN.toUpperCase()}`, `Bearer ${TOKEN} ${TOKEN}`, `Bearer wrong, Bearer ${TOKEN}`],
    ]
    expect([...right, ...wrong].filter((authorization) => admits({ authorization }, TOKEN))).toEqual(right)
  })

  it('every operation is for those who know it, except for the page, which holds nothing, and how the server is', async () => {
    const { send, adminUrl } = await startControlPlane({ adminToken: TOKEN })
    const open: string[] = []
    for (const { id, method, path } of controlApi.operations) {
      const there = path.replace('{account}', 'default').replaceAll(/\{[^}]+\}/g, 'x')
      const { status, headers, text } = await send(method, there, undefined, { authorization: 'Bearer wrong' })
      if (status === 200) open.push(id)
      else expect([status, headers['www-authenticate'], text.includes(TOKEN)], id).toEqual([401, 'Bearer', false])
    }
    expect(open.toSorted()).toEqual(['getHealth', 'getReadiness'])
    expect((await fetch(`${adminUrl}/`)).status).toBe(200)
  })
})

describe('on a host that others can reach', () => {
  it('a start without a token is refused', async () => {
    const start = startUnderstudy({ host: '127.0.0.1.nip.io', fixture: 'empty' })
    await expect(start).rejects.toThrow('give adminToken or admin: false')
  })

  it('a start is not refused with a token, or without a control plane', async () => {
    const { send } = await startControlPlane({ host: '0.0.0.0', adminToken: TOKEN })
    expect((await send('GET', '/accounts')).status).toBe(200)
    expect((await send('GET', '/accounts', undefined, { authorization: null })).status).toBe(401)
    const bare = await startUnderstudy({ host: '0.0.0.0', admin: false, fixture: 'empty' })
    onTestFinished(() => bare.stop())
    expect(bare.adminUrl).toBeUndefined()
    expect((await fetch(`${new URL(bare.baseUrl).origin}/__admin/`)).status).toBe(404)
  })
})

describe('a path with a trick', () => {
  it.each<[target: string, status: number]>([
    ...[
      '/../api/v1/domains',
      '//accounts',
      '/accounts/',
      '/accounts/..%2fdefault',
      '/accounts/%zz',
      '/accounts/__proto__',
    ].map((path): [string, number] => [`/__admin${path}`, 404]),
    ['/__admin/accounts/%64efault', 200],
  ])('that begins as one of the control plane, %s, is answered by it with %i', async (target, status) => {
    const answer = await sendTo(shared, 'GET', target)
    expect(answer.status).toBe(status)
    expect(answer.headers['x-request-id']).toBeUndefined()
    if (status === 404) expect(answer.body.error.code).toBe('not_found')
  })
})

it.each([
  ['OPTIONS', '/accounts', 405, 'GET, HEAD, POST'],
  ['POST', '/health', 405, 'GET, HEAD'],
])('The method of %s %s is answered with %i', async (method, path, status, allow) => {
  const answer = await sendTo(shared, method, `/__admin${path}`)
  expect([answer.status, answer.headers['allow']]).toEqual([status, allow])
})

describe('a body', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)

  it.each([
    ['POST', '', 'DEEP'],
    ['PUT', '/default/state', '{"clock":DEEP}'],
    ['POST', '/default/faults', '{"respond":{"status":503,"body":DEEP}}'],
  ])('of %s /accounts%s that is nested deeply is refused or understood: %s', async (method, path, body) => {
    const { status } = await shared.send(method, `/accounts${path}`, body.replace('DEEP', deep))
    expect([200, 400]).toContain(status)
    expect((await shared.get('/accounts')).data.count).toBe(1)
  })

  it.each(['{"__proto__":{"plan":"gold"}}', '{"fixture":{"__proto__":{"plan":"gold"}}}'])(
    '%s is refused, and changes the prototype of nothing',
    async (body) => {
      const { send } = shared
      const refusal = await send('POST', '/accounts', body)
      expect(refusal.status).toBe(400)
      expect(['unknown_field', 'invalid_fixture']).toContain(refusal.error.code)
      expect(({} as Record<string, unknown>)['plan']).toBeUndefined()
    },
  )

  it.each(['text/plain', null])('of type %s is refused, because a page of another site could send it', async (type) => {
    const body = new TextEncoder().encode('{"seed":1}')
    expect((await shared.send('POST', '/accounts', body, { 'content-type': type })).status).toBe(400)
  })
})

it('What a client sent comes back in messages without control characters', async () => {
  const { post, get } = await startControlPlane()
  const nasty = '\u001b[2J\u0007\u0000\r\nX: y\u009b31m\u202eevil\u2028'
  const answers = [
    await post('/accounts', { [nasty]: 1 }),
    await post('/accounts', { fixture: { domains: [nasty] } }),
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
