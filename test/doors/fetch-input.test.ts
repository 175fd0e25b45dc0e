import { describe, expect, it } from 'vitest'
import { startUnderstudy } from '../../src/index.ts'
import { openBothDoors, outcomeOf } from './both-doors.ts'

const URL_OF_IT = 'http://any.example/api/v1/domains'
const POST = { method: 'POST', headers: { 'content-type': 'application/json' } }

/** Pieces of a body, after which it breaks off. A number is a piece of so many bytes. */
function broken(pieces: readonly unknown[], error?: Error): RequestInit {
  const left = [...pieces]
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise(setImmediate)
      const piece = left.shift()
      if (piece !== undefined) controller.enqueue(typeof piece === 'number' ? new Uint8Array(piece) : piece)
      else if (error !== undefined) controller.error(error ?? undefined)
      else controller.close()
    },
  })
  return { ...POST, body, duplex: 'half' } as RequestInit
}

function used(read: (request: Request) => unknown): Request {
  const request = new Request(URL_OF_IT, { ...POST, body: '{}' })
  read(request)
  return request
}

const EXAMPLE = 'http://dmarc-understudy.test/api/v1/domains'
const NO_CLONE = `The body of POST ${URL_OF_IT} was read before, so it cannot be sent; pass a clone.`

describe('`fetch` of a stand-in refuses', () => {
  it.each<[name: string, input: unknown, init: RequestInit | undefined, message: string]>([
    ['nothing', undefined, undefined, `fetch takes a Request, or a URL such as ${EXAMPLE}; undefined is neither.`],
    ['null', null, undefined, `fetch takes a Request, or a URL such as ${EXAMPLE}; null is neither.`],
    ['an object', {}, undefined, `fetch takes a Request, or a URL such as ${EXAMPLE}; {} is neither.`],
    ['a relative URL', '/api/v1', undefined, `"/api/v1" is no absolute URL; give one such as ${EXAMPLE}.`],
    [
      'a Request with a relative URL',
      { url: '/x', method: 'GET', headers: [] },
      undefined,
      `"/x" is no absolute URL; give one such as ${EXAMPLE}.`,
    ],
    [
      'another scheme',
      new URL('ftp://any.example/'),
      undefined,
      `"ftp://any.example/" is no URL of HTTP; give one such as ${EXAMPLE}.`,
    ],
    ['a body that was read', used((request) => request.text()), undefined, NO_CLONE],
    ['a body that somebody reads', used((request) => request.body?.getReader()), undefined, NO_CLONE],
    ['CONNECT', URL_OF_IT, { method: 'CONNECT' }, "'CONNECT' HTTP method is unsupported."],
    ['TRACE', URL_OF_IT, { method: 'TRACE' }, "'TRACE' HTTP method is unsupported."],
    ['GET with a body', URL_OF_IT, { body: 'x' }, 'Request with GET/HEAD method cannot have body.'],
  ])('%s', async (_, input, init, message) => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
    const error = await service.fetch(input as Request, init).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    expect((error as TypeError).message).toBe(message)
    expect(await service.requests.list()).toEqual([])
  })
})

