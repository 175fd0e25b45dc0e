import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HEADER_LIMIT } from '../../src/proxy/relay.ts'
import { closing, collecting, converse, HOP, http, open, relayTo } from './raw-service.ts'

const GET = http('GET /api/v1/domains HTTP/1.1\nHost: localhost\n\n')
const POST = http('POST /a HTTP/1.1\nHost: localhost\n\n')
const HALF = `${http('POST /a HTTP/1.1\nHost: localhost\nContent-Length: 9\n\n')}abc`
const EMPTY = http('HTTP/1.1 200 OK\nContent-Length: 0\n\n')
const GZIP = gzipSync('hello').toString('latin1')

/** A message as it leaves the relay: with the field that Node.js adds for its own hop. */
const atHop = (text: string) => text.replace('\r\n\r\n', `\r\n${HOP}\r\n`)

it.each<[target: string, isKept: boolean]>([
  ['/__admin', true],
  ['http://localhost/__admin/x?y', true],
  ['/__administrator', false],
  ['/x/__admin', false],
])('Only the path that is kept, and what is below it, does not reach the service: %s', async (target, isKept) => {
  const { send, got, services } = await converse({ answer: EMPTY })
  send(GET.replace('/api/v1/domains', target))
  await expect.poll(got).toMatch(isKept ? /kept/ : /\r\n\r\n$/)
  expect(services.length).toBe(isKept ? 0 : 1)
})

describe('The service gets each byte that the client has sent, apart from the Host and the fields of the hop', () => {
  it.each<[what: string, request: string, expected?: string]>([
    ['case, order and repeats of fields', 'GET /a?b=%zz HTTP/1.1\nb: 1\nhOST: localhost\na: 2\nB: 3\n\n'],
    ['empty values, and bytes beyond ASCII', 'GET /a HTTP/1.1\nHost: localhost\nE: \nN: \xe9\xff\n\n'],
    ['a body of GET', 'GET /a HTTP/1.1\nHost: localhost\ncontent-length: 3\n\nabc'],
    [
      'chunks, without their trailers',
      'DELETE /a HTTP/1.1\ntransfer-encoding: Chunked\nHost: localhost\n\n3\nabc\n0\nX-Sum: 9\n\n',
      'DELETE /a HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n',
    ],
    [
      'what Connection names, and the other fields of the hop, do not',
      'PUT /a HTTP/1.1\nConnection: X-Own,, Host, content-length\nHost: localhost\nX-Own: 1\nTE: trailers\n' +
        'Keep-Alive: timeout=5\nProxy-Authorization: Basic x\nAuthorization: Bearer x\nContent-Length: 3\n\nabc',
      'PUT /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer x\nContent-Length: 3\n\nabc',
    ],
    [
      'POST without a body gets a length',
      'POST /a HTTP/1.1\nHost: localhost\n\n',
      'POST /a HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n',
    ],
    [
      'the service itself in the absolute form becomes an asterisk',
      'OPTIONS http://localhost HTTP/1.1\nHost: localhost\n\n',
      'OPTIONS * HTTP/1.1\nHost: localhost\n\n',
    ],
    [
      'HTTP/1.0 in the absolute form becomes HTTP/1.1',
      'GET http://localhost/b HTTP/1.0\n\n',
      'GET /b HTTP/1.1\nHost: localhost\n\n',
    ],
  ])('%s', async (_, request, expected = request) => {
    const { send, received, seen, relay } = await converse({ answer: EMPTY })
    send(http(request))
    const host = `$1: ${relay.target.authority}`
    await expect.poll(received).toBe(atHop(http(expected).replace(/(host): localhost/i, host)))
    await seen(1)
  })

  it('a body with its coding, over TLS', async () => {
    const { send, got, received, relay } = await converse({ answer: EMPTY, secure: true })
    const request = `${http(`PUT /a HTTP/1.1\nHost: localhost\nContent-Length: ${GZIP.length}\n\n`)}${GZIP}`
    send(request)
    await expect.poll(got).toBe(atHop(EMPTY))
    expect(received()).toBe(atHop(request.replace('localhost', relay.target.authority)))
  })
})

