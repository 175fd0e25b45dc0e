import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../contract/body.ts'
import { ServerArrival } from '../exchanges/server-arrival.ts'
import type { Arrival, Headers } from '../ground/message.ts'
import { createCarrier } from './carrier.ts'
import type { StandIn } from './stand-in.ts'

/** A middleware for Express 4 and 5, and for everything that calls middlewares in the same way. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/** What Express and its body parsers add to a request. */
export type MountedRequest = IncomingMessage & {
  /** The path where the middleware is mounted. Express removes it from `url`. */
  baseUrl?: string | undefined
  /** The target before anything was removed from it. */
  originalUrl?: string | undefined
  body?: unknown
}

/**
 * The target of a request from the base path of the service on; `undefined` if it does not belong to the service. The
 * base path begins below the place of the middleware, or in it: a middleware at `/mock`, and one at `/mock/api/v1`,
 * both see `/api/v1/domains` of `/mock/api/v1/domains`.
 */
export function targetBelow(
  { baseUrl: mount = '', originalUrl, url = '' }: MountedRequest,
  basePath: string,
  isLenient: boolean,
): string | undefined {
  // As nearly all are: in the time of one comparison.
  if (url.startsWith(basePath) && url[basePath.length] === '/') return url
  const below = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const isBase = (text: string) => text === basePath || (isLenient && text.toLowerCase() === basePath.toLowerCase())
  if (isBase(below.slice(0, basePath.length)) && /^(?:[/?]|$)/.test(below.slice(basePath.length))) return below
  for (let start = mount.lastIndexOf('/'); start >= 0; start = start > 0 ? mount.lastIndexOf('/', start - 1) : -1) {
    const end = start + basePath.length
    if (!isBase(mount.slice(start, end)) || !/^(?:\/|$)/.test(mount.slice(end))) continue
    // Express adds a slash where nothing of the path is left.
    const isAdded = /^\/(?:\?|$)/.test(below) && originalUrl !== undefined && !/\/(?:\?|$)/.test(originalUrl)
    return mount.slice(start) + (isAdded ? below.slice(1) : below)
  }
  return undefined
}

/** Another middleware has read the body of a request. `what` belongs before it. */
export class BodyReadBefore extends Error {
  override name = 'BodyReadBefore'

  constructor(request: MountedRequest, what: string) {
    const problem = `The stand-in cannot read the body of ${request.method} ${pathOf(request)}`
    const remedy = `Mount ${what} before express.json() and other body parsers.`
    super(`${problem}, because another middleware has read it. ${remedy}`)
  }
}

/** Whether another middleware has read the body. */
export function isReadBefore(request: IncomingMessage): boolean {
  return request.readableDidRead && hasBody(request)
}

/** The path of a request as its client has sent it, for messages. */
function pathOf({ originalUrl, url = '' }: MountedRequest): string {
  return (originalUrl ?? url).replace(/\?.*$/s, '')
}

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
