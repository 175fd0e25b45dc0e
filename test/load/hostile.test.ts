import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { startService, type TestService } from '../support/service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  Connection,
  chunked,
  type Header,
  JSON_BODY,
  readResponses,
  requestBytes,
} from '../support/wire.ts'
import { Client } from './client.ts'
import { heapInUse } from './memory.ts'

const DOMAINS = '/api/v1/domains'
const READ = requestBytes({ target: DOMAINS })
const POST = { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY] }
const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n'

function portOf({ baseUrl }: TestService): number {
  return Number(new URL(baseUrl).port)
}

/** Milliseconds that 99 of 100 requests of a well-behaved client take at most. */
async function measureP99(service: TestService, requests = 300): Promise<number> {
  const client = new Client(portOf(service))
  const latencies: number[] = []
  for (let request = 0; request < requests; request++) {
    const began = performance.now()
    expect(await client.ask(READ)).toMatchObject({ status: 200 })
    latencies.push(performance.now() - began)
  }
  client.close()
  latencies.sort((one, other) => one - other)
  return latencies[Math.floor(requests * 0.99)] ?? Number.POSITIVE_INFINITY
}

function repeat(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array(times).fill(bytes))
}

/** Begins on a connection, and does its harm each time it is called from then on. */
type Attack = (socket: Socket) => (() => void) | undefined

const CROWD: readonly [who: string, clients: number, attack: Attack][] = [
  ['connect and say nothing', 200, () => undefined],
  [
    'send a header byte by byte',
    100,
    (socket) => {
      socket.write('GET / HTTP/1.1\r\nX: ')
      return () => socket.write('x')
    },
  ],
  [
    'send a body byte by byte',
    100,
    (socket) => {
      socket.write(requestBytes({ ...POST, headers: [...POST.headers, ['Content-Length', '100000']], body: '{' }))
      return () => socket.write(' ')
    },
  ],
  [
    'close their side in the middle of a request',
    100,
    (socket) => {
      socket.end(READ.subarray(0, 40))
      return undefined
    },
  ],
  [
    'send without waiting and never read',
    20,
    (socket) => {
      socket.pause()
      socket.write(repeat(READ, 2_000))
      return undefined
    },
  ],
  [
    'reset their connections in the middle of a request',
    300,
    (socket) => {
      socket.write(READ.subarray(0, 60), () => socket.resetAndDestroy())
      return undefined
    },
  ],
]

describe('While others', () => {
  it.each(CROWD)('%s, a client is answered nearly as fast as by an idle service', async (_, clients, attack) => {
    const service = await startService({ enforceQuotas: false })
    await measureP99(service)
    const idle = await measureP99(service)
    const sockets: Socket[] = []
    const deeds: (() => void)[] = []
    for (let client = 0; client < clients; client++) {
      const socket = connect(portOf(service), '127.0.0.1')
      socket.on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
      const deed = attack(socket)
      if (deed !== undefined) deeds.push(deed)
    }
    const timer = setInterval(() => {
      for (const deed of deeds) deed()
    }, 10)
    // The attackers live in this process too, so what they cost themselves is allowed for.
    expect(await measureP99(service)).toBeLessThan(Math.max(5 * idle, 60))
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  })

  it('send thousands of requests at once, a client is answered between them', async () => {
    const service = await startService({ enforceQuotas: false })
    await measureP99(service)
    const connection = await Connection.open(service)
    connection.socket.removeAllListeners('data')
    let answers = 0
    connection.socket.on('data', (chunk) => {
      answers += chunk.toString('latin1').split('X-Request-Id: ').length - 1
    })
    connection.socket.write(repeat(READ, 10_000))
    await once(connection.socket, 'data')
    await new Client(portOf(service)).ask(READ)
    expect(answers).toBeLessThan(5_000)
    await connection.destroy()
  })
})

describe('Memory is bounded', () => {
  it('when ten thousand requests come at once behind one that takes its time, and all are answered', async () => {
    const service = await startService({ enforceQuotas: false })
    const before = heapInUse()
    const connection = await Connection.open(service)
    let received = ''
    connection.socket.removeAllListeners('data')
    connection.socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    connection.socket.write(
      Buffer.concat([
        requestBytes({ target: DOMAINS, headers: [AUTHORIZED, ['Prefer', 'delay=1500']] }),
        repeat(READ, 9_999),
        requestBytes({ target: DOMAINS, headers: [AUTHORIZED, CLOSE] }),
      ]),
    )
    // With the first answer the server has had its time to take what it wants, and nearly all of it still waits.
    // All ten thousand would take 18 MB.
    await once(connection.socket, 'data')
    expect(heapInUse() - before).toBeLessThan(8)
    expect(readResponses(received).length).toBeLessThan(1_000)
    await connection.closed
    const responses = readResponses(received)
    expect(responses).toHaveLength(10_001)
    expect(responses.every(({ status }) => status === 200)).toBe(true)
    const ids = responses.map(({ headers }) => headers.find(([name]) => name === 'X-Request-Id')?.[1])
    expect(new Set(ids).size).toBe(10_001)
  })

  it('when 64 clients send a megabyte each, wrong in a hundred thousand places', async () => {
    const service = await startService({ enforceQuotas: false })
    const bytes = requestBytes({
      ...POST,
      method: 'DELETE',
      body: JSON.stringify({ domains: Array(340_000).fill('') }),
    })
    const before = heapInUse()
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().heapUsed / 2 ** 20)
    }, 5)
    const endings = await Promise.all(
      Array.from({ length: 64 }, () => new Client(portOf(service)).ask(bytes, { deadline: 30_000 })),
    )
    clearInterval(timer)
    for (const ending of endings) expect(ending).toMatchObject({ status: 400 })
    // The garbage of a few bodies, which nobody has collected yet; not that of all.
    expect(peak - before).toBeLessThan(400)
    expect(heapInUse() - before).toBeLessThan(20)
  })

  it('after a thousand connections that were opened and reset', async () => {
    const service = await startService()
    const before = heapInUse()
    for (let round = 0; round < 10; round++) {
      const sockets = Array.from({ length: 100 }, () => connect(portOf(service), '127.0.0.1').on('error', () => {}))
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      for (const socket of sockets) socket.resetAndDestroy()
    }
    expect(await new Client(portOf(service)).ask(READ)).toMatchObject({ status: 200 })
    expect(heapInUse() - before).toBeLessThan(10)
  })
})