describe('The client gets each byte that the service has sent, apart from the fields of the hop', () => {
  const CHUNKS = 'Transfer-Encoding: chunked\n'

  it.each<[what: string, answer: string, expected?: string | undefined, request?: string]>([
    [
      'case, order and repeats of fields, its own reason, and an unknown status',
      http('HTTP/1.1 299 Sure thing\nset-cookie: a\nX: 1\nSet-Cookie: b\nx: \xe9\ncontent-LENGTH: 0\n\n'),
    ],
    ['gzip', `${http(`HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: ${GZIP.length}\n\n`)}${GZIP}`],
    ['no body after HEAD', http('HTTP/1.1 200 OK\nContent-Length: 5\n\n'), undefined, GET.replace('GET', 'HEAD')],
    ['no body with 204', http('HTTP/1.1 204 No Content\nX: 1\n\n')],
    ['no body with 304', http('HTTP/1.1 304 Not Modified\nContent-Length: 5\n\n')],
    [
      'chunks, without their trailers',
      http(`HTTP/1.1 200 OK\n${CHUNKS}Trailer: X-Sum\nX: y\n\n3\nabc\n0\nX-Sum: 9\n\n`),
      http(`HTTP/1.1 200 OK\nX: y\n${HOP.trim()}\n${CHUNKS}\n3\nabc\n0\n\n`),
    ],
    [
      'chunks for HTTP/1.0',
      http(`HTTP/1.1 200 OK\nX: y\n${CHUNKS}\n3\nabc\n0\n\n`),
      http('HTTP/1.1 200 OK\nX: y\nConnection: close\n\nabc'),
      http('GET /a HTTP/1.0\n\n'),
    ],
    [
      'nothing of interim responses, and of the hop',
      http('HTTP/1.1 103 Early\nlink: </a>\n\nHTTP/1.1 200 OK\nConnection: X-Own\nX-Own: 1\nContent-Length: 0\n\n'),
      atHop(EMPTY),
    ],
  ])('%s', async (_, answer, expected = atHop(answer), request = GET) => {
    const { send, got, services, seen } = await converse({ answer })
    send(request)
    await expect.poll(got).toBe(expected)
    const isOld = request.includes('HTTP/1.0')
    if (!isOld) {
      // Both connections serve the next request, too.
      send(request)
      await expect.poll(got).toBe(expected + expected)
      expect(services).toHaveLength(1)
    }
    for (const exchange of await seen(isOld ? 1 : 2)) {
      expect(exchange).toMatchObject({ broken: undefined, response: { body: { missing: undefined } } })
    }
  })

  it('a body that ends with the connection of the service', async () => {
    const { send, got, reached, seen } = await converse({ answer: http('HTTP/1.0 200 OK\nX: y\n\nabc') })
    send(GET)
    ;(await reached()).end()
    await expect.poll(got).toMatch(/\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/)
    expect(await seen(1)).toMatchObject([{ broken: undefined, response: { httpVersion: 'HTTP/1.0' } }])
  })
})

