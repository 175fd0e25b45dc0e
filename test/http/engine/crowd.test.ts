import { expect, it, vi } from 'vitest'
import { startUnderstudy } from '../../../src/start/server.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { startService, type TestService } from '../../support/service.ts'
import { bodyOf, Connection, codeOf, expectLawful, headerOf, requestBytes } from '../../support/wire.ts'

const READ = { target: '/api/v1/domains' }
const HEALTH = requestBytes({ target: '/__admin/health' })

/** Connections that are in use. */
async function occupy(service: TestService, count: number): Promise<Connection[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(service)))
  for (const connection of connections) {
    await connection.write(requestBytes(READ))
    expect((await connection.next()).status).toBe(200)
  }
  return connections
}

async function ask(service: TestService, bytes: Buffer) {
  const connection = await Connection.open(service)
  await connection.write(bytes)
  const response = await connection.next()
  await connection.closed
  return response
}

it('A connection too many is refused in the envelope and closed, and those that are there go on', async () => {
  const service = await startService({ maxConnections: 3 })
  const [first] = await occupy(service, 3)
  const response = await ask(service, requestBytes(READ))
  expectLawful(service, READ, response)
  expect([response.status, codeOf(response)]).toEqual([500, 'internal_error'])
  expect(bodyOf(response)?.error?.message).toContain('--max-connections')
  expect(headerOf(response, 'connection')).toBe('close')
  await first?.write(requestBytes(READ))
  expect((await first?.next())?.status).toBe(200)
})

it('The control plane answers this machine although there are too many connections', async () => {
  const service = await startService({ maxConnections: 2 })
  await occupy(service, 2)
  expect((await ask(service, HEALTH)).status).toBe(200)
})

it('A connection that is closed makes room for another', async () => {
  const service = await startService({ maxConnections: 1 })
  const [only] = await occupy(service, 1)
  await only?.destroy()
  await vi.waitFor(() => occupy(service, 1), { timeout: 30_000 })
})

it('A surplus connection that says nothing keeps its place for a second at most, and there are few such places', {
  tags: ['slow'],
}, async () => {
  const service = await startService({ maxConnections: 1 })
  await occupy(service, 1)
  const silent = await Promise.all(Array.from({ length: 20 }, () => Connection.open(service)))
  await Promise.all(silent.map(({ closed }) => closed))
  expect((await ask(service, HEALTH)).status).toBe(200)
})

it('The log has a line when the first is refused, and one when there is room again', async () => {
  const said: unknown[] = []
  const note = (fields: object, text: string) => text === 'request' || said.push([fields, text])
  const log = { ...recordingLog(), warn: (_: object, text: string) => said.push(text), info: note }
  const service = await startService({ maxConnections: 2, log })
  const connections = await occupy(service, 2)
  for (let count = 0; count < 3; count++) await ask(service, requestBytes(READ))
  for (const connection of connections) await connection.destroy()
  await expect.poll(() => said).toHaveLength(2)
  expect(said).toEqual([
    'The maximum number of connections is open; further ones are refused.',
    [{ refused: 3 }, 'There is room for connections again.'],
  ])
})

it('More connections than the process may have are announced, and not tried', async () => {
  const said: string[] = []
  const log = { ...recordingLog(), warn: (_: object, text: string) => said.push(text) }
  const understudy = await startUnderstudy({ fixture: 'empty', maxConnections: 1_000_000, log })
  await understudy.stop()
  expect(said).toEqual([expect.stringMatching(/^The system lets the process have \d+ connections, not 1000000\.$/)])
})
