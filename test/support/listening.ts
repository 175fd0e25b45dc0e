import { connect, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { CERTIFICATE, PRIVATE_KEY } from '../proxy/certificate.ts'
import type { RedisServer } from './redis-server.ts'

/** Listens on a free port, which is returned, until the test ends. */
export async function listenOn(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

/** Speaks TLS and passes everything on to a Redis. */
export function tlsBefore({ socket }: RedisServer): Server {
  const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (client) => {
    const inner = connect(socket)
    inner.on('error', () => client.destroy())
    client.on('error', () => inner.destroy())
    client.pipe(inner).pipe(client)
  })
  return server.on('tlsClientError', () => {})
}
