import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { ErrorRequestHandler, Express } from 'express'
import { listenOn } from '../support/listening.ts'
import { CLOSE, readResponses, requestBytes, type WireRequest, type WireResponse } from '../support/wire.ts'

/** Listens with an application until the test ends; resolves to its port. */
export function serve(app: Express): Promise<number> {
  // Express prints errors of its applications in every other environment.
  app.set('env', 'test')
  return listenOn(createServer(app))
}

/** Answers with the message of the error that a middleware has passed on. */
export const tellError: ErrorRequestHandler = (error, _request, response, _next) =>
  void response.status(500).send(error.message)

/** Everything that a connection brings after these bytes, and how it ends: `FIN`, or the code of an error. */
export function converse(port: number, bytes: Buffer): Promise<{ bytes: string; end: string }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    let end = 'FIN'
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      end = `${code}`
    })
    socket.once('close', () => resolve({ bytes: Buffer.concat(chunks).toString('latin1'), end }))
    socket.write(bytes)
  })
}

/** One request on a connection of its own, and all bytes that come back. */
export async function ask(port: number, request: WireRequest): Promise<string> {
  return (await converse(port, requestBytes({ ...request, headers: [...(request.headers ?? []), CLOSE] }))).bytes
}

/** The response in these bytes. */
export function responseIn(bytes: string, method = 'GET'): WireResponse {
  const [response, ...more] = readResponses(bytes, [method])
  if (response === undefined || more.length > 0) throw new Error(`This is not one response: ${bytes}`)
  return response
}

/** The same, where the bytes do not matter. */
export async function answerTo(port: number, request: WireRequest): Promise<WireResponse> {
  return responseIn(await ask(port, request), request.method)
}
