import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { budget } from '../support/budget.ts'
import { startService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, Connection, readResponses, requestBytes } from '../support/wire.ts'
import { Client } from './client.ts'
import { heapInUse } from './memory.ts'
import { DOMAINS, POST, portOf, READ, repeat } from './plain-requests.ts'

// What other tests have left may be freed, or grow, just meanwhile. Then it is measured again.
describe('Memory is bounded', { retry: 2, timeout: 120_000 }, () => {
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
        requestBytes({ target: DOMAINS, headers: [AUTHORIZED, ['Prefer', 'delay=700']] }),
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

  const CLIENTS = budget({ quick: 8, full: 64 })

  it(`when ${CLIENTS} clients send a megabyte each, wrong in a hundred thousand places`, async () => {
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
      Array.from({ length: CLIENTS }, () => new Client(portOf(service)).ask(bytes, { deadline: 100_000 })),
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
