import { createServer, type IncomingMessage, request as openRequest, type Server } from 'node:http'
import { duplexPair, type Readable } from 'node:stream'
import type { RequestHandler } from '../http-server.ts'
import { closed, fetchFailed, terminated } from './failure.ts'
import { responseOf } from './response.ts'

interface ControlMessage {
  method: string
  target: string
  /** Names and values alternate. */
  headers: readonly string[]
  body: Buffer | Readable
}

export type AskControl = (
  message: ControlMessage,
  visit: { request: Request; leaving: AbortController },
) => Promise<Response>

/**
 * The control plane is made for requests of Node's HTTP server. So each request gets a connection, of which both ends
 * are in this process, and its bytes are those of a socket.
 */
export function openControlConnections(serve: RequestHandler): AskControl {
  let server: Server | undefined

  /** Most stand-ins are never asked for it in this way, so the server is made at the first request. */
  function makeServer(): Server {
    return createServer({ requireHostHeader: false }, serve)
  }

  function connect() {
    server ??= makeServer()
    const [near, far] = duplexPair()
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
    server.emit('connection', far)
    return near
  }

  return async function askControl({ method, target, headers, body }, { request, leaving }) {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = openRequest({ createConnection: connect, method, path: target, headers: [...headers] })
      leaving.signal.addEventListener('abort', () => sending.destroy(), { once: true })
      sending.once('response', resolve)
      sending.on('error', () => reject(fetchFailed(closed())))
      if (Buffer.isBuffer(body)) sending.end(body)
      else body.pipe(sending)
    })
    const { statusCode: status = 0, rawHeaders: fields } = message
    const response = responseOf({ status, fields, pieces: piecesOf(message) }, request, leaving)
    if (response.body === null) message.resume()
    return response
  }
}

async function* piecesOf(message: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* message
  } catch {
    throw terminated()
  }
}
