import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Exchange, Headers } from '../../../src/evidence/exchange.ts'
import { credentialsOf, headersOf } from '../../support/exchanges.ts'

export interface Relay {
  /** Where it answers for the service. */
  baseUrl: string
  /** What passed so far, in the order of the requests. */
  exchanges: Exchange[]
  stop(): Promise<void>
}

/** Passes requests on to a service of a test, and records them as a proxy would. `clock` is that of the recorder. */
export async function startRelay(baseUrl: string, clock: () => number): Promise<Relay> {
  const target = new URL(baseUrl)
  const exchanges: Exchange[] = []
  let underway = 0
  let events = 0
  // The clock of a test stands still, but one thing happens after the other.
  const now = () => clock() + events++

  const server = createServer({ maxHeaderSize: 262_144 }, async (incoming, outgoing) => {
    underway++
    const exchange = beginExchange(incoming, now(), underway > 1)
    const index = exchanges.push(exchange) - 1
    const body = await bytesOf(incoming)
    const { method = 'GET', url: path = '', rawHeaders } = incoming
    // Node writes what a list has as it is, so the service sees the request that was sent.
    const passed = request({ host: target.hostname, port: target.port, method, path, headers: rawHeaders as never })
    passed.once('response', async (response) => {
      const bytes = await bytesOf(response)
      underway--
      exchanges[index] = {
        ...exchange,
        id: String(response.headers['x-request-id'] ?? `exchange ${index + 1}`),
        until: now(),
        overlaps: exchange.overlaps || underway > 0,
        request: { ...exchange.request, body: { isKnown: true, bytes: body } },
        response: {
          status: response.statusCode ?? 0,
          headers: fieldsOf(response),
          body: { isKnown: true, bytes },
        },
      }
      outgoing.writeHead(response.statusCode ?? 0, response.rawHeaders as never).end(bytes)
    })
    passed.once('error', () => {
      underway--
      outgoing.destroy()
    })
    passed.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}${target.pathname}`,
    exchanges,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function beginExchange(incoming: IncomingMessage, at: number, overlaps: boolean): Exchange {
  const { method = 'GET', url: target = '' } = incoming
  const { authorization: _, cookie: __, ...headers } = fieldsOf(incoming)
  return {
    id: 'unanswered',
    ...{ at, until: at, overlaps },
    request: {
      ...{ method, target },
      headers: headersOf(Object.entries(headers)),
      credentials: credentialsOf(incoming.headers.authorization),
      body: { isKnown: true, bytes: Buffer.alloc(0) },
    },
    response: undefined,
  }
}

function fieldsOf({ headersDistinct }: IncomingMessage): Headers {
  return headersOf(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]))
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks)
}
