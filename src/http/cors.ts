import { memoize } from '../ground/memo.ts'
import type { Arrival } from './arrival.ts'
import type { Headers } from './delivery.ts'

// Source: the Fetch Standard (https://fetch.spec.whatwg.org/#http-cors-protocol).

/** Header fields, as a list and as text. */
interface CorsFields {
  headers: Headers
  text: string
}

/** Lets pages of other origins use the service from a browser. */
export interface Cors {
  /** The fields of the response to a request with these headers. */
  fieldsFor(headers: Arrival['headers']): CorsFields
  /** The same for a preflight request to a path with these methods. */
  preflightFieldsFor(headers: Arrival['headers'], methods: string): CorsFields
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

/** `undefined` if no origin is allowed. All fields are made here, once for each origin. */
export function createCors({ origins, allowed, exposed }: CorsOptions): Cors | undefined {
  if (origins.length === 0) return undefined
  const expose: Headers = ['Access-Control-Expose-Headers', exposed.join(', ')]
  const grants: Headers = ['Access-Control-Allow-Headers', allowed.join(', '), 'Access-Control-Max-Age', MAX_AGE]

  /** `add` appends the other fields to those about an allowed origin. */
  function byOrigin(add: (origin: Headers) => Headers): (headers: Arrival['headers']) => CorsFields {
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

  const preflightsTo = memoize(
    (methods) => byOrigin((origin) => [...origin, 'Access-Control-Allow-Methods', methods, ...grants]),
    { limit: 100 },
  )
  return {
    fieldsFor: byOrigin((origin) => [...origin, ...expose]),
    preflightFieldsFor: (headers, methods) => preflightsTo(methods)(headers),
  }
}

/** Whether the request is a CORS preflight. Any other OPTIONS request is an ordinary one. */
export function isPreflight({ method, headers }: Arrival): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

function fieldsOf(headers: Headers): CorsFields {
  let text = ''
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`
  return { headers, text }
}
