import type { Arrival } from './message.ts'

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

/** `uri-host [ ":" port ]` of RFC 9110 §7.2, which may be empty. */
const HOST =
  /^(?:\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\d*)?$/

/** The last well-formed value: clients send the same one with each request. */
let known = ''

/**
 * Whether the header field Host of a request is missing, repeated, or not a hostname. RFC 9112 §3.2 demands a refusal
 * with 400. HTTP/1.0 has no such field.
 */
export function isHostMalformed({ headers: { host }, httpVersion, rawHeaders }: Arrival): boolean {
  if (host === undefined) return httpVersion === '1.1'
  if (host !== known) {
    if (!HOST.test(host)) return true
    known = host
  }
  // `headers` has only the first of several fields.
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count++
  }
  return count > 1
}
