import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import type { StandIn } from '../../src/server/stand-in.ts'
import { failingStore } from '../support/failing-store.ts'
import { type ServiceOptions, startService, type TestService } from '../support/service.ts'
import { readResponses } from '../support/wire.ts'

/** Status and code of the one response in what a connection has brought; `nothing` where there is none. */
function outcomeIn(bytes: string): string {
  const [response] = readResponses(bytes)
  return response === undefined ? 'nothing' : `${response.status} ${JSON.parse(response.text).error.code}`
}

const nonsense = async (service: TestService) => outcomeIn(await service.sendRaw('NONSENSE\r\n\r\n'))
const largeHeader = async (service: TestService) =>
  outcomeIn(
    await service.sendRaw(`GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`),
  )

/** What a client is answered that Node.js reports as too slow. Nobody waits for that here. */
async function slow(): Promise<string> {
  let opened: StandIn | undefined
  await startService({}, OPERATIONS, {
    open: (standIn) => {
      opened = standIn
    },
  })
  const server = createHttpServer(
    async () => {},
    async (arrival) => opened?.answer(arrival),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.once('connection', (socket) =>
    server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
  )
  const chunks: Buffer[] = []
  for await (const chunk of connect((server.address() as AddressInfo).port, '127.0.0.1')) chunks.push(chunk)
  server.close()
  return outcomeIn(Buffer.concat(chunks).toString())
}

/** What a change is answered whose store has failed. */
async function lost(service: TestService): Promise<string> {
  const { status, body } = await service.send('POST', '/domains', { domains: ['new.example'] })
  return `${status} ${body.error.code}`
}

function withLostStore(): ServiceOptions {
  const { store, fail } = failingStore('update')
  fail()
  return { store }
}

describe('what cannot be answered as a request of an operation is answered', () => {
  it.each<[what: string, answer: string, ask: typeof lost, options?: () => ServiceOptions]>([
    ['nonsense', '400 invalid_request_body', nonsense],
    ['a large header', '431 request_too_large', largeHeader],
    ['a slow request', '408 invalid_request_body', slow],
    ['a change that is lost', '500 internal_error', lost, withLostStore],
  ])('%s: %s', async (_, answer, ask, options = () => ({})) => {
    expect(await ask(await startService(options()))).toBe(answer)
  })
})
