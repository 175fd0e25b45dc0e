import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IndependentService, ServiceRequest, ServiceResponse } from './service.ts'

/** What happens to a request on its way, although the service itself is right. */
export interface Trouble {
  /** What is done with the request: answered as it should be, or by another hand, or not at all. */
  with(request: ServiceRequest, now: number, number: number): ServiceResponse | 'cut' | 'pass'
}

export interface Listener {
  url: string
  /** How many requests came. */
  requests(): number
  close(): Promise<void>
}

export interface Listening {
  /** The service's clock; a test may move it. */
  now(): number
  trouble?: Trouble | undefined
}

const NO_TROUBLE: Trouble = { with: () => 'pass' }

/** A port of its own on the loopback interface. */
export async function listen(
  service: Pick<IndependentService, 'answer'>,
  { now, trouble = NO_TROUBLE }: Listening,
): Promise<Listener> {
  let requests = 0
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const request = {
      method: incoming.method ?? 'GET',
      target: incoming.url ?? '/',
      headers,
      body: Buffer.concat(chunks),
    }
    requests += 1
    const troubled = trouble.with(request, now(), requests)
    outgoing.sendDate = false
    outgoing.setHeader('Date', new Date(now()).toUTCString())
    if (troubled === 'cut') incoming.socket.destroy()
    else send(outgoing, troubled === 'pass' ? service.answer(request, now()) : troubled)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    requests: () => requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: ServiceResponse) {
  outgoing.writeHead(status, headers.flat())
  outgoing.end(body)
}