describe('A connection', () => {
  it('answers an expectation itself, and passes the parts of a slow body on as they come, in both directions', async () => {
    const { send, got, received, reached } = await converse()
    send(http('POST /a HTTP/1.1\nHost: localhost\nExpect: 100-continue\nContent-Length: 2\n\n'))
    await expect.poll(got).toBe(http('HTTP/1.1 100 Continue\n\n'))
    await expect.poll(received).toMatch(/\r\n\r\n$/)
    expect(received()).not.toContain('Expect')
    for (const part of ['a', 'b']) {
      const before = received()
      send(part)
      await expect.poll(received).toBe(before + part)
    }
    const service = await reached()
    service.write(http('HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n'))
    await expect.poll(got).toMatch(/chunked\r\n\r\n$/)
    for (const part of ['1\r\na\r\n', '1\r\nb\r\n', '0\r\n\r\n']) {
      const before = got()
      service.write(part)
      await expect.poll(got).toBe(before + part)
    }
  })

  it.each<[what: string, request: string, sent: number]>([
    ['is made again for a request that changes nothing', GET, 3],
    ['is not made again for a change', POST, 2],
  ])('to the service that was closed while it was kept %s', async (_, request, sent) => {
    let taken = 0
    const relay = await relayTo((service) => {
      let isKept = false
      service.on('data', () => {
        taken++
        // The first connection breaks off at its second request.
        if (isKept && taken === 2) service.resetAndDestroy()
        else service.write(EMPTY)
        isKept = true
      })
    })
    const client = await open(relay)
    const got = collecting(client)
    client.write(GET)
    await expect.poll(got).toBe(atHop(EMPTY))
    client.write(request)
    await expect.poll(() => relay.exchanges.length).toBe(2)
    expect([taken, relay.failures.length]).toEqual([sent, sent === 3 ? 0 : 1])
    await expect
      .poll(() => got().slice(atHop(EMPTY).length))
      .toMatch(sent === 3 ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 502 /)
  })

  it.each([
    ['', /^HTTP\/1\.1 502 Bad Gateway\r\n[\s\S]*the connection was broken off \(ECONNRESET\)\.\n$/, undefined],
    [
      http('HTTP/1.1 200 OK\nContent-Length: 9\n\nabc'),
      /abc$/,
      { body: { missing: expect.stringContaining('broken') } },
    ],
  ])(
    'ends with 502 and a sentence, or at once, when the service breaks off after %j',
    async (answer, came, response) => {
      const { send, got, client, relay, reached, seen } = await converse(answer === '' ? {} : { answer })
      send(GET)
      if (answer !== '') await expect.poll(got).toMatch(came)
      ;(await reached()).resetAndDestroy()
      await expect.poll(got).toMatch(came)
      if (answer !== '') await closing(client)
      const broken = expect.stringContaining('the connection was broken off')
      expect(await seen(1)).toMatchObject([{ broken, response }])
      expect(relay.failures).toEqual([broken])
    },
  )

  it.each([
    ['before the response', GET],
    ['within its request', HALF],
  ])('is closed for the service when the client breaks off %s', async (_, request) => {
    const { send, client, relay, reached, seen } = await converse()
    send(request)
    const service = await reached()
    client.resetAndDestroy()
    await closing(service)
    const broken = 'The connection of the client has ended.'
    expect(await seen(1)).toMatchObject([{ response: undefined, broken }])
    expect(relay.failures).toEqual([])
  })

  it('passes a response on that comes before the whole request, takes the rest, and goes on', async () => {
    const answer = http('HTTP/1.1 413 Too Large\nContent-Length: 2\n\nno')
    const relay = await relayTo((service) => service.once('data', () => service.end(answer)))
    const client = await open(relay)
    const got = collecting(client)
    client.write(HALF)
    await expect.poll(got).toBe(atHop(answer))
    client.write('defghi')
    client.write(GET)
    await expect.poll(got).toBe(atHop(answer).repeat(2))
    expect(relay.exchanges).toMatchObject([413, 413].map((status) => ({ broken: undefined, response: { status } })))
    expect(relay.failures).toEqual([])
  })
})

const said = (status: string, reason: string) =>
  new RegExp(`^HTTP/1.1 ${status}[\\s\\S]*\r\n\r\ndmarc-understudy proxy: .*${reason}.*\n$`)

