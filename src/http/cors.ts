import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Headers } from './engine/outbox.ts'

// Source: the Fetch Standard (https://fetch.spec.whatwg.org/#http-cors-protocol).

/** Header fields, one by one and as text. */
interface Fields {
  headers: Headers
  text: string
}

/** What lets pages of other origins use the service from a browser. */
export interface Cors {
  /** The fields of the response to a request with these headers. */
  fieldsFor(headers: IncomingHttpHeaders): Fields
  /** The same for a preflight request to a path with these methods. */
  preflightFieldsFor(headers: IncomingHttpHeaders, methods: string): Fields
}

export interface CorsOptions {
  /** Origins such as `http://localhost:5173`; `*` stands for any. */
  origins: readonly string[]
  /** The header fields that a page may send. */
  allowed: readonly string[]
  /** The header fields of responses that a page may read. */
  exposed: readonly string[]
}

/** Every origin. */
export const ANY_ORIGIN = '*'
/** How many seconds a browser may remember the answer to a preflight request. */
const MAX_AGE = 600

/** `undefined` where no origin is allowed. All fields are made here, once for each origin. */
export function createCors({ origins, allowed, exposed }: CorsOptions): Cors | undefined {
  if (origins.length === 0) return undefined
  const expose: Headers = ['Access-Control-Expose-Headers', exposed.join(', ')]
  const grants: Headers = ['Access-Control-Allow-Headers', allowed.join(', '), 'Access-Control-Max-Age', MAX_AGE]

  /** `add` puts the other fields behind those about an origin that is allowed. */
  function byOrigin(add: (origin: Headers) => Headers): (headers: IncomingHttpHeaders) => Fields {
    if (origins.includes(ANY_ORIGIN)) {
      const same = fieldsOf(add(['Access-Control-Allow-Origin', ANY_ORIGIN]))
      return () => same
    }
    // A cache must not give the response to one origin to another one.
    const vary: Headers = ['Vary', 'Origin']
    const known = new Map(
      origins.map((origin) => [origin, fieldsOf(add(['Access-Control-Allow-Origin', origin, ...vary]))]),
    )
    const others = fieldsOf(vary)
    return ({ origin }) => known.get(origin ?? '') ?? others
  }

  const preflights = new Map<string, (headers: IncomingHttpHeaders) => Fields>()
  return {
    fieldsFor: byOrigin((origin) => [...origin, ...expose]),
    preflightFieldsFor(headers, methods) {
      let fields = preflights.get(methods)
      if (fields === undefined) {
        fields = byOrigin((origin) => [...origin, 'Access-Control-Allow-Methods', methods, ...grants])
        preflights.set(methods, fields)
      }
      return fields(headers)
    },
  }
}

/** Whether a browser asks with the request what it may send. Any other request with OPTIONS is an ordinary one. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

function fieldsOf(headers: Headers): Fields {
  let text = ''
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`
  return { headers, text }
}
