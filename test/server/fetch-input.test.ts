import { describe, expect, it } from 'vitest'
import { startUnderstudy } from '../../src/index.ts'
import { openDirectDoor, outcomeOf } from './both-doors.ts'

const URL_OF_IT = 'http://any.example/api/v1/domains'
const CONTROL = 'http://any.example/__admin/accounts'
const POST = { method: 'POST', headers: { 'content-type': 'application/json' } }
const open = () => startUnderstudy({ listen: false, fixture: 'empty' })

/** Sends pieces as a body, after which it ends, or breaks off. A number is a piece of so many bytes. */
function inPieces(pieces: readonly unknown[], error?: Error): RequestInit {
  const left = [...pieces]
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise(setImmediate)
      const piece = left.shift()
      if (piece !== undefined) controller.enqueue(typeof piece === 'number' ? new Uint8Array(piece) : piece)
      else if (error !== undefined) controller.error(error)
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

it.each<[name: string, input: unknown, init: RequestInit | undefined, message: string]>([
  ['nothing', undefined, undefined, `fetch takes a Request, or a URL such as ${EXAMPLE}; undefined is neither.`],
  ['a relative URL', '/api/v1', undefined, `"/api/v1" is no absolute URL; give one such as ${EXAMPLE}.`],
  [
    'another scheme',
    new URL('ftp://any.example/'),
    undefined,
    `"ftp://any.example/" is no URL of HTTP; give one such as ${EXAMPLE}.`,
  ],
  ['a body that was read', used((request) => request.text()), undefined, NO_CLONE],
])('`fetch` of a stand-in refuses %s', async (_, input, init, message) => {
  await using service = await open()
  const error = await service.fetch(input as Request, init).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TypeError)
  expect((error as TypeError).message).toBe(message)
  expect(await service.requests.list()).toEqual([])
})

it('A request of another implementation of the standard is answered like any other', async () => {
  await using service = await open()
  const { body } = new Request(URL_OF_IT, { ...POST, body: '{"domains":["a.example"]}' })
  const headers = new Map([['authorization', `Bearer ${service.apiKey}`], ...Object.entries(POST.headers)])
  const { signal } = new AbortController()
  const foreign = { url: URL_OF_IT, method: 'POST', headers, body, bodyUsed: false, signal }
  expect((await outcomeOf(service.fetch(foreign as unknown as Request))).status).toBe(200)
  const url = { href: URL_OF_IT, toString: () => URL_OF_IT }
  expect((await service.fetch(url as URL)).status).toBe(401)
})

describe('A body', () => {
  const error = new Error('gone')
  it.each<[name: string, init: () => RequestInit, cause: string]>([
    ['breaks off', () => inPieces([10, 10], error), 'gone'],
    ['has a piece that is no bytes', () => inPieces([10, 7n]), 'Received non-Uint8Array chunk'],
  ])('that %s lets the request fail, of which the service learns nothing', async (_, init, cause) => {
    const direct = await openDirectDoor()
    const { ask, service } = direct
    expect((await ask('/api/v1/domains', init())).error).toMatchObject({ message: 'fetch failed', cause })
    expect(await service.requests.list()).toEqual([])
    const toControl = await direct.control('/accounts', inPieces([1], error))
    expect(toControl.error).toMatchObject({ message: 'fetch failed', cause: 'gone' })
  })

  it('is not read whole if it is too long', async () => {
    const direct = await openDirectDoor()
    const piece = new Uint8Array(1 << 18)
    let [pieces, isCancelled] = [0, false]
    const body = new ReadableStream({
      pull(controller) {
        pieces++
        controller.enqueue(piece)
      },
      cancel() {
        isCancelled = true
      },
    })
    expect((await direct.ask('/api/v1/domains', { ...POST, body })).status).toBe(413)
    expect(pieces).toBeLessThan(12)
    expect(isCancelled).toBe(true)
  })
})

it.each<[name: string, headers: Record<string, string>, status: number, options?: object]>([
  ['a program that names no host', {}, 200],
  ['an application of this machine', { host: 'localhost:3000', origin: 'http://localhost:3000' }, 200],
  ['an application with another name', { host: 'app.example' }, 403],
  ['a page of another origin', { origin: 'https://evil.example' }, 403],
  ['somebody without its token', {}, 401, { adminToken: 'token' }],
  ['nobody, if it is not wanted', {}, 404, { admin: false }],
])('The control plane without a port is asked by %s', async (_, headers, status, options = {}) => {
  await using service = await startUnderstudy({ listen: false, fixture: 'empty', ...options })
  expect((await service.fetch(CONTROL, { headers })).status).toBe(status)
})

it.each([{ port: 4010 }, { host: 'localhost' }])('The option `listen` contradicts %j', async (options) => {
  const message = /^\w+ .*: is for a port; leave it out, or leave out listen: false\.$/
  await expect(startUnderstudy({ listen: false, ...options })).rejects.toThrow(message)
})
