import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../support/processor-time.ts'
import { startService, type TestService } from '../support/service.ts'
import { Connection, requestBytes } from '../support/wire.ts'
import { Client } from './client.ts'
import { POST, portOf, READ, repeat } from './plain-requests.ts'

/**
 * Milliseconds of the processor that 99 of 100 requests of a well-behaved client wait for at most. Everybody lives in this
 * process, so this is the time that they take on a machine that has nothing else to do.
 */
async function measureP99(service: TestService, requests = 300): Promise<number> {
  const client = new Client(portOf(service))
  const latencies: number[] = []
  for (let request = 0; request < requests; request++) {
    const began = processorTime()
    expect(await client.ask(READ)).toMatchObject({ status: 200 })
    latencies.push(processorTime() - began)
  }
  client.close()
  latencies.sort((one, other) => one - other)
  return latencies[Math.floor(requests * 0.99)] ?? Number.POSITIVE_INFINITY
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
