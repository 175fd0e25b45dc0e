import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HEADER_LIMIT, PIPELINE_LIMIT } from '../../src/proxy/connection.ts'
import { closing, collecting, open, relayTo } from './raw-service.ts'

const GET = 'GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\n\r\n'
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** A message of these lines; the last one is the body. */
function message(...lines: string[]): string {
  const body = lines.pop() ?? ''
  return [...lines, '', body].join('\r\n')
}

/** What the service got and what the client got, when each of them has sent these bytes. */
async function passing({ request = GET, answer = EMPTY, secure = false }) {
  let received: () => string = () => ''
  const relay = await relayTo(
    (service) => {
      received = collecting(service)
      service.once('data', () => service.write(answer, 'latin1'))
    },
    { secure },
  )
  const client = await open(relay)
  const got = collecting(client)
  client.write(request, 'latin1')
  await expect.poll(got).toMatch(/^HTTP/)
  await expect.poll(() => relay.exchanges().length + relay.malformed.length).toBeGreaterThan(0)
  return { received, got, relay, client, authority: relay.target.authority }
}

const fields = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: ${index}`)
const MANY = fields(3_000)

it.each<[target: string, isKept: boolean]>([
  ['/__admin', true],
  ['/__admin/verdict', true],
  ['/__admin?a', true],
  ['/__administrator', false],
  ['/__a', false],
  ['/x/__admin', false],
])('Only the path that is kept, and what is below it, does not reach the service: %s', async (target, isKept) => {
  let reached = 0
  const relay = await relayTo((service) => {
    service.on('data', () => {
      reached++
      service.write(EMPTY)
    })
  })
  const client = await open(relay)
  const got = collecting(client)
  client.write(GET.replace('/api/v1/domains', target))
  await expect.poll(got).toMatch(isKept ? /kept/ : /\r\n\r\n$/)
  expect(reached).toBe(isKept ? 0 : 1)
})

describe('The service gets each byte that the client has sent, apart from the name of the proxy', () => {
  it.each<[what: string, request: string]>([
    [
      'the case, the order and the repeats of fields',
      message('GET /a?b=%zz HTTP/1.1', 'b: 1', 'Host: x', 'a: 2', 'B: 3', ''),
    ],
    ['no field that the client has not sent', message('GET /a HTTP/1.1', '')],
    ['the order of Host among the fields', message('GET /a HTTP/1.1', 'Accept: */*', 'hOST: a.example', 'Z: 1', '')],
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
    ['more fields than Node takes by default', message('GET /a HTTP/1.1', ...MANY, '')],
    ['a body with a length', message('POST /a HTTP/1.1', 'Content-Length: 5', 'a\x00\xffbc')],
    ['a body of GET', message('GET /a HTTP/1.1', 'content-length: 2', 'ab')],
    ['a length of 0', message('POST /a HTTP/1.1', 'Content-Length: 0', '')],
    ['a request without a body where one is usual', message('POST /a HTTP/1.1', 'X: y', '')],
    [
      'chunks with trailers',
      message(
        'POST /a HTTP/1.1',
        'transfer-encoding: Chunked',
        'Trailer: X-Sum',
        '3\r\nabc\r\n0\r\nX-Sum: 9\r\nx-sum: 8\r\n\r\n',
      ),
    ],
    [
      'another transfer coding',
      message('POST /a HTTP/1.1', 'Transfer-Encoding: gzip, chunked', '3\r\nabc\r\n0\r\n\r\n'),
    ],
    [
      'a body in a content coding',
      message('POST /a HTTP/1.1', 'Content-Encoding: br', 'Content-Length: 3', '\x8b\x00\x80'),
    ],
    ['HTTP/1.0', 'GET /a HTTP/1.0\r\n\r\n'],
    ['the absolute form', 'GET http://a.example/b HTTP/1.1\r\n\r\n'],
    ['the asterisk form', 'OPTIONS * HTTP/1.1\r\n\r\n'],
    ['an unknown expectation', message('GET /a HTTP/1.1', 'Expect: wonders', '')],
    [
      'an upgrade that the service ignores',
      message('GET /a HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', ''),
    ],
  ])('%s', async (_, request) => {
    const { received } = await passing({ request })
    await expect.poll(received).toBe(request)
  })

  it.each<[sent: string, isOurs: boolean]>([
    ['localhost:4010', true],
    ['127.0.0.1', true],
    ['other.example', false],
    ['a b', false],
  ])('Host: %s', async (sent, isOurs) => {
    const { received, authority, relay } = await passing({ request: GET.replace('localhost', sent) })
    await expect.poll(received).toBe(GET.replace('localhost', isOurs ? authority : sent))
    expect(relay.foreignHosts).toEqual(isOurs ? [] : [sent])
  })

  it('what looks like a Host in a body', async () => {
    const request = message('POST / HTTP/1.1', 'Content-Length: 17', 'Host: localhost\r\n')
    const { received } = await passing({ request })
    await expect.poll(received).toBe(request)
  })
})

const latin = (bytes: Buffer) => bytes.toString('latin1')
const coded = (name: string, bytes: string) =>
  message('HTTP/1.1 200 OK', `Content-Encoding: ${name}`, `Content-Length: ${bytes.length}`, bytes)

describe('The client gets each byte that the service has sent', () => {
  it.each<[what: string, answer: string, method?: string, closes?: boolean]>([
    [
      'the case, the order and the repeats of fields',
      message('HTTP/1.1 200 OK', 'set-cookie: a', 'X: 1', 'Set-Cookie: b', 'x: 2', 'content-LENGTH: 0', ''),
    ],
    ['no field that the service has not sent', message('HTTP/1.1 200 OK', 'content-length: 0', '')],
    [
      'fields of a hop',
      message(
        'HTTP/1.1 200 OK',
        'Connection: keep-alive',
        'Keep-Alive: timeout=1',
        'Date: today',
        'Content-Length: 0',
        '',
      ),
    ],
    ['another reason', message('HTTP/1.1 200 Fine by \xe9', 'Content-Length: 0', '')],
    ['another status', message('HTTP/1.1 799 Odd', 'Content-Length: 2', 'ab')],
    ['more fields than Node takes by default', message('HTTP/1.1 200 OK', 'Content-Length: 0', ...MANY, '')],
    ['gzip', coded('gzip', latin(gzipSync('hello')))],
    ['Brotli', coded('br', latin(brotliCompressSync(Buffer.from('hello'))))],
    ['a coding that does not exist', coded('x-unknown', '\x00\xff\x01')],
    [
      'chunks with trailers',
      message('HTTP/1.1 200 OK', 'transfer-encoding: Chunked', '3\r\nabc\r\n0\r\nX-Sum: 9\r\nx-sum: 8\r\n\r\n'),
    ],
    ['a body until the end', message('HTTP/1.1 200 OK', 'X: y', 'abc'), 'GET', true],
    [
      'the end that the service announces',
      message('HTTP/1.1 200 OK', 'connection: Close', 'Content-Length: 3', 'abc'),
      'GET',
      true,
    ],
    ['no body after HEAD', message('HTTP/1.1 200 OK', 'Content-Length: 5', ''), 'HEAD'],
    ['no body with 204', message('HTTP/1.1 204 No Content', 'X: y', '')],
    ['no body with 304', message('HTTP/1.1 304 Not Modified', 'Content-Length: 5', 'ETag: "a"', '')],
    [
      'interim responses',
      `${message('HTTP/1.1 103 Early', 'link: </a>', 'X: 1', 'x: 2', '')}${message('HTTP/1.1 102 Wait', '')}${EMPTY}`,
    ],
  ])('%s', async (_, answer, method = 'GET', closes = false) => {
    const relay = await relayTo((service) =>
      service.on('data', () => (closes ? service.end(answer, 'latin1') : service.write(answer, 'latin1'))),
    )
    const client = await open(relay)
    const got = collecting(client)
    const request = GET.replace('GET', method)
    client.write(request)
    await expect.poll(got).toBe(answer)
    if (closes) await closing(client)
    else {
      // The connection stays as it is, for the next request.
      client.write(request)
      await expect.poll(got).toBe(answer + answer)
    }
    await expect.poll(() => relay.exchanges().length).toBe(closes ? 1 : 2)
    expect(relay.exchanges()[0]).toMatchObject({ broken: undefined, response: { body: { missing: undefined } } })
  })

  it('over TLS', async () => {
    const { received, got, authority } = await passing({ secure: true })
    expect(received()).toBe(GET.replace('localhost', authority))
    expect(got()).toBe(EMPTY)
  })
})

describe('A connection', () => {
  const POST = message('POST /a HTTP/1.1', 'Expect: 100-continue', 'Content-Length: 3', '')

  it.each<[what: string, interim: string]>([
    ['100', 'HTTP/1.1 100 Go on\r\nX: y\r\n\r\n'],
    ['a final response at once', ''],
  ])('passes an expectation on, and %s', async (_, interim) => {
    let service: Socket | undefined
    let received: () => string = () => ''
    const relay = await relayTo((socket) => {
      service = socket
      received = collecting(socket)
    })
    const client = await open(relay)
    const got = collecting(client)
    client.write(POST)
    await expect.poll(() => received()).toBe(POST)
    if (interim !== '') {
      service?.write(interim)
      await expect.poll(got).toBe(interim)
    } else service?.write(EMPTY)
    await expect.poll(got).toBe(interim || EMPTY)
    client.write('abc')
    await expect.poll(() => received()).toBe(`${POST}abc`)
    if (interim !== '') service?.write(EMPTY)
    await expect.poll(got).toBe(interim + EMPTY)
    await expect.poll(() => relay.exchanges().length).toBe(1)
    client.write(GET)
    await expect.poll(() => received()).toContain('GET /api')
  })

  it('has one connection to the service for all its requests, and each client its own', async () => {
    let connections = 0
    const relay = await relayTo((service) => {
      connections++
      service.on('data', () => service.write(EMPTY))
    })
    for (const client of [await open(relay), await open(relay)]) {
      const got = collecting(client)
      for (const count of [1, 2, 3]) {
        client.write(GET)
        await expect.poll(got).toBe(EMPTY.repeat(count))
      }
    }
    expect(connections).toBe(2)
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
    let service: Socket | undefined
    let received: () => string = () => ''
    const relay = await relayTo((socket) => {
      service = socket
      received = collecting(socket)
    })
    const client = await open(relay)
    const got = collecting(client)
    const head = message('POST /a HTTP/1.1', 'Content-Length: 2', '')
    client.write(head)
    await expect.poll(() => received()).toBe(head)
    client.write('a')
    await expect.poll(() => received()).toBe(`${head}a`)
    client.write('b')
    await expect.poll(() => received()).toBe(`${head}ab`)
    const answer = message('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '')
    service?.write(answer)
    await expect.poll(got).toBe(answer)
    for (const sent of ['1\r\na\r\n', '1\r\nb\r\n', '0\r\n\r\n']) {
      const before = got()
      service?.write(sent)
      await expect.poll(got).toBe(before + sent)
    }
  })

  it.each(['', 'abc'])(
    'lets a client close its side before the response, and the service see that: body %j',
    async (body) => {
      const relay = await relayTo((service) => {
        service.removeAllListeners('end')
        service.once('end', () => service.end(EMPTY))
      })
      const client = await open(relay)
      const got = collecting(client)
      client.end(message('POST /a HTTP/1.1', `Content-Length: ${body.length}`, body))
      await closing(client)
      expect(got()).toBe(EMPTY)
      await expect.poll(() => relay.exchanges()).toMatchObject([{ broken: undefined }])
    },
  )

  it('is closed for the client when the service closes it, and for the service when the client does', async () => {
    const services: Socket[] = []
    const relay = await relayTo((service) => {
      services.push(service)
      service.on('data', () => service.write(EMPTY))
    })
    const clients = [await open(relay), await open(relay)]
    for (const client of clients) {
      const got = collecting(client)
      client.write(GET)
      await expect.poll(got).toBe(EMPTY)
    }
    services[0]?.end()
    await closing(clients[0] as Socket)
    clients[1]?.destroy()
    await closing(services[1] as Socket)
  })

  it.each<[when: string, answer: string]>([
    ['before its response', ''],
    ['within its response', message('HTTP/1.1 200 OK', 'Content-Length: 9', 'abc')],
  ])('is reset for the client when the service breaks off %s', async (_, answer) => {
    let service: Socket | undefined
    const relay = await relayTo((socket) => {
      service = socket
      socket.once('data', () => socket.write(answer))
    })
    const client = await open(relay)
    const got = collecting(client)
    client.write(GET)
    await expect.poll(() => service?.bytesRead ?? 0).toBeGreaterThan(0)
    await expect.poll(got).toBe(answer)
    service?.resetAndDestroy()
    expect(await closing(client)).toBe('ECONNRESET')
    expect(got()).toBe(answer)
    await expect.poll(() => relay.exchanges().length).toBe(1)
    expect(relay.exchanges()).toMatchObject([{ broken: expect.stringContaining('broken the connection off') }])
    expect(relay.failures).toEqual(['ECONNRESET true'])
  })

  it.each<[when: string, request: string]>([
    ['before the response', GET],
    ['within its request', message('POST /a HTTP/1.1', 'Content-Length: 9', 'abc')],
  ])('is closed for the service when the client breaks off %s', async (_, request) => {
    let service: Socket | undefined
    const relay = await relayTo((socket) => {
      service = socket
    })
    const client = await open(relay)
    client.write(request)
    await expect.poll(() => service?.bytesRead ?? 0).toBeGreaterThan(0)
    client.resetAndDestroy()
    await closing(service as unknown as Socket)
    await expect.poll(() => relay.exchanges().length).toBe(1)
    expect(relay.exchanges()).toMatchObject([{ response: undefined, broken: 'The client has closed the connection.' }])
    expect(relay.failures).toEqual([])
  })

  it.each<[what: string, request: string, isBegun: boolean]>([
    ['head', 'GET /a', false],
    ['body', message('POST /a HTTP/1.1', 'Content-Length: 9', 'abc'), true],
  ])('ends when the client closes its side within a %s', async (_, request, isBegun) => {
    let service: Socket | undefined
    const relay = await relayTo((socket) => {
      service = socket
    })
    const client = await open(relay)
    collecting(client)
    client.write(request)
    if (isBegun) await expect.poll(() => service?.bytesRead ?? 0).toBeGreaterThan(0)
    client.end()
    await closing(client)
    expect(relay.malformed).toHaveLength(1)
    expect(relay.exchanges()).toMatchObject(isBegun ? [{ response: undefined, broken: expect.any(String) }] : [])
    if (isBegun) await closing(service as unknown as Socket)
  })

  it('passes a response on that comes before the whole request, and the end of the connection after it', async () => {
    const answer = message('HTTP/1.1 413 Too Large', 'Connection: close', 'Content-Length: 2', 'no')
    const relay = await relayTo((service) => service.once('data', () => service.end(answer)))
    const client = await open(relay)
    const got = collecting(client)
    client.write(message('POST /a HTTP/1.1', 'Content-Length: 1000', 'abc'))
    await closing(client)
    expect(got()).toBe(answer)
    await expect.poll(() => relay.exchanges().length).toBe(1)
    const [exchange] = relay.exchanges()
    expect(exchange).toMatchObject({ broken: undefined, response: { status: 413 } })
    expect(exchange?.request.body.missing).toBeDefined()
  })

  it('does not let a service that does not read fill the memory, nor lose what it reads later', async () => {
    const size = 48 << 20
    let service: Socket | undefined
    const relay = await relayTo((socket) => {
      service = socket
      socket.pause()
    })
    const client = await open(relay)
    client.write(message('POST /a HTTP/1.1', `Content-Length: ${size}`, ''))
    for (let left = size; left > 0; left -= 1 << 20) client.write(Buffer.alloc(1 << 20))
    // What the sockets hold is taken, and nothing more.
    await expect.poll(() => service).toBeDefined()
    const waiting = () => client.writableLength
    for (let seen = -1; seen !== waiting(); ) {
      seen = waiting()
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    }
    expect(waiting()).toBeGreaterThan(size / 2)
    let received = 0
    service?.on('data', (chunk) => {
      received += chunk.length
    })
    service?.resume()
    await expect.poll(() => received, { timeout: 30_000 }).toBeGreaterThan(size)
    service?.write(EMPTY)
    await expect.poll(() => relay.exchanges().length).toBe(1)
    expect(relay.exchanges()).toMatchObject([
      { request: { body: { size, missing: 'The body is longer than 16 MiB.' } } },
    ])
    expect(relay.traffic.budget.used).toBe(0)
  })

  it('passes none of the requests that wait on when the client has gone', async () => {
    const services: Socket[] = []
    let received = ''
    const relay = await relayTo((service) => {
      services.push(service)
      service.on('data', (chunk) => {
        received += chunk
      })
    })
    const client = await open(relay)
    client.write(GET.repeat(3))
    await expect.poll(() => received).toMatch(/^GET/)
    client.resetAndDestroy()
    await closing(services[0] as Socket)
    await expect.poll(() => relay.exchanges().length).toBe(3)
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    expect(services).toHaveLength(1)
    expect(received.match(/GET/g)).toHaveLength(1)
  })

  it('is closed when too many requests wait on it', async () => {
    const relay = await relayTo(() => {})
    const client = await open(relay)
    client.write(GET.repeat(PIPELINE_LIMIT + 1))
    await closing(client)
    expect(relay.exchanges().length).toBe(PIPELINE_LIMIT)
  })
})

const refused = (status: string, reason: string) =>
  new RegExp(`^HTTP/1.1 ${status}[\\s\\S]*\r\n\r\ndmarc-understudy proxy: .*${reason}.*, so it was not passed on.\n$`)

describe('A request that is no valid HTTP/1.1 is answered by the proxy, and nothing of it reaches the service', () => {
  it.each<[what: string, request: string, status: string, reason: string]>([
    ['other bytes', 'hello\r\n\r\n', '400 Bad Request', 'not valid HTTP/1.1'],
    ['TLS', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1', '400 Bad Request', 'not valid HTTP/1.1'],
    ['a method that Node.js does not know', GET.replace('GET', 'BREW'), '400 Bad Request', 'Invalid method'],
    ['a bare LF', 'GET /a HTTP/1.1\nHost: a\n\n', '400 Bad Request', 'not valid HTTP/1.1'],
    ['a folded field', message('GET /a HTTP/1.1', 'A: b', ' c', ''), '400 Bad Request', 'not valid HTTP/1.1'],
    ['a space before the colon', message('GET /a HTTP/1.1', 'A : b', ''), '400 Bad Request', 'not valid HTTP/1.1'],
    [
      'two lengths',
      message('POST /a HTTP/1.1', 'Content-Length: 1', 'Content-Length: 1', 'a'),
      '400 Bad Request',
      'not valid HTTP/1.1',
    ],
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
    let reached = 0
    const relay = await relayTo((service) => service.on('data', () => reached++))
    const client = await open(relay)
    const got = collecting(client)
    client.write(request, 'latin1')
    await closing(client)
    expect(got()).toMatch(refused(status, reason))
    expect(reached).toBe(0)
    expect(relay.malformed).toHaveLength(1)
    expect(relay.told).toEqual([])
  })

  it('after the requests before it are answered', async () => {
    const relay = await relayTo((service) => service.once('data', () => service.write(EMPTY)))
    const client = await open(relay)
    const got = collecting(client)
    client.write(`${GET}hello\r\n\r\n`)
    await closing(client)
    expect(got().slice(0, EMPTY.length)).toBe(EMPTY)
    expect(got().slice(EMPTY.length)).toMatch(refused('400 Bad Request', 'not valid'))
    expect(relay.exchanges()).toMatchObject([{ broken: undefined }])
  })

  it('in the middle of a body, when the service has a part of it', async () => {
    let service: Socket | undefined
    const relay = await relayTo((socket) => {
      service = socket
    })
    const client = await open(relay)
    const got = collecting(client)
    client.write(message('POST /a HTTP/1.1', 'Transfer-Encoding: chunked', '1\r\na\r\n'))
    await expect.poll(() => service?.bytesRead ?? 0).toBeGreaterThan(0)
    client.write('zz\r\n')
    await Promise.all([closing(client), closing(service as unknown as Socket)])
    expect(got()).toMatch(refused('400 Bad Request', 'chunk size'))
    expect(relay.exchanges()).toMatchObject([{ response: undefined, broken: expect.stringContaining('not valid') }])
  })
})

describe('A response that is no valid HTTP/1.1 is replaced by one of the proxy, if nothing of it was passed on', () => {
  it.each<[what: string, answer: string, reason: string]>([
    ['HTML without a header', '<html>\r\n', 'not valid HTTP/1.1'],
    ['a folded field', message('HTTP/1.1 200 OK', 'A: b', ' c', ''), 'not valid HTTP/1.1'],
    [
      'both framings',
      message('HTTP/1.1 200 OK', 'Content-Length: 1', 'Transfer-Encoding: chunked', 'a'),
      'not valid HTTP/1.1',
    ],
    ['a status below 100', message('HTTP/1.1 099 Odd', 'Content-Length: 0', ''), 'not valid HTTP/1.1'],
    [
      'another protocol',
      message('HTTP/1.1 101 Switching Protocols', 'Upgrade: x', 'Connection: upgrade', ''),
      'another protocol',
    ],
  ])('%s', async (_, answer, reason) => {
    const relay = await relayTo((service) => service.once('data', () => service.write(answer)))
    const client = await open(relay)
    const got = collecting(client)
    client.write(message('GET /a HTTP/1.1', 'Connection: upgrade', 'Upgrade: x', ''))
    await closing(client)
    expect(got()).toMatch(refused('502 Bad Gateway', reason))
    expect(relay.malformed).toHaveLength(1)
    expect(relay.exchanges()).toMatchObject([{ broken: expect.stringContaining(reason) }])
  })

  it('is cut off when a part of it was passed on', async () => {
    const answer = message('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '1\r\na\r\n')
    let service: Socket | undefined
    const relay = await relayTo((socket) => {
      service = socket
      socket.once('data', () => socket.write(answer))
    })
    const client = await open(relay)
    const got = collecting(client)
    client.write(GET)
    await expect.poll(got).toBe(answer)
    service?.write('zz\r\n')
    await closing(client)
    expect(got()).toBe(answer)
  })
})
