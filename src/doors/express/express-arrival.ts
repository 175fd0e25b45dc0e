import type { Arrival } from '../../http/arrival.ts'
import { hasBody } from '../../http/body.ts'
import { waitOn } from '../../http/engine/waiting.ts'
import type { MountedRequest } from './mount.ts'

/**
 * The arrival of a request of Express. `target` begins with the base path of the service. `undefined` if another
 * middleware has read the body, unless it has kept the bytes, as `express.raw` does.
 */
export function arrivalOfExpress(request: MountedRequest, target: string): Arrival | undefined {
  const isRead = request.readableDidRead && hasBody(request)
  const { body, socket } = request
  if (isRead && !Buffer.isBuffer(body)) return undefined
  return {
    method: request.method,
    url: target,
    httpVersion: request.httpVersion,
    headers: asOurs(request.headers),
    rawHeaders: request.rawHeaders,
    isWhole: isRead,
    arrived: isRead && Buffer.isBuffer(body) && body.length > 0 ? body : undefined,
    rest: isRead ? undefined : request,
    get isAbandoned() {
      return socket.destroyed
    },
    wait: (milliseconds, stopping) => waitOn(socket, milliseconds, stopping),
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
