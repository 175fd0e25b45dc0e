import type { Arrival } from './arrival.ts'

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
