import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { contentOf } from '../../../src/http/content.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, type RequestHandler } from '../../../src/http/engine/connection.ts'
import { closeServer, createHttpServer, listen } from '../../../src/http/engine/http-server.ts'
import { post } from '../../../src/http/engine/outbox.ts'
import type { Arrival } from '../../../src/http/reception.ts'

export type ExpressRequest = IncomingMessage & Partial<Arrival> & { app?: { enabled(setting: string): boolean } }

export const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
export const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n'

const NO_CROWD = { limit: Number.POSITIVE_INFINITY, refuse: () => {}, began: () => {}, ended: () => {} }

/** A connection to a server that has this handler, until the test is over. */
export async function open(handle: RequestHandler, limits: Partial<ConnectionLimits> = {}): Promise<Socket> {
  const server = createHttpServer(handle, (_, socket) => socket.destroy(), NO_CROWD, {
    ...CONNECTION_LIMITS,
    ...limits,
  })
  const origin = await listen(server, 0, '127.0.0.1')
  onTestFinished(() => closeServer(server))
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

export function answer(response: ServerResponse, text = 'done'): void {
  const body = contentOf(text)
  post(
    response,
    { status: 200, headers: ['Content-Length', body.size], written: { entries: 2, text: '' }, body },
    false,
  )
}
