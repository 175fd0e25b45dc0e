import type { ServerResponse } from 'node:http'
import { ServerArrival } from '../exchanges/server-arrival.ts'
import type { Arrival } from '../ground/arrival.ts'
import type { Headers } from '../ground/delivery.ts'
import { createCarrier } from './carrier.ts'
import { BodyReadBefore, isReadBefore, type Middleware, type MountedRequest, pathOf, targetBelow } from './mount.ts'
import type { StandIn } from './stand-in.ts'

/**
 * A copy of the object has it too. It is registered, because a program may load this module twice, for example once
 * inside of a test runner.
 */
const INSIDE = Symbol.for('dmarc-understudy.inside')

/** The object that a user gets, from which `standInOf` finds the stand-in again. */
export function attachStandIn<Outside extends object>(inside: StandIn, outside: Outside): Outside {
  return Object.assign(outside, { [INSIDE]: () => inside })
}

export function standInOf(service: object): StandIn | undefined {
  return (service as { [INSIDE]?: () => StandIn })[INSIDE]?.()
}

/** A stand-in that `startUnderstudy`, or the fixture of a test, has started in this process. */
export interface RunningStandIn {
  readonly baseUrl: string
  stop(): Promise<void>
}

/**
 * A middleware that answers for the service below the path where it is mounted, and passes on everything else:
 *
 * ```ts
 * app.use('/mock', standIn(service)) // answers /mock/api/v1/domains
 * ```
 *
 * Mount it before body parsers. Faults act on the connection of the client.
 * @throws TypeError if the stand-in runs in another process
 */
export function standIn(service: RunningStandIn): Middleware {
  const inside = standInOf(service)
  if (inside === undefined) {
    const remedy = 'Start one with startUnderstudy() of dmarc-understudy, or let the client use its baseUrl.'
    throw new TypeError(`standIn(service) needs a stand-in that runs in this process. ${remedy}`)
  }
  const { answer, contract, log } = inside
  const stopping = inside.stopping.signal
  const isLenient = contract.settings.pathMatching === 'lenient'
  const serve = createCarrier({ answer, writeHeader, stopping, log })

  return function answerForService(request, response, next) {
    const target = targetBelow(request, contract.basePath, isLenient)
    if (target === undefined) return next()
    if (stopping.aborted)
      return next(new Error(`The stand-in was stopped before ${request.method} ${pathOf(request)}.`))
    const { body } = request as MountedRequest
    const isRead = isReadBefore(request)
    // `express.raw` keeps the bytes.
    if (isRead && !Buffer.isBuffer(body)) return next(new BodyReadBefore(request, 'standIn(service)'))
    const kept = isRead ? (body as Buffer) : undefined
    void serve(new ServerArrival(request, target, asOurs(request.headers), kept), request, response)
  }
}

/**
 * The fields with a Host of this machine. The application decides which hosts it answers, so the stand-in does not refuse
 * any. A missing or malformed one stays as it is.
 */
function asOurs(headers: MountedRequest['headers']): Arrival['headers'] {
  const { host } = headers
  return host === undefined || !/^[\w.-]+(?::\d+)?$/.test(host) ? headers : { ...headers, host: 'localhost' }
}

/**
 * Writes each field by itself, so that other middlewares that replace these methods see it. Fields that others have set
 * stay, except those of the service, and `X-Powered-By`, which the service does not have.
 */
function writeHeader(response: ServerResponse, status: number, headers: Headers): void {
  response.removeHeader('X-Powered-By')
  for (let index = 0; index < headers.length; index += 2) response.removeHeader(String(headers[index]))
  for (let index = 0; index < headers.length; index += 2) {
    response.appendHeader(String(headers[index]), String(headers[index + 1]))
  }
  response.writeHead(status)
}
