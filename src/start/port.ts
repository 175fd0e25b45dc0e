import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { readFileLimit } from '../ground/machine.ts'
import { createCarrier } from '../http/engine/carrier.ts'
import { surplusFor } from '../http/engine/crowd.ts'
import { createCrowdedReply } from '../http/engine/crowded.ts'
import { closeServer, createHttpServer, listen } from '../http/engine/http-server.ts'
import { createMalformedReply } from '../http/engine/malformed.ts'
import type { ServerRequest } from '../http/engine/node-internals.ts'
import { OUTBOX } from '../http/engine/outbox.ts'
import { isLoopback } from '../http/hosts.ts'
import type { Log } from '../http/log.ts'
import type { ServedControl } from './control-plane.ts'
import type { CompleteOptions } from './option-table.ts'
import type { ServerOptions } from './options.ts'
import type { StandIn } from './stand-in.ts'

/** The port on which a stand-in is served. */
export interface Port {
  /** The origin for clients on this machine. */
  readonly origin: string
  close(): Promise<void>
}

/** Serves a stand-in and its control plane on a port. Rejects with the error of `listen`, such as `EADDRINUSE`. */
export async function openPort(
  standIn: StandIn,
  control: ServedControl | undefined,
  options: CompleteOptions,
  given: Pick<ServerOptions, 'maxConnections'>,
): Promise<Port> {
  const limit = limitConnections(options, given, standIn.log)
  const server = createServerFor(standIn, control, limit)
  const origin = await listen(server, options.port, options.host)
  return { origin, close: () => closeServer(server) }
}

/** The HTTP server for the service and its control plane. */
function createServerFor(standIn: StandIn, control: ServedControl | undefined, limit: number): Server {
  const { answer, contract, opened, refuseMalformed, log, stopping } = standIn
  const serve = createCarrier({ answer, writer: OUTBOX, stopping: stopping.signal, log })
  function handle(request: ServerRequest, response: ServerResponse): void | Promise<void> {
    return control?.owns(request) ? control.serve(request, response) : serve(request, request, response)
  }
  const refuseCrowded = createCrowdedReply(contract, opened.nextId)
  return createHttpServer(handle, createMalformedReply(refuseMalformed), {
    limit,
    // The user must still reach the control plane, to find and end the cause.
    refuse: (request, response) =>
      control?.isBelow(request) && isOfThisMachine(request)
        ? control.serve(request, response)
        : refuseCrowded(request, response),
    began: () => log.warn({ limit }, 'The maximum number of connections is open; further ones are refused.'),
    ended: (refused) => log.info({ refused }, 'There is room for connections again.'),
  })
}

/** Whether the client runs on this machine. */
function isOfThisMachine({ socket: { remoteAddress = '' } }: IncomingMessage): boolean {
  return isLoopback(remoteAddress.replace(/^::ffff:/, ''))
}

/** The limit of connections. A default adapts to the system without a word. */
function limitConnections(
  { maxConnections }: CompleteOptions,
  given: Pick<ServerOptions, 'maxConnections'>,
  log: Log,
): number {
  const limit = Math.min(maxConnections, findPossibleConnections())
  if (given.maxConnections !== undefined && limit < maxConnections) {
    log.warn({}, `The system lets the process have ${limit} connections, not ${maxConnections}.`)
  }
  return limit
}

/** How many files the process opens beside connections: written accounts, modules, the log. */
const OTHER_FILES = 256

/** How many connections the process can have, if the system reports its limit of open files; else any number. */
function findPossibleConnections(): number {
  const files = readFileLimit()
  if (files === undefined) return Number.POSITIVE_INFINITY
  const possible = files - OTHER_FILES
  return Math.max(1, possible - surplusFor(possible))
}
