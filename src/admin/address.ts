import type { IncomingMessage } from 'node:http'
import type { ServerUrls } from '../coverage/curl.ts'
import type { HostCheck } from '../ground/hosts.ts'

/** A host that needs no quotes in a command, except that a shell would read brackets as a pattern. */
const HOST = /^(?:[\w.-]+|\[[\dA-Fa-f:.]+\])(?::\d+)?$/

/** A path that needs no quotes in a command, and that no browser takes for a host. */
const MOUNT = /^(?:\/[\w.~%-]+)*$/

/** Where a client reaches the server. */
export interface ReachedPlace {
  /** The Host of its request. */
  host?: string | undefined
  /** The path at which an application of Express has mounted the server; '' if it has not. */
  mount?: string
}

/** Where the client of this request reaches the server. Express adds `baseUrl` to a request. */
export function placeOf({
  headers: { host },
  baseUrl: mount = '',
}: Pick<IncomingMessage, 'headers'> & { baseUrl?: string }): Required<ReachedPlace> {
  return { host, mount: MOUNT.test(mount) ? mount : '' }
}

/**
 * The URLs of the server for a client that has sent this Host header field, for example through a balancer or another
 * port. The server's own address may not be reachable for that client. A malformed Host is ignored, and so is one that
 * the service refuses (`namesUs`), for which only the control plane has that address.
 */
export function urlsFor(
  { host, mount = '' }: ReachedPlace,
  own: ServerUrls,
  namesUs: HostCheck = () => true,
): ServerUrls {
  if (host === undefined || !HOST.test(host) || !URL.canParse(`http://${host}`)) return own
  const at = (url: string) => url.replace(/^http:\/\/[^/]+/, `http://${host}${mount}`)
  const baseUrl = namesUs({ headers: { host } }) ? at(own.baseUrl) : own.baseUrl
  return { ...own, baseUrl, adminUrl: at(own.adminUrl) }
}
