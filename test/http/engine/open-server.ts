import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { contentOf } from '../../../src/http/content.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, type RequestHandler } from '../../../src/http/engine/connection.ts'
import { closeServer, createHttpServer, listen } from '../../../src/http/engine/http-server.ts'
import type { ServerRequest } from '../../../src/http/engine/node-internals.ts'
import { post } from '../../../src/http/engine/outbox.ts'

export type ArrivedRequest = IncomingMessage & Partial<ServerRequest>

export const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
export const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n'

const NO_CROWD = { limit: Number.POSITIVE_INFINITY, refuse: () => {}, began: () => {}, ended: () => {} }

/** A connection to a server that has this handler, until the test is over. */
export async function open(handle: RequestHandler, limits: Partial<ConnectionLimits> = {}): Promise<Socket> {
  const all = { ...CONNECTION_LIMITS, ...limits }
  const server = createHttpServer(handle, (_, socket) => socket.destroy(), NO_CROWD, all)
  const origin = await listen(server, 0, '127.0.0.1')
  onTestFinished(() => closeServer(server))
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Sends bytes, and gives the text that comes back first. */
export async function send(client: Socket, bytes = GET): Promise<string> {
  client.write(bytes)
  return String((await once(client, 'data'))[0])
}

/** All text that a client receives from now on. */
export function receive(client: Socket): () => string {
  let received = ''
  client.on('data', (chunk) => {
    received += chunk
  })
  return () => received
}

export function answer(response: ServerResponse, text = 'done'): void {
  const body = contentOf(text)
  const written = { entries: 2, text: '' }
  post(response, { status: 200, headers: ['Content-Length', body.size], written, body, transmission: undefined }, false)
}
