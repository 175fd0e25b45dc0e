import type { Arrival } from './arrival.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1'
}

/** Whether the header field Host names this machine: by a loopback name, or by the bound host. */
export function isOurs(field: string, boundHost: string): boolean {
  const name = nameIn(field)
  const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost
  return LOOPBACK.test(name) || name === bound.toLowerCase()
}

/** Whether the Host of a request is one that a client of this server would use. */
export type HostCheck = (request: Pick<Arrival, 'headers'>) => boolean

/**
 * A check against DNS rebinding: a page of another site makes its own name point to this machine, so that the browser
 * treats the answers as the page's own. Such a request has the name of that site as its Host. On a loopback address, a
 * program on this machine has no reason to send it. `origins` may use the service anyway, so a proxy may pass their
 * Host on. If other machines can reach the address, they may use any name, and every request passes. A request without
 * Host passes too, because no browser sends one.
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

/** The name in a Host, in small letters and without its port. */
export function nameIn(field: string): string {
  return field.replace(/:\d+$/, '').toLowerCase()
}