describe('A request that is malformed, or not for the service, is answered by the proxy', () => {
  const FRAMED = POST.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n')

  it.each<[what: string, request: string, status: string, reason: string]>([
    ['a method that Node.js does not know', GET.replace('GET', 'BREW'), '400 Bad Request', 'Invalid method'],
    ['both framings', FRAMED.replace('\r\n', '\r\nContent-Length: 1\r\n'), '400 Bad', 'not valid HTTP/1.1'],
    ['a large header', GET.replace('\r\n', `\r\nA: ${'a'.repeat(HEADER_LIMIT)}\r\n`), '431 Request', '128 KiB'],
    ['a tunnel', http('CONNECT a.example:443 HTTP/1.1\nHost: a.example\n\n'), '501 Not Implemented', 'tunnel'],
    ['a foreign host', GET.replace('localhost', 'evil.example'), '421 Misdirected Request', '"evil.example"'],
    ['a foreign target', GET.replace('/api', 'http://evil.example/api'), '421 Misdirected', '"evil.example"'],
    ['two hosts', GET.replace('\r\n', '\r\nHost: localhost\r\n'), '400 Bad Request', 'more than one Host'],
    ['no host', http('GET /a HTTP/1.1\n\n'), '400 Bad Request', 'no Host'],
    ['chunks of HTTP/1.0', FRAMED.replace('HTTP/1.1', 'HTTP/1.0'), '400 Bad Request', 'HTTP/1\\.0'],
    ['two transfer codings', FRAMED.replace('chunked', 'gzip, chunked'), '501 Not', 'other than chunked'],
  ])('%s', async (_, request, status, reason) => {
    const { send, got, services, relay } = await converse()
    send(request)
    await expect.poll(got).toMatch(said(status, reason))
    expect(services).toHaveLength(0)
    expect([relay.unpassed.length, relay.exchanges.length]).toEqual([1, 0])
  })

  it.each([
    ['in the middle of a body, of which the service has a part', `${FRAMED}1\r\na\r\n`, 'zz\r\n'],
    ['behind a request without its response', GET, 'nonsense\r\n\r\n'],
  ])('except %s, where only the connections end', async (_, begun, rest) => {
    const { send, got, client, relay, reached, seen } = await converse()
    send(begun)
    const service = await reached()
    send(rest)
    await Promise.all([closing(client), closing(service)])
    expect(got()).toBe('')
    expect(await seen(1)).toMatchObject([{ response: undefined }])
    expect(relay.unpassed).toHaveLength(1)
  })
})

it.each<[what: string, answer: string, reason: string]>([
  ['both framings', 'HTTP/1.1 200 OK\nContent-Length: 1\nTransfer-Encoding: chunked\n\na', 'not valid HTTP/1.1'],
  ['another transfer coding', 'HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked\n\n0\n\n', 'transfer coding'],
  ['a status beyond all', 'HTTP/1.1 099 No\nContent-Length: 0\n\n', 'not valid HTTP/1.1'],
  ['another protocol', 'HTTP/1.1 101 Switching\nUpgrade: x\nConnection: upgrade\n\n', 'another protocol'],
  ['no HTTP at all', 'hello\n\n', 'not valid HTTP/1.1'],
])('A response that is no valid HTTP/1.1 is replaced by 502: %s', async (_, answer, reason) => {
  const { send, got, relay, seen } = await converse({ answer: http(answer) })
  send(GET)
  await expect.poll(got).toMatch(said('502 Bad Gateway', reason))
  expect(relay.unpassed).toHaveLength(1)
  expect(await seen(1)).toMatchObject([{ broken: expect.stringContaining(reason), response: undefined }])
})

it('A stop closes what is idle at once, and tells what has no response', async () => {
  const { send, client, relay, reached } = await converse()
  const idle = await open(relay)
  const got = collecting(idle)
  idle.write(GET.replace('/api/v1/domains', '/__admin'))
  await expect.poll(got).toMatch(/kept/)
  send(GET)
  await reached()
  const ended = once(idle, 'close')
  const stopped = relay.relay.stop()
  await ended
  expect(client.closed).toBe(false)
  await stopped
  expect(relay.exchanges).toMatchObject([{ response: undefined, broken: 'The proxy has stopped.' }])
})
