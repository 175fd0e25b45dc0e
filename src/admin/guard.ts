import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { refuse } from '../domain/errors.ts'
import { isOurs } from '../ground/hosts.ts'
import type { AdminRefusal } from './codes.ts'

/**
 * Decides which clients may use the control plane. With a token, every client with the token may. Without one, only the
 * programs of this machine may. A page of another site that uses the user's browser has another `Origin`. A page whose
 * own name points to this machine (DNS rebinding) has another `Host`. `boundHost` is the address that the server
 * listens on.
 */
export function createGuard(
  token: string | undefined,
  boundHost: string,
): (request: IncomingMessage) => AdminRefusal | undefined {
  const expected = token === undefined ? undefined : digest(token)
  return function guard({ headers }) {
    if (expected !== undefined) {
      const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
      // All digests have the same length, so the duration of the comparison reveals nothing about the token.
      return timingSafeEqual(digest(given), expected) ? undefined : refuse({ code: 'unauthorized' })
    }
    const { host = '', origin } = headers
    if (!isOurs(host, boundHost)) return refuse({ code: 'forbidden', value: host })
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase()) {
      return refuse({ code: 'forbidden', reason: 'origin', value: origin })
    }
    return undefined
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
