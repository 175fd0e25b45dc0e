import type { ServerUrls } from '../coverage/curl.ts'
import type { HostCheck } from '../http/hosts.ts'

/** A host that needs no quotes in a command, except that a shell would read brackets as a pattern. */
const HOST = /^(?:[\w.-]+|\[[\dA-Fa-f:.]+\])(?::\d+)?$/

/**
 * The URLs of the server for a client that has sent this Host header field, for example through a balancer or another
 * port. The server's own address may not be reachable for that client. A malformed Host is ignored, and so is one that
 * the service refuses (`namesUs`), for which only the control plane has that address.
 */
export function urlsFor(host: string | undefined, own: ServerUrls, namesUs: HostCheck = () => true): ServerUrls {
  if (host === undefined || !HOST.test(host) || !URL.canParse(`http://${host}`)) return own
  const at = (url: string) => url.replace(/^http:\/\/[^/]+/, `http://${host}`)
  const baseUrl = namesUs({ headers: { host } }) ? at(own.baseUrl) : own.baseUrl
  return { ...own, baseUrl, adminUrl: at(own.adminUrl) }
}

/** A text that was written earlier, with the URLs replaced by those for the present client. */
export function readdress(text: string, own: ServerUrls, asked: ServerUrls): string {
  const [from, to] = [originOf(own), originOf(asked)]
  // A host with brackets needs quotes, and the words of the text are no longer known.
  if (to.includes('[')) return text
  return text.split(from).reduce((before, after) => before + (/^\d/.test(after) ? from : to) + after)
}

function originOf({ baseUrl }: ServerUrls): string {
  return /^http:\/\/[^/]+/.exec(baseUrl)?.[0] ?? baseUrl
}
