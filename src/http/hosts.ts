import type { IncomingMessage } from 'node:http'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/** Whether only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1'
}

/** Whether the header field Host names this machine: by a name of its loopback address, or by the bound host. */
export function isOurs(field: string, boundHost: string): boolean {
  const name = nameIn(field)
  const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost
  return LOOPBACK.test(name) || name === bound.toLowerCase()
}

/** Whether a request names this server as one of its clients would. */
export type HostCheck = (request: Pick<IncomingMessage, 'headers'>) => boolean

/**
 * A check against DNS rebinding: a page of another site makes its own name point to this machine, so that the browser
 * takes the answers for the page's own. Such a request has the name of that site as its Host. On a loopback address a
 * program of this machine has no reason to send it. `origins` are those whose pages may use the service anyway; so a
 * proxy may pass their Host on. Where other machines reach the address, they may call it by any name, and every request
 * passes. So does one without Host, which no browser sends.
 */
export function createHostCheck(boundHost: string, origins: readonly string[]): HostCheck {
  if (!isLoopback(boundHost) || origins.includes('*')) return () => true
  const names = new Set(origins.map((origin) => nameIn(origin.replace(/^[^/]*\/\//, ''))))
  // A client sends the same Host again and again.
  let last: string | undefined
  let passes = true
  return ({ headers: { host } }) => {
    if (host !== last) {
      last = host
      passes = host === undefined || isOurs(host, boundHost) || names.has(nameIn(host))
    }
    return passes
  }
}

/** The name in a Host, without its port. */
function nameIn(field: string): string {
  return field.replace(/:\d+$/, '').toLowerCase()
}
