import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HEADER_LIMIT } from '../../src/proxy/connection.ts'
import { closing, collecting, converse, open, relayTo } from './raw-service.ts'

const GET = 'GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\n\r\n'
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const GZIP = gzipSync('hello').toString('latin1')

/** A message of these lines; the last one is the body. */
function message(...lines: string[]): string {
  const body = lines.pop() ?? ''
  return [...lines, '', body].join('\r\n')
}

const HALF = message('POST /a HTTP/1.1', 'Content-Length: 9', 'abc')

it.each<[target: string, isKept: boolean]>([
  ['/__admin', true],
  ['/__administrator', false],
  ['/x/__admin', false],
])('Only the path that is kept, and what is below it, does not reach the service: %s', async (target, isKept) => {
  const { send, got, services } = await converse({ answer: EMPTY })
  send(GET.replace('/api/v1/domains', target))
  await expect.poll(got).toMatch(isKept ? /kept/ : /\r\n\r\n$/)
  expect(services.map(({ bytesRead }) => bytesRead > 0)).toEqual(isKept ? [] : [true])
})

describe('The service gets each byte that the client has sent, apart from the name of the proxy', () => {
  it.each<[what: string, request: string]>([
    [
      'the case, the order and the repeats of fields',
      message('GET /a?b=%zz HTTP/1.1', 'b: 1', 'Host: x', 'a: 2', 'B: 3', ''),
    ],
    ['empty values, and bytes beyond ASCII', message('GET /a HTTP/1.1', 'Empty: ', 'Name: \xe9\xff', '')],
    [
      'fields of a hop',
      message(
        'GET /a HTTP/1.1',
        'Connection: keep-alive, X-Hop',
        'Keep-Alive: timeout=5',
        'X-Hop: 1',
        'TE: trailers',
        '',
      ),
    ],
    [
      'chunks with trailers',
      message(
        'POST /a HTTP/1.1',
        'transfer-encoding: Chunked',
        'Trailer: X-Sum',
        '3\r\nabc\r\n0\r\nX-Sum: 9\r\nx-sum: 8\r\n\r\n',
      ),
    ],
    ['HTTP/1.0 in the absolute form', 'GET http://a.example/b HTTP/1.0\r\n\r\n'],
  ])('%s', async (_, request) => {
    const { send, received, seen } = await converse({ answer: EMPTY })
    send(request)
    await expect.poll(received).toBe(request)
    await seen(1)
  })

  it.each<[sent: string, isOurs: boolean]>([
    ['localhost:4010', true],
    ['other.example', false],
  ])('Host: %s', async (sent, isOurs) => {
    const { send, received, relay } = await converse({ answer: EMPTY })
    send(GET.replace('localhost', sent))
    await expect.poll(received).toBe(GET.replace('localhost', isOurs ? relay.target.authority : sent))
    expect(relay.foreignHosts).toEqual(isOurs ? [] : [sent])
  })
})

describe('The client gets each byte that the service has sent', () => {
  it.each<[what: string, answer: string, method?: string, closes?: boolean]>([
    [
      'the case, the order and the repeats of fields',
      message('HTTP/1.1 200 OK', 'set-cookie: a', 'X: 1', 'Set-Cookie: b', 'x: 2', 'content-LENGTH: 0', ''),
    ],
    ['gzip', message('HTTP/1.1 200 OK', 'Content-Encoding: gzip', `Content-Length: ${GZIP.length}`, GZIP)],
    [
      'chunks with trailers',
      message('HTTP/1.1 200 OK', 'transfer-encoding: Chunked', '3\r\nabc\r\n0\r\nX-Sum: 9\r\nx-sum: 8\r\n\r\n'),
    ],
    ['a body until the end', message('HTTP/1.1 200 OK', 'X: y', 'abc'), 'GET', true],
    ['no body after HEAD', message('HTTP/1.1 200 OK', 'Content-Length: 5', ''), 'HEAD'],
    [
      'interim responses',
      `${message('HTTP/1.1 103 Early', 'link: </a>', 'X: 1', 'x: 2', '')}${message('HTTP/1.1 102 Wait', '')}${EMPTY}`,
    ],
  ])('%s', async (_, answer, method = 'GET', closes = false) => {
    const { send, got, client, services, seen } = await converse({ answer })
    const request = GET.replace('GET', method)
    send(request)
    await expect.poll(got).toBe(answer)
    if (closes) {
      services[0]?.end()
      await closing(client)
    } else {
      // The connection stays as it is, for the next request.
      send(request)
      await expect.poll(got).toBe(answer + answer)
    }
    const [exchange] = await seen(closes ? 1 : 2)
    expect(exchange).toMatchObject({ broken: undefined, response: { body: { missing: undefined } } })
  })

  it('over TLS', async () => {
    const { send, got, received, relay } = await converse({ answer: EMPTY, secure: true })
    send(GET)
    await expect.poll(got).toBe(EMPTY)
    expect(received()).toBe(GET.replace('localhost', relay.target.authority))
  })
})

