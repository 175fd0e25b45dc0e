import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../contract/body.ts'

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
export function pathOf({ originalUrl, url = '' }: MountedRequest): string {
  return (originalUrl ?? url).replace(/\?.*$/s, '')
}
