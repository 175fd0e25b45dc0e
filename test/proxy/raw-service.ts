import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { expect, onTestFinished } from 'vitest'
import type { RelayOptions } from '../../src/proxy/relay.ts'
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts'
import { startRelay, type TestRelay } from './open-relay.ts'

/** A client of a relay, and the service behind it, which gives the answer whenever something comes. */
export async function converse({ answer, secure = false }: { answer?: string; secure?: boolean } = {}) {
  const services: Socket[] = []
  let received = () => ''
  const serve = (service: Socket) => {
    services.push(service)
    received = collecting(service)
    if (answer !== undefined) service.on('data', () => service.write(answer, 'latin1'))
  }
  const relay = await relayTo(serve, { secure })
  const client = await open(relay)
  return {
    relay,
    client,
    got: collecting(client),
    received: () => received(),
    services,
    send: (text: string) => void client.write(text, 'latin1'),
    /** The connection to the service, once something has come there. */
    async reached(): Promise<Socket> {
      await expect.poll(() => services[0]?.bytesRead ?? 0).toBeGreaterThan(0)
      return services[0] as Socket
    },
    /** How each exchange ended, once there are so many. */
    async seen(count: number) {
      await expect.poll(() => relay.exchanges().length).toBe(count)
      return relay.exchanges()
    },
  }
}

/** A relay to a service that hands each connection to the test. */
export async function relayTo(
  serve: (socket: Socket) => void,
  { secure = false, ...options }: Partial<RelayOptions> & { secure?: boolean } = {},
): Promise<TestRelay> {
  const sockets = new Set<Socket>()
  const take = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.resume()
    serve(socket)
  }
  const server = secure
    ? createSecureServer({ cert: CERTIFICATE, key: PRIVATE_KEY, allowHalfOpen: true }, take)
    : createServer({ allowHalfOpen: true }, take)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return startRelay(secure ? urlOf(server).replace('http:', 'https:') : urlOf(server), options)
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function open({ origin }: Pick<TestRelay, 'origin'>): Promise<Socket> {
  const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  socket.resume()
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Resolves when a connection is closed, in whatever way; tells the code of the error, if there was one. */
export function closing(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let code: string | undefined
    socket.once('error', (error: NodeJS.ErrnoException) => {
      code = error.code
    })
    if (socket.closed) resolve(code)
    else socket.once('close', () => resolve(code))
  })
}

/** Collects what comes on a connection; the function returns it as a text in which each character is one byte. */
export function collecting(socket: Socket): () => string {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('latin1')
}
