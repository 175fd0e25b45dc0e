import { createServer, type IncomingMessage, request as openRequest, type Server } from 'node:http'
import { duplexPair, Readable } from 'node:stream'
import { closed, fetchFailed, targetOf } from './fetch-request.ts'
import type { RequestHandler } from './http-server.ts'

/** Asks the control plane. In `headers`, names and values alternate. Rejects as `fetch` does. */
export type AskControl = (
  request: Request,
  headers: readonly string[],
  leaving: AbortSignal,
) => Promise<Pick<IncomingMessage, 'statusCode' | 'rawHeaders'> & { body: ReadableStream<Uint8Array> }>

/**
 * The control plane is made for requests of Node's HTTP server. So each request gets a connection, of which both ends
 * are in this process.
 */
export function openControlConnections(serve: RequestHandler): AskControl {
  let server: Server | undefined

  function connect() {
    // Most stand-ins are never asked for it in this way.
    server ??= createServer({ requireHostHeader: false }, serve)
    const [near, far] = duplexPair()
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
    server.emit('connection', far)
    return near
  }

  return async function askControl(request, headers, leaving) {
    const { method, body } = request
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const fail = (error: unknown) => reject(fetchFailed(error))
      const sending = openRequest({ createConnection: connect, method, path: targetOf(request), headers: [...headers] })
      leaving.addEventListener('abort', () => sending.destroy(), { once: true })
      sending.once('response', resolve)
      sending.on('error', () => fail(closed()))
      if (body === null) return void sending.end()
      const source = Readable.fromWeb(body as import('node:stream/web').ReadableStream)
      source.on('error', (error) => {
        sending.destroy()
        fail(error)
      })
      sending.once('close', () => source.destroy())
      source.pipe(sending)
    })
    const { statusCode, rawHeaders } = message
    return { statusCode, rawHeaders, body: Readable.toWeb(message) as ReadableStream<Uint8Array> }
  }
}