describe('A body that is not what it should be', () => {
  const MISMATCH = 'Request body length does not match content-length header'
  it.each<[name: string, init: () => RequestInit, cause: string, isRecorded: boolean]>([
    ['breaks off before its first byte', () => broken([], new Error('gone')), 'gone', false],
    ['breaks off later', () => broken([10, 10], new Error('gone')), 'gone', true],
    ['has a piece that is no bytes', () => broken([10, 7n]), 'Received non-Uint8Array chunk', true],
    [
      'is longer than it says',
      () => ({ ...broken([10, 10]), headers: { ...POST.headers, 'content-length': '15' } }),
      MISMATCH,
      true,
    ],
    [
      'is shorter than it says',
      () => ({ ...broken([10, 10]), headers: { ...POST.headers, 'content-length': '25' } }),
      MISMATCH,
      true,
    ],
    [
      'is a text of another length',
      () => ({ ...POST, body: 'xx', headers: { 'content-length': '3' } }),
      MISMATCH,
      false,
    ],
  ])('%s: the request fails', async (_, init, cause, isRecorded) => {
    const { direct } = await openBothDoors()
    const { ask, service } = direct
    expect((await ask('/api/v1/domains', init())).error).toMatchObject({ message: 'fetch failed', cause })
    await expect.poll(() => service.requests.list()).toHaveLength(isRecorded ? 1 : 0)
    if (isRecorded) expect(await service.requests.list()).toMatchObject([{ status: null }])
  })

  it('breaks off as on a socket while nobody reads it', async () => {
    const { socket, direct } = await openBothDoors()
    for (const { ask, service } of [socket, direct]) {
      await service.account.faults.add({ delay_ms: 60_000 })
      const { error } = await ask('/api/v1/domains', broken([10, 10], new Error('gone')))
      expect(error).toMatchObject({ message: 'fetch failed', cause: 'gone' })
      await expect.poll(() => service.requests.list()).toMatchObject([{ status: null }])
    }
  })

  it('breaks off on its way to the control plane', async () => {
    const { direct } = await openBothDoors()
    const { error } = await direct.control(
      '/accounts',
      broken(
        ['{'].map((text) => Buffer.from(text)),
        new Error('gone'),
      ),
    )
    expect(error).toMatchObject({ message: 'fetch failed', cause: 'gone' })
  })

  const MEBIBYTE = 1 << 20
  it.each<[name: string, headers: Record<string, string>, most: number]>([
    ['says so', { 'content-length': `${64 * MEBIBYTE}` }, 2 * MEBIBYTE],
    ['does not say so', {}, 3 * MEBIBYTE],
  ])('is not read whole if it is too long and %s', async (_, headers, most) => {
    const { direct } = await openBothDoors()
    let length = 0
    let isCancelled = false
    const body = new ReadableStream({
      pull(controller) {
        length += MEBIBYTE / 4
        controller.enqueue(new Uint8Array(MEBIBYTE / 4))
      },
      cancel() {
        isCancelled = true
      },
    })
    const sent = { ...POST, headers: { ...POST.headers, ...headers }, body }
    expect((await direct.ask('/api/v1/domains', sent)).status).toBe(413)
    expect(length).toBeLessThan(most)
    expect(isCancelled).toBe(true)
  })
})

describe('A request of another implementation of the standard', () => {
  it('is answered like any other', async () => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
    const { body } = new Request(URL_OF_IT, { ...POST, body: '{"domains":["a.example"]}' })
    const headers = new Map([['authorization', `Bearer ${service.apiKey}`], ...Object.entries(POST.headers)])
    const foreign = {
      url: URL_OF_IT,
      method: 'POST',
      headers,
      body,
      bodyUsed: false,
      signal: new AbortController().signal,
    }
    expect((await outcomeOf(service.fetch(foreign as unknown as Request))).status).toBe(200)
  })
})

describe('The control plane without a port', () => {
  it.each<[name: string, headers: Record<string, string>, status: number]>([
    ['a program that names no host', {}, 200],
    ['an application of this machine', { host: 'localhost:3000', origin: 'http://localhost:3000' }, 200],
    ['an application with another name', { host: 'app.example' }, 403],
    ['a page of another origin', { origin: 'https://evil.example' }, 403],
    ['a page of another origin, in an application', { host: 'localhost:3000', origin: 'https://evil.example' }, 403],
  ])('is asked by %s', async (_, headers, status) => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
    expect((await service.fetch('https://any.example/__admin/accounts', { headers })).status).toBe(status)
  })

  it('wants its token, and lets everybody in who has it', async () => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty', adminToken: 'token' })
    const url = `${service.adminUrl}/accounts`
    expect((await service.fetch(url)).status).toBe(401)
    const headers = { authorization: 'Bearer token', host: 'app.example' }
    expect((await service.fetch(url, { headers })).status).toBe(200)
  })

  it('is not there if it is not wanted', async () => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty', admin: false })
    expect(service.adminUrl).toBeUndefined()
    for (const path of ['/', '/__admin/health']) {
      expect((await service.fetch(`http://any.example${path}`)).status).toBe(404)
    }
  })
})