describe('A connection', () => {
  it('passes an expectation on, what the service says to it, and the rest', async () => {
    const [head, interim] = [
      'POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n',
      'HTTP/1.1 100 Go on\r\n\r\n',
    ]
    const { send, got, received, reached, seen } = await converse()
    send(head)
    const service = await reached()
    expect(received()).toBe(head)
    service.write(interim)
    await expect.poll(got).toBe(interim)
    send('abc')
    await expect.poll(received).toBe(`${head}abc`)
    service.write(EMPTY)
    await expect.poll(got).toBe(interim + EMPTY)
    await seen(1)
  })

  it('passes requests that are sent without waiting on in their order, and the responses in the same order', async () => {
    let count = 0
    const relay = await relayTo((service) =>
      service.on('data', () => service.write(EMPTY.replace('OK', `OK ${++count}`))),
    )
    const client = await open(relay)
    const got = collecting(client)
    client.write(GET.repeat(3))
    await expect.poll(got).toBe([1, 2, 3].map((each) => EMPTY.replace('OK', `OK ${each}`)).join(''))
  })

  it('passes the parts of a slow body on as they come, in both directions', async () => {
    const { send, got, received, reached } = await converse()
    for (const sent of [message('POST /a HTTP/1.1', 'Content-Length: 2', ''), 'a', 'b']) {
      const before = received()
      send(sent)
      await expect.poll(received).toBe(before + sent)
    }
    const service = await reached()
    const head = message('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '')
    for (const sent of [head, '1\r\na\r\n', '1\r\nb\r\n', '0\r\n\r\n']) {
      const before = got()
      service.write(sent)
      await expect.poll(got).toBe(before + sent)
    }
  })

  it.each<[when: string, answer: string]>([
    ['before its response', ''],
    ['within its response', message('HTTP/1.1 200 OK', 'Content-Length: 9', 'abc')],
  ])('is reset for the client when the service breaks off %s', async (_, answer) => {
    const { send, got, client, relay, reached, seen } = await converse({ answer })
    send(GET)
    const service = await reached()
    await expect.poll(got).toBe(answer)
    service.resetAndDestroy()
    expect(await closing(client)).toBe('ECONNRESET')
    expect(got()).toBe(answer)
    expect(await seen(1)).toMatchObject([{ broken: expect.stringContaining('broken the connection off') }])
    expect(relay.failures).toEqual(['ECONNRESET true'])
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
    const broken = 'The client has closed the connection.'
    expect(await seen(1)).toMatchObject([{ response: undefined, broken }])
    expect(relay.failures).toEqual([])
  })

  it('passes a response on that comes before the whole request, and the end of the connection after it', async () => {
    const answer = message('HTTP/1.1 413 Too Large', 'Connection: close', 'Content-Length: 2', 'no')
    const { send, got, client, reached, seen } = await converse({ answer })
    send(HALF)
    ;(await reached()).end()
    await closing(client)
    expect(got()).toBe(answer)
    const [exchange] = await seen(1)
    expect(exchange).toMatchObject({ broken: undefined, response: { status: 413 } })
    expect(exchange?.request.body.missing).toBeDefined()
  })
})

const refused = (status: string, reason: string) =>
  new RegExp(`^HTTP/1.1 ${status}[\\s\\S]*\r\n\r\ndmarc-understudy proxy: .*${reason}.*, so it was not passed on.\n$`)

describe('A request that is no valid HTTP/1.1 is answered by the proxy, and nothing of it reaches the service', () => {
  it.each<[what: string, request: string, status: string, reason: string]>([
    ['a method that Node.js does not know', GET.replace('GET', 'BREW'), '400 Bad Request', 'Invalid method'],
    [
      'both framings',
      message('POST /a HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked', 'a'),
      '400 Bad Request',
      'not valid HTTP/1.1',
    ],
    [
      'a header that is too large',
      message('GET /a HTTP/1.1', `A: ${'a'.repeat(HEADER_LIMIT)}`, ''),
      '431 Request Header',
      '128 KiB',
    ],
    ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\n\r\n', '501 Not Implemented', 'tunnel'],
  ])('%s', async (_, request, status, reason) => {
    const { send, got, client, relay, received } = await converse()
    send(request)
    await closing(client)
    expect(got()).toMatch(refused(status, reason))
    expect([received(), relay.malformed.length, relay.told]).toEqual(['', 1, []])
  })

  it('in the middle of a body, when the service has a part of it', async () => {
    const { send, got, client, relay, reached } = await converse()
    send(message('POST /a HTTP/1.1', 'Transfer-Encoding: chunked', '1\r\na\r\n'))
    const service = await reached()
    send('zz\r\n')
    await Promise.all([closing(client), closing(service)])
    expect(got()).toMatch(refused('400 Bad Request', 'chunk size'))
    expect(relay.exchanges()).toMatchObject([{ response: undefined, broken: expect.stringContaining('not valid') }])
  })
})

describe('A response that is no valid HTTP/1.1 is replaced by one of the proxy, if nothing of it was passed on', () => {
  it.each<[what: string, answer: string, reason: string]>([
    [
      'both framings',
      message('HTTP/1.1 200 OK', 'Content-Length: 1', 'Transfer-Encoding: chunked', 'a'),
      'not valid HTTP/1.1',
    ],
    [
      'another protocol',
      message('HTTP/1.1 101 Switching Protocols', 'Upgrade: x', 'Connection: upgrade', ''),
      'another protocol',
    ],
  ])('%s', async (_, answer, reason) => {
    const { send, got, client, relay } = await converse({ answer })
    send(message('GET /a HTTP/1.1', 'Connection: upgrade', 'Upgrade: x', ''))
    await closing(client)
    expect(got()).toMatch(refused('502 Bad Gateway', reason))
    expect(relay.malformed).toHaveLength(1)
    expect(relay.exchanges()).toMatchObject([{ broken: expect.stringContaining(reason) }])
  })
})
