import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AdminRefusal } from './codes.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/**
 * Who may use the control plane: with a token, whoever knows it; without one, programs of this machine. A page of
 * another site, to which the browser lends the user's network, is told by its Origin; one that has had its own name
 * point to this machine (DNS rebinding), by the Host. `boundHost` is the address that the server listens on.
 */
export function createGuard(
  token: string | undefined,
  boundHost: string,
): (request: IncomingMessage) => AdminRefusal | undefined {
  const expected = token === undefined ? undefined : digest(token)
  return function guard({ headers }) {
    if (expected !== undefined) {
      const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
      // Digests have one length, so that the comparison tells nothing by the time that it takes.
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

/** Whether a Host field names this machine. */
function isOurs(field: string, boundHost: string): boolean {
  const name = field.replace(/:\d+$/, '')
  const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost
  return LOOPBACK.test(name) || name.toLowerCase() === bound.toLowerCase()
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function refuse(problem: AdminRefusal['problems'][0]): AdminRefusal {
  return { ok: false, problems: [problem] }
}
