import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AdminRefusal } from '../contract/control-api.ts'
import { refuse } from '../domain/errors.ts'
import { ServerArrival } from '../exchanges/server-arrival.ts'
import { isHostMalformed, isOurs } from '../ground/hosts.ts'
import { splitTarget } from '../ground/target.ts'
import { ADMIN_PATH, PAGE_PATHS } from './paths.ts'

/** How the server is may know anybody. */
const PUBLIC: ReadonlySet<string> = new Set([`${ADMIN_PATH}/health`, `${ADMIN_PATH}/ready`])

/**
 * Decides which requests are answered. Whoever may not use the control plane learns only how the server is. A browser
 * cannot send the token when it opens the page; the page holds no data and asks for the token.
 *
 * With a token, every client with the token may use it. Without one, only the programs of this machine may. A page of
 * another site that uses the user's browser has another `Origin`. A page whose own name points to this machine (DNS
 * rebinding) has another `Host`. `boundHost` is the address that the server listens on.
 */
export function createGuard(
  token: string | undefined,
  boundHost: string,
): (request: IncomingMessage) => AdminRefusal | undefined {
  const expected = token === undefined ? undefined : digest(token)

  return function guard(request) {
    const { host = '', origin, authorization = '' } = request.headers
    const { path } = splitTarget(request.url ?? '')
    if (PUBLIC.has(path)) return undefined
    if (expected !== undefined) {
      const isPage = PAGE_PATHS.test(path) && ['GET', 'HEAD'].includes(request.method ?? '')
      if (isPage) return undefined
      const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
      // All digests have the same length, so the duration of the comparison reveals nothing about the token.
      if (!timingSafeEqual(digest(given), expected)) return refuse({ code: 'unauthorized' })
    } else if (!isOurs(host, boundHost)) {
      return refuse({ code: 'forbidden', value: host })
    } else if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase()) {
      return refuse({ code: 'forbidden', reason: 'origin', value: origin })
    }
    const isMalformed = isHostMalformed(new ServerArrival(request))
    return isMalformed ? refuse({ code: 'invalid_value', reason: 'host', field: 'Host' }) : undefined
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
