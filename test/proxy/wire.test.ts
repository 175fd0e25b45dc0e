import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HEADER_LIMIT } from '../../src/proxy/relay.ts'
import { closing, collecting, converse, HOP, message, open, relayTo } from './raw-service.ts'

const GET = 'GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\n\r\n'
const EMPTY = message('HTTP/1.1 200 OK', 'Content-Length: 0', '')
const GZIP = gzipSync('hello').toString('latin1')
const HALF = message('POST /a HTTP/1.1', 'Host: localhost', 'Content-Length: 9', 'abc')

/** A message as it leaves the relay: with the field that Node.js adds for its own hop. */
const atHop = (text: string) => text.replace('\r\n\r\n', `\r\n${HOP}\r\n`)

it.each<[target: string, isKept: boolean]>([
  ['/__admin', true],
  ['/__admin/x?y', true],
  ['http://localhost/__admin', true],
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
    [
      'the case, the order and the repeats of fields',
      message('GET /a?b=%zz HTTP/1.1', 'b: 1', 'hOST: localhost', 'a: 2', 'B: 3', ''),
    ],
    ['empty values, and bytes beyond ASCII', message('GET /a HTTP/1.1', 'Host: localhost', 'E: ', 'N: \xe9\xff', '')],
    ['a body with its coding', message('PUT /a HTTP/1.1', 'Host: localhost', `Content-Length: ${GZIP.length}`, GZIP)],
    ['a body of GET', message('GET /a HTTP/1.1', 'Host: localhost', 'content-length: 3', 'abc')],
    [
      'chunks, without their trailers',
      message(
        'DELETE /a HTTP/1.1',
        'transfer-encoding: Chunked',
        'Host: localhost',
        '3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n',
      ),
      message('DELETE /a HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'),
    ],
    [
      'what Connection names, and the other fields of the hop, do not',
      message(
        ...['GET /a HTTP/1.1', 'Connection: X-Own,, Host, Upgrade', 'Host: localhost', 'X-Own: 1', 'Upgrade: h2c'],
        ...['TE: trailers', 'Keep-Alive: timeout=5', 'Proxy-Authorization: Basic x', 'Authorization: Bearer x', ''],
      ),
      message('GET /a HTTP/1.1', 'Host: localhost', 'Authorization: Bearer x', ''),
    ],
    [
      'POST without a body gets a length',
      message('POST /a HTTP/1.1', 'Host: localhost', ''),
      message('POST /a HTTP/1.1', 'Host: localhost', 'Content-Length: 0', ''),
    ],
    [
      'the service itself in the absolute form becomes an asterisk',
      message('OPTIONS http://localhost HTTP/1.1', 'Host: localhost', ''),
      message('OPTIONS * HTTP/1.1', 'Host: localhost', ''),
    ],
    [
      'HTTP/1.0 in the absolute form becomes HTTP/1.1',
      message('GET http://localhost/b HTTP/1.0', ''),
      message('GET /b HTTP/1.1', 'Host: localhost', ''),
    ],
  ])('%s', async (_, request, expected = request) => {
    const { send, received, seen, relay } = await converse({ answer: EMPTY })
    send(request)
    await expect.poll(received).toBe(atHop(expected.replace(/(host): localhost/i, `$1: ${relay.target.authority}`)))
    await seen(1)
  })

  it('over TLS', async () => {
    const { send, got, received, relay } = await converse({ answer: EMPTY, secure: true })
    send(GET)
    await expect.poll(got).toBe(atHop(EMPTY))
    expect(received()).toBe(atHop(GET.replace('localhost', relay.target.authority)))
  })
})