describe('The option `listen`', () => {
  it.each([
    [{ port: 4010 }, 'port 4010: is for a port; leave it out, or leave out listen: false.'],
    [{ host: 'localhost' }, 'host "localhost": is for a port; leave it out, or leave out listen: false.'],
    [{ maxConnections: 5 }, 'maxConnections 5: is for a port; leave it out, or leave out listen: false.'],
  ])('contradicts %j', async (options, message) => {
    await expect(startUnderstudy({ listen: false, ...options })).rejects.toThrow(message)
  })
})

describe('A body whose end nobody waits for', () => {
  const CONTROL = 'http://any.example/__admin/accounts'
  const NEVER = new Promise<void>(() => {})

  it.each([
    ['a method that does not exist', URL_OF_IT, 'patch', 400],
    ['a path that the control plane does not have', 'http://any.example/__admin/nothing', 'POST', 404],
  ])('is cancelled after %s', async (_, url, method, status) => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
    const cancelled = new Promise<void>((cancel) => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel: () => cancel(),
      })
      service.fetch(url, { ...POST, method, body, duplex: 'half' } as RequestInit).then(
        (response) => expect(response.status).toBe(status),
        () => {},
      )
    })
    await cancelled
  })

  it.each([
    ['of the service, and has bytes', URL_OF_IT, 100_000],
    ['of the service, and has none', URL_OF_IT, 0],
    ['of the control plane, and has bytes', CONTROL, 100_000],
    ['of the control plane, and has none', CONTROL, 0],
  ])('leaves time for others if it never ends, is that of a request %s', async (_, url, size) => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
    const leaving = new AbortController()
    let pieces = 0
    const body = new ReadableStream({
      pull(controller) {
        if (++pieces === 10) setImmediate(() => leaving.abort(new Error('enough')))
        // Otherwise the test would never end.
        if (pieces === 100_000) controller.error(new Error('starved'))
        else controller.enqueue(new Uint8Array(size))
      },
      cancel: () => NEVER,
    })
    const headers = { ...POST.headers, authorization: `Bearer ${service.apiKey}` }
    const sent = { method: 'POST', headers, body, duplex: 'half', signal: leaving.signal } as RequestInit
    const told = await service.fetch(url, sent).then(
      ({ status }) => `${status}`,
      (error: Error) => error.message,
    )
    expect(['enough', '413']).toContain(told)
  })

  it.each([URL_OF_IT, CONTROL])('fails if it breaks off without an error, on the way to %s', async (url) => {
    await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
    const headers = { ...POST.headers, authorization: `Bearer ${service.apiKey}` }
    await expect(service.fetch(url, { ...broken([10], null as unknown as Error), headers })).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: 'The body of the request broke off.' },
    })
  })
})

it.each([URL_OF_IT, 'http://any.example/__admin/health'])(
  'A field with a control character fails as it does with `fetch`, on the way to %s',
  async (url) => {
    await using service = await startUnderstudy({ fixture: 'empty' })
    const init = { headers: { 'x-odd': 'a\u0001b' } }
    const [, global] = await Promise.allSettled([service.fetch(url, init), fetch(service.baseUrl, init)])
    const { cause } = (global as PromiseRejectedResult).reason
    await expect(service.fetch(url, init)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: cause.message, code: cause.code, name: cause.name },
    })
  },
)

it('A URL may be that of another implementation, and a clone of the response has it', async () => {
  await using service = await startUnderstudy({ listen: false, fixture: 'empty' })
  const url = { href: URL_OF_IT, toString: () => URL_OF_IT }
  const response = await service.fetch(url as URL)
  expect([response.status, response.clone().url, response.clone().clone().url]).toEqual([401, URL_OF_IT, URL_OF_IT])
})
