import type { IncomingMessage } from 'node:http'

/** `uri-host [ ":" port ]` of RFC 9110 §7.2, which may be empty. */
const HOST =
  /^(?:\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\d*)?$/

/** The last one that was well-formed: clients send the same one with each request. */
let known = ''

/**
 * Whether the header field Host of a request is missing, there twice, or no name of a host: RFC 9112 §3.2 demands that
 * such a request is refused with 400. HTTP/1.0 has no such field.
 */
export function isHostMalformed({ headers: { host }, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === '1.1'
  if (host !== known) {
    if (!HOST.test(host)) return true
    known = host
  }
  // Of several, `headers` has the first.
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count++
  }
  return count > 1
}