describe('The client gets each byte that the service has sent, apart from the fields of the hop', () => {
  const CHUNKED = message('HTTP/1.1 200 OK', 'X: y', 'Connection: keep-alive', 'Transfer-Encoding: chunked', '')

  it.each<[what: string, answer: string, expected?: string | undefined, request?: string]>([
    [
      'the case, the order and the repeats of fields',
      message('HTTP/1.1 200 OK', 'set-cookie: a', 'X: 1', 'Set-Cookie: b', 'x: \xe9', 'content-LENGTH: 0', ''),
    ],
    ['its own reason, and an unknown status', message('HTTP/1.1 299 Sure thing', 'Content-Length: 0', '')],
    ['gzip', message('HTTP/1.1 200 OK', 'Content-Encoding: gzip', `Content-Length: ${GZIP.length}`, GZIP)],
    ['no body after HEAD', message('HTTP/1.1 200 OK', 'Content-Length: 5', ''), undefined, GET.replace('GET', 'HEAD')],
    ['no body with 204', message('HTTP/1.1 204 No Content', 'X: 1', '')],
    ['no body with 304', message('HTTP/1.1 304 Not Modified', 'Content-Length: 5', '')],
    [
      'chunks, without their trailers',
      message(
        'HTTP/1.1 200 OK',
        'Transfer-Encoding: chunked',
        'Trailer: X-Sum',
        'X: y',
        '3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n',
      ),
      `${CHUNKED}3\r\nabc\r\n0\r\n\r\n`,
    ],
    [
      'chunks for HTTP/1.0',
      message('HTTP/1.1 200 OK', 'X: y', 'Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'),
      message('HTTP/1.1 200 OK', 'X: y', 'Connection: close', 'abc'),
      message('GET /a HTTP/1.0', ''),
    ],
    [
      'nothing of interim responses, and of the hop',
      message(
        'HTTP/1.1 103 Early',
        'link: </a>',
        message('HTTP/1.1 200 OK', 'Connection: X-Own', 'X-Own: 1', 'Keep-Alive: timeout=9', 'Content-Length: 0', ''),
      ),
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
    const { send, got, reached, seen } = await converse({ answer: message('HTTP/1.0 200 OK', 'X: y', 'abc') })
    send(GET)
    ;(await reached()).end()
    await expect.poll(got).toMatch(/\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/)
    expect(await seen(1)).toMatchObject([{ broken: undefined, response: { httpVersion: 'HTTP/1.0' } }])
  })
})

describe('A connection', () => {
  it('answers an expectation itself', async () => {
    const { send, got, received, relay } = await converse()
    send(message('POST /a HTTP/1.1', 'Host: localhost', 'Expect: 100-continue', 'Content-Length: 3', ''))
    await expect.poll(got).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    send('abc')
    const host = `Host: ${relay.target.authority}`
    await expect.poll(received).toBe(atHop(message('POST /a HTTP/1.1', host, 'Content-Length: 3', 'abc')))
  })

  it('passes the parts of a slow body on as they come, in both directions', async () => {
    const { send, got, received, reached } = await converse()
    send(message('POST /a HTTP/1.1', 'Host: localhost', 'Content-Length: 2', ''))
    await expect.poll(received).toMatch(/\r\n\r\n$/)
    for (const part of ['a', 'b']) {
      const before = received()
      send(part)
      await expect.poll(received).toBe(before + part)
    }
    const service = await reached()
    service.write(message('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', ''))
    await expect.poll(got).toMatch(/\r\n\r\n$/)
    for (const part of ['1\r\na\r\n', '1\r\nb\r\n', '0\r\n\r\n']) {
      const before = got()
      service.write(part)
      await expect.poll(got).toBe(before + part)
    }
  })

  it.each<[what: string, request: string, sent: number]>([
    ['is made again for a request that changes nothing', GET, 3],
    ['is not made again for a change', message('POST /a HTTP/1.1', 'Host: localhost', ''), 2],
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

  it('ends with 502 and a sentence when the service breaks off before its response', async () => {
    const { send, got, relay, reached, seen } = await converse()
    send(GET)
    ;(await reached()).resetAndDestroy()
    await expect
      .poll(got)
      .toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n[\s\S]*the connection was broken off \(ECONNRESET\)\.\n$/)
    const broken = expect.stringContaining('the connection was broken off')
    expect(await seen(1)).toMatchObject([{ broken, response: undefined }])
    expect(relay.failures).toEqual([broken])
  })

  it('is closed for the client when the service breaks off within its response', async () => {
    const answer = message('HTTP/1.1 200 OK', 'Content-Length: 9', 'abc')
    const { send, got, client, relay, reached, seen } = await converse({ answer })
    send(GET)
    await expect.poll(got).toBe(atHop(answer))
    ;(await reached()).resetAndDestroy()
    await closing(client)
    const broken = expect.stringContaining('the connection was broken off')
    expect(await seen(1)).toMatchObject([{ broken, response: { body: { missing: broken } } }])
    expect(relay.failures).toEqual([broken])
  })

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
    const answer = message('HTTP/1.1 413 Too Large', 'Content-Length: 2', 'no')
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
  it.each<[what: string, request: string, status: string, reason: string]>([
    ['a method that Node.js does not know', GET.replace('GET', 'BREW'), '400 Bad Request', 'Invalid method'],
    [
      'both framings',
      message('POST /a HTTP/1.1', 'Host: localhost', 'Content-Length: 1', 'Transfer-Encoding: chunked', 'a'),
      ...(['400 Bad Request', 'not valid HTTP/1.1'] as const),
    ],
    [
      'a header that is too large',
      GET.replace('\r\n', `\r\nA: ${'a'.repeat(HEADER_LIMIT)}\r\n`),
      '431 Request',
      '128 KiB',
    ],
    ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n', '501 Not Implemented', 'tunnel'],
    ['a foreign host', GET.replace('localhost', 'evil.example'), '421 Misdirected Request', '"evil.example"'],
    [
      'a foreign host in its target',
      GET.replace('/api', 'http://evil.example/api'),
      '421 Misdirected Request',
      '"evil.example"',
    ],
    ['two hosts', GET.replace('\r\n', '\r\nHost: localhost\r\n'), '400 Bad Request', 'more than one Host'],
    ['no host', 'GET /a HTTP/1.1\r\n\r\n', '400 Bad Request', 'no Host'],
    [
      'chunks of HTTP/1.0',
      message('POST /a HTTP/1.0', 'Transfer-Encoding: chunked', '0\r\n\r\n'),
      ...(['400 Bad Request', 'HTTP/1\\.0'] as const),
    ],
    [
      'two transfer codings',
      message('POST /a HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n'),
      ...(['501 Not Implemented', 'other than chunked'] as const),
    ],
  ])('%s', async (_, request, status, reason) => {
    const { send, got, services, relay } = await converse()
    send(request)
    await expect.poll(got).toMatch(said(status, reason))
    expect(services).toHaveLength(0)
    expect([relay.unpassed.length, relay.exchanges.length]).toEqual([1, 0])
  })

  it('except that in the middle of a body, of which the service has a part, only the connections end', async () => {
    const { send, got, client, relay, reached, seen } = await converse()
    send(message('POST /a HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', '1\r\na\r\n'))
    const service = await reached()
    send('zz\r\n')
    await Promise.all([closing(client), closing(service)])
    expect(got()).toBe('')
    expect(await seen(1)).toMatchObject([{ response: undefined }])
    expect(relay.unpassed).toHaveLength(1)
  })

  it('except that one behind a request without its response only ends the connection', async () => {
    const { send, got, client, reached } = await converse()
    send(GET)
    await reached()
    send('nonsense\r\n\r\n')
    await closing(client)
    expect(got()).toBe('')
  })
})

describe('A response that is no valid HTTP/1.1 is replaced by 502', () => {
  it.each<[what: string, answer: string, reason: string]>([
    [
      'both framings',
      message('HTTP/1.1 200 OK', 'Content-Length: 1', 'Transfer-Encoding: chunked', 'a'),
      'not valid HTTP/1.1',
    ],
    [
      'another transfer coding',
      message('HTTP/1.1 200 OK', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n'),
      'transfer coding',
    ],
    ['a status beyond all', message('HTTP/1.1 099 No', 'Content-Length: 0', ''), 'not valid HTTP/1.1'],
    [
      'another protocol',
      message('HTTP/1.1 101 Switching Protocols', 'Upgrade: x', 'Connection: upgrade', ''),
      'another protocol',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 'not valid HTTP/1.1'],
  ])('%s', async (_, answer, reason) => {
    const { send, got, relay, seen } = await converse({ answer })
    send(GET)
    await expect.poll(got).toMatch(said('502 Bad Gateway', reason))
    expect(relay.unpassed).toHaveLength(1)
    expect(await seen(1)).toMatchObject([{ broken: expect.stringContaining(reason), response: undefined }])
  })
})

it('A stop closes what is idle at once, and tells what has no response', async () => {
  const { send, client, relay, reached } = await converse()
  const idle = await open(relay)
  send(GET)
  await reached()
  const ended = once(idle, 'close')
  const stopped = relay.relay.stop()
  await ended
  expect(client.closed).toBe(false)
  await stopped
  expect(relay.exchanges).toMatchObject([{ response: undefined, broken: 'The proxy has stopped.' }])
})
