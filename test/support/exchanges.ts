import type { IncomingMessage } from 'node:http'
import { type Credentials, type Exchange, KnownBody, type SeenHeaders } from '../../src/exchanges/exchange.ts'
import { transmit } from './request.ts'
import { API_KEY } from './service.ts'

/** A request that is to become an exchange. */
export interface ExchangeRequest {
  method?: string
  /** Below the base URL, with the query: `/domains`. With an origin before it, it is sent as it is. */
  path: string
  /** Sent as JSON, or as it is when it is a text or bytes. */
  body?: unknown
  /** By name; `null` takes away a header that would be sent otherwise. */
  headers?: Readonly<Record<string, string | null>>
  /** The value of the header Authorization; that of the usual key by default, and none with `null`. */
  authorization?: string | null
  /** How the exchange is called; the X-Request-Id of the response by default. */
  id?: string
  /** Milliseconds since the Unix epoch on the clock of whoever records; that of the Date of the response by default. */
  at?: number
  overlaps?: boolean
}

const names = new Map<string, string>()

/** Sends a request to a service and returns what was exchanged, as a recorder would: without the key. */
export async function exchangeWith(baseUrl: string, asked: ExchangeRequest): Promise<Exchange> {
  const { method = 'GET', path, headers = {}, authorization = `Bearer ${API_KEY}`, overlaps = false } = asked
  const bytes = bytesOf(asked.body)
  const sent = new Map<string, string>()
  if (authorization !== null) sent.set('authorization', authorization)
  if (bytes !== undefined) sent.set('content-type', 'application/json').set('content-length', String(bytes.length))
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) sent.delete(name.toLowerCase())
    else sent.set(name.toLowerCase(), value)
  }
  const url = new URL(path.startsWith('/') ? baseUrl + path : path)
  const received = await transmit(method, url, bytes, Object.fromEntries(sent))
  const response = {
    status: received.response.statusCode ?? 0,
    headers: fieldsOf(received.response),
    body: new KnownBody(received.bytes),
  }
  const at = asked.at ?? Date.parse(response.headers['date'] ?? '')
  sent.delete('authorization')
  sent.delete('cookie')
  return {
    id: asked.id ?? response.headers['x-request-id'] ?? 'unnamed',
    at,
    until: at,
    overlaps,
    request: {
      method,
      target: url.pathname + url.search,
      headers: headersOf(sent),
      credentials: credentialsOf(authorization ?? undefined),
      body: new KnownBody(bytes ?? Buffer.alloc(0)),
    },
    response,
  }
}

/** What an Authorization field says, with a name in place of the key. */
function credentialsOf(authorization: string | undefined): Credentials {
  if (authorization === undefined) return { kind: 'none' }
  const space = authorization.indexOf(' ')
  const [scheme, secret] =
    space < 0 ? [authorization, ''] : [authorization.slice(0, space), authorization.slice(space + 1)]
  const key = names.get(secret) ?? `key ${names.size + 1}`
  names.set(secret, key)
  return { kind: 'sent', scheme, key, isWord: /^\S+$/.test(secret) }
}

/** Header fields as an exchange has them. */
export function headersOf(fields: Iterable<readonly [name: string, value: string]>): SeenHeaders {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of fields) headers[name.toLowerCase()] = value
  return headers
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function fieldsOf({ headersDistinct }: IncomingMessage): SeenHeaders {
  return headersOf(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]))
}