describe('A refused upload', () => {
  const BODY = Buffer.alloc(20_000_000, ' ')

  it.each<[what: string, status: number, headers: readonly Header[], body: Buffer]>([
    ['of 20 MB', 413, [AUTHORIZED, JSON_BODY], BODY],
    ['of 20 MB on a connection that is to be closed', 413, [AUTHORIZED, JSON_BODY, CLOSE], BODY],
    [
      'of 20 MB in chunks',
      413,
      [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked'], CLOSE],
      chunked(BODY.toString()),
    ],
    ['of 20 MB without a key', 401, [JSON_BODY, CLOSE], BODY],
  ])('%s gets its answer and is not reset', async (_, status, headers, body) => {
    const service = await startService()
    const connection = await Connection.open(service)
    const errors: Error[] = []
    connection.socket.on('error', (error) => errors.push(error))
    const sent = connection.write(requestBytes({ method: 'POST', target: DOMAINS, headers, body }))
    expect((await connection.next()).status).toBe(status)
    await sent
    expect(errors).toEqual([])
    connection.socket.destroy()
  })

  it('is read past for ten seconds and no longer', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await connection.write(
        requestBytes({ ...POST, headers: [...POST.headers, ['Content-Length', '9999999999']], body: '{' }),
      )
      expect((await connection.next()).status).toBe(413)
      vi.advanceTimersByTime(9_000)
      await connection.write('more')
      expect(connection.socket.destroyed).toBe(false)
      vi.advanceTimersByTime(2_000)
      await connection.closed
    } finally {
      vi.useRealTimers()
    }
  })

  it('leaves the connection to the next request once it is whole', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    await connection.write(requestBytes({ ...POST, body: Buffer.alloc(3_000_000, ' ') }))
    expect((await connection.next()).status).toBe(413)
    await connection.write(READ)
    expect((await connection.next()).status).toBe(200)
    connection.socket.destroy()
  })

  it.each([
    ['breaks off', requestBytes({ ...POST, headers: [['Content-Length', '100']], body: '{' })],
    [
      'has a chunk that is none',
      requestBytes({ ...POST, headers: [['Transfer-Encoding', 'chunked']], body: '5\r\n{"do' }),
    ],
  ])('that %s gets one answer', async (_, bytes) => {
    const service = await startService()
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.end(bytes)
    await once(socket, 'close')
    expect(readResponses(received).map(({ status }) => status)).toEqual([401])
  })
})

describe('What is at the edge of HTTP is answered', () => {
  const auth = `Authorization: ${AUTHORIZED[1]}\r\n`

  it.each<[what: string, bytes: string, status: number]>([
    ['a folded header', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}X: a\r\n b\r\nConnection: close\r\n\r\n`, 400],
    [
      'lines that end with a bare line feed',
      `GET ${DOMAINS} HTTP/1.1\nHost: x\n${auth.trim()}\nConnection: close\n\n`,
      400,
    ],
    [
      'a thousand small headers',
      `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}${'A:\r\n'.repeat(1_000)}Connection: close\r\n\r\n`,
      200,
    ],
    ['a header of 16 KB', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(16_384)}\r\n\r\n`, 431],
    [
      'the same length twice',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
      400,
    ],
    [
      'an upgrade to HTTP/2',
      `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
      200,
    ],
    [
      'an expectation that is none',
      `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Expect: 200-maybe\r\nConnection: close\r\n\r\n`,
      200,
    ],
    ['HTTP/1.0', `GET ${DOMAINS} HTTP/1.0\r\n${auth}\r\n`, 200],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 400],
    [
      'a huge chunk extension',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(70_000)}\r\n{}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a huge trailer',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
      431,
    ],
    [
      'a body that is nested 100,000 deep',
      requestBytes({
        ...POST,
        headers: [...POST.headers, CLOSE],
        body: `{"domains":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      }).toString(),
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    const service = await startService()
    const [response, ...more] = readResponses(await service.sendRaw(bytes))
    expect(more).toEqual([])
    expect(response?.status).toBe(status)
    expect(response && bodyOf(response)).toMatchObject({ success: status === 200 })
    expect((await service.get('/domains')).status).toBe(200)
  })
})
