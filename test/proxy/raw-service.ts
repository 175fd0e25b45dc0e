import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { expect, onTestFinished } from 'vitest'
import { Relay, type RelayOptions } from '../../src/proxy/relay.ts'
import { targetAt } from '../../src/proxy/target.ts'
import { type PassedExchange, ProxyTraffic } from '../../src/proxy/traffic.ts'
import { listenOn } from '../support/listening.ts'
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts'

export type TestRelay = Awaited<ReturnType<typeof startRelay>>

/** Starts a relay to a service on a free port, without anything that looks at the traffic; it ends with the test. */
export async function startRelay(url: string, options: Partial<RelayOptions> = {}) {
  const target = targetAt(url, '/api/v1', { insecure: true })
  const exchanges: PassedExchange[] = []
  const failures: string[] = []
  const unpassed: string[] = []
  const traffic = new ProxyTraffic(
    (exchange) => exchanges.push(exchange),
    () => 0,
  )
  const relay = new Relay({
    target,
    host: '127.0.0.1',
    port: 0,
    traffic,
    keptPath: '/__admin',
    answer: (_, response) => response.end('kept'),
    unpassed: (reason) => unpassed.push(reason),
    failed: (reason) => failures.push(reason),
    ...options,
  })
  const origin = await relay.listen()
  onTestFinished(() => relay.stop())
  return { origin, relay, target, traffic, exchanges, failures, unpassed }
}

/** A message, or a part of one, with the line ends of HTTP. Each character is one byte. */
export function http(text: string): string {
  return text.replaceAll('\n', '\r\n')
}

/** The field that Node.js adds at a hop. */
export const HOP = 'Connection: keep-alive\r\n'

/** A client of a relay, and the service behind it, which gives the answer whenever something comes. */
export async function converse({ answer, secure = false }: { answer?: string; secure?: boolean } = {}) {
  const services: Socket[] = []
  const received: (() => string)[] = []
  const serve = (service: Socket) => {
    services.push(service)
    received.push(collecting(service))
    if (answer !== undefined) service.on('data', () => service.write(answer, 'latin1'))
  }
  const relay = await relayTo(serve, { secure })
  const client = await open(relay)
  return {
    relay,
    client,
    got: collecting(client),
    /** All that came to the service, on all connections. */
    received: () => received.map((each) => each()).join(''),
    services,
    send: (text: string) => void client.write(text, 'latin1'),
    /** The connection to the service, once something has come there. */
    async reached(): Promise<Socket> {
      await expect.poll(() => services[0]?.bytesRead ?? 0).toBeGreaterThan(0)
      return services[0] as Socket
    },
    /** The exchanges, once there are so many. */
    async seen(count: number) {
      await expect.poll(() => relay.exchanges.length).toBe(count)
      return relay.exchanges
    },
  }
}

/** A relay to a service that hands each connection to the test. */
export async function relayTo(
  serve: (socket: Socket) => void,
  { secure = false, ...options }: Partial<RelayOptions> & { secure?: boolean } = {},
): Promise<TestRelay> {
  const take = (socket: Socket) => {
    socket.on('error', () => {})
    socket.resume()
    serve(socket)
  }
  const server = secure ? createSecureServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, take) : createServer(take)
  return startRelay(`http${secure ? 's' : ''}://127.0.0.1:${await listenOn(server)}`, options)
}

export async function open({ origin }: Pick<TestRelay, 'origin'>): Promise<Socket> {
  const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.resume()
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Resolves when a connection is closed, in whatever way. */
export async function closing(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
}

/** Collects what comes on a connection; the function returns it as a text in which each character is one byte. */
export function collecting(socket: Socket): () => string {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('latin1')
}
