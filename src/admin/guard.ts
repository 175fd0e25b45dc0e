import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { refuse } from '../domain/errors.ts'
import type { AdminRefusal } from './codes.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/**
 * Decides who may use the control plane. With a token, it is everybody who knows the token. Without one, it is the
 * programs of this machine. A page of another site that uses the user's browser has another `Origin`. A page that made
 * its own name point to this machine (DNS rebinding) has another `Host`. `boundHost` is the address that the server
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
      // All digests have the same length, so the time of the comparison tells nothing about the token.
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

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1'
}

/** Whether the header field Host names this machine. */
function isOurs(field: string, boundHost: string): boolean {
  const name = field.replace(/:\d+$/, '')
  const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost
  return LOOPBACK.test(name) || name.toLowerCase() === bound.toLowerCase()
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
