import type { Application } from './application.ts'
import { closeServer, createHttpServer, listen } from './http-server.ts'
import { createMalformedReply } from './malformed.ts'
import type { CompleteOptions } from './option-table.ts'
import type { StandIn } from './stand-in.ts'

/** The port on which a stand-in is served. */
export interface Port {
  /** The origin for clients on this machine. */
  readonly origin: string
  close(): Promise<void>
}

/** Serves a stand-in and its control plane on a port. Rejects with the error of `listen`, such as `EADDRINUSE`. */
export async function openPort(
  { refuseMalformed, log }: StandIn,
  { handle }: Application,
  { port, host, maxConnections }: CompleteOptions,
): Promise<Port> {
  let isFull = false
  const server = createHttpServer({
    handle,
    refuseMalformed: createMalformedReply(refuseMalformed),
    maxConnections,
    dropped() {
      if (!isFull)
        log.warn(
          { limit: maxConnections },
          'The maximum number of connections is open; further ones are closed at once.',
        )
      isFull = true
    },
  })
  const origin = await listen(server, port, host)
  return { origin, close: () => closeServer(server) }
}
