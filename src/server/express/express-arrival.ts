import { ServerArrival } from '../../exchanges/server-arrival.ts'
import type { Arrival } from '../../ground/arrival.ts'
import { isReadBefore, type MountedRequest } from './mount.ts'

/**
 * The arrival of a request of Express. `target` begins with the base path of the service. `undefined` if another
 * middleware has read the body, unless it has kept the bytes, as `express.raw` does.
 */
export function arrivalOfExpress(request: MountedRequest, target: string): Arrival | undefined {
  const isRead = isReadBefore(request)
  const { body } = request
  if (isRead && !Buffer.isBuffer(body)) return undefined
  return new ServerArrival(request, target, asOurs(request.headers), isRead ? (body as Buffer) : undefined)
}

/**
 * The fields with a Host of this machine. The application decides which hosts it answers, so the stand-in does not refuse
 * any. A missing or malformed one stays as it is.
 */
function asOurs(headers: MountedRequest['headers']): Arrival['headers'] {
  const { host } = headers
  return host === undefined || !/^[\w.-]+(?::\d+)?$/.test(host) ? headers : { ...headers, host: 'localhost' }
}
