import type { IncomingMessage } from 'node:http'
import { pairsOf } from '../exchanges/keys.ts'
import { nameIn } from '../ground/hosts.ts'
import type { HeaderField } from './traffic.ts'

/** The fields that are about one connection, and not about the message (RFC 9110 §7.6.1, §11.7; RFC 7540 §3.2.1). */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['http2-settings', 'proxy-authenticate', 'proxy-authentication-info', 'proxy-authorization'],
])
/** A message without them would be another message, so `Connection` cannot take them away. */
const NEEDED = new Set(['host', 'content-length'])

/** The fields that go on to the next hop, in their order: those of this hop, and those that `Connection` names, stay. */
export function endToEnd(fields: readonly HeaderField[]): HeaderField[] {
  const named = fields
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','))
    .map((option) => option.trim().toLowerCase())
    .filter((option) => !NEEDED.has(option))
  const staying = new Set([...HOP_BY_HOP, ...named])
  return fields.filter(([name]) => !staying.has(name.toLowerCase()))
}

/** Whether a message has no transfer coding, or only the one that a hop adds and removes. */
export function isOneHop(fields: readonly HeaderField[]): boolean {
  const codings = fields.filter(([name]) => /^transfer-encoding$/i.test(name)).map(([, value]) => value)
  return codings.length === 0 || /^\s*chunked\s*$/i.test(codings.join())
}

/** A request as it goes on to the service. */
export interface NextRequest {
  target: string
  fields: HeaderField[]
}

/** Why a request does not go on: the status of the response in its place, and the reason, which begins a sentence. */
export interface HopRefusal {
  status: 400 | 421 | 501
  reason: string
}

/**
 * A request as the service at `authority` gets it: with its Host and the target in origin form (RFC 9112 §3.2.2), without
 * the fields of the hop. `isOurs` says whether a Host is one of the proxy or of the service. Requests whose length or
 * whose receiver could be understood in two ways are refused (RFC 9112 §3.2, §6.1, §11.2).
 */
export function nextRequest(
  { url = '', rawHeaders, httpVersion, method }: IncomingMessage,
  { authority, isOurs }: { authority: string; isOurs(host: string): boolean },
): NextRequest | HopRefusal {
  const received = pairsOf(rawHeaders)
  const valuesOf = (wanted: string) =>
    received.flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []))
  const [hosts, codings] = [valuesOf('host'), valuesOf('transfer-encoding')]
  const isOld = httpVersion === '1.0'
  const refuse = (status: HopRefusal['status'], what: string) => ({ status, reason: `A request ${what}` })
  if (hosts.length > 1) return refuse(400, 'has more than one Host field')
  if (hosts.length === 0 && !isOld) return refuse(400, 'has no Host field')
  if (codings.length > 0 && isOld) return refuse(400, 'of HTTP/1.0 has Transfer-Encoding')
  if (!isOneHop(received)) return refuse(501, 'has a transfer coding other than chunked')
  const [absolute, named = hosts[0], rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  if (named !== undefined && !isOurs(named)) {
    return refuse(421, `is for the host "${nameIn(named).slice(0, 100)}", which is not behind this proxy`)
  }
  const root = method === 'OPTIONS' && rest === '' ? '*' : '/'
  // The hop answers this expectation itself (RFC 9110 §10.1.1).
  const going = endToEnd(received).filter(([name, value]) => !/^expect:100-continue$/i.test(`${name}:${value.trim()}`))
  const fields = going.map(([name, value]): HeaderField => [name, /^host$/i.test(name) ? authority : value])
  if (hosts.length === 0) fields.unshift(['Host', authority])
  // Without a length, Node.js would give some methods a body of their own, and others a body without a length.
  if (codings.length > 0) fields.push(['Transfer-Encoding', 'chunked'])
  else if (valuesOf('content-length').length === 0 && !BODILESS.test(method ?? '')) fields.push(['Content-Length', '0'])
  return { target: absolute === undefined ? url : rest.startsWith('/') ? rest : root + rest, fields }
}

/** The methods for which Node.js does not add a length by itself. */
const BODILESS = /^(?:GET|HEAD|DELETE|OPTIONS|TRACE)$/
