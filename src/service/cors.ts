import type { Arrival, Headers } from '../ground/message.ts'

// Source: the Fetch Standard (https://fetch.spec.whatwg.org/#http-cors-protocol).

/** Lets pages of other origins use the service from a browser. */
export interface Cors {
  /** The fields of the response to a request with these headers. */
  fieldsFor(headers: Arrival['headers']): Readonly<Headers>
  /** The same for a preflight request to a path with these methods. */
  preflightFieldsFor(headers: Arrival['headers'], methods: string): Readonly<Headers>
}

export interface CorsOptions {
  /** Origins such as `http://localhost:5173`; `*` stands for any. */
  origins: readonly string[]
  /** The header fields of responses that a page may read. */
  exposed: readonly string[]
}

/** Every origin. */
export const ANY_ORIGIN = '*'
/** How many seconds a browser may remember the answer to a preflight request. */
const MAX_AGE = 600
/** Names of fields, separated by commas (RFC 9110 §5.1). */
const FIELD_NAMES = /^[!#$%&'*+.^`|~\w-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^`|~\w-]+)*$/
/** The most characters of such a list. */
const LONGEST_LIST = 4096

/** `undefined` if no origin is allowed. The fields of ordinary responses are made here, once for each origin. */
export function createCors({ origins, exposed }: CorsOptions): Cors | undefined {
  if (origins.length === 0) return undefined
  const isOpen = origins.includes(ANY_ORIGIN)
  const expose: Headers = ['Access-Control-Expose-Headers', exposed.join(', ')]
  const known = new Map((isOpen ? [ANY_ORIGIN] : origins).map((origin) => [origin, fieldsFor(origin, [], expose)]))
  const others = fieldsFor(undefined, [], [])

  /** `asks` are the names of request fields on which the response depends. */
  function fieldsFor(origin: string | undefined, asks: readonly string[], grants: Headers): Headers {
    // A cache must not give the response to one origin to another one.
    const varying = [...(isOpen ? [] : ['Origin']), ...asks]
    const vary: Headers = varying.length === 0 ? [] : ['Vary', varying.join(', ')]
    return origin === undefined ? vary : ['Access-Control-Allow-Origin', origin, ...vary, ...grants]
  }

  function allowedOrigin({ origin = '' }: Arrival['headers']): string {
    return isOpen ? ANY_ORIGIN : origin
  }

  return {
    fieldsFor: (headers) => known.get(allowedOrigin(headers)) ?? others,
    preflightFieldsFor(headers, methods) {
      const origin = allowedOrigin(headers)
      const asked = headers['access-control-request-headers'] ?? ''
      const isList = asked.length <= LONGEST_LIST && FIELD_NAMES.test(asked)
      // Tracing, caching and libraries add fields of their own. The service ignores them, so each may be sent.
      const granted = isList ? ['Access-Control-Allow-Headers', asked] : []
      const grants = ['Access-Control-Allow-Methods', methods, ...granted, 'Access-Control-Max-Age', MAX_AGE]
      return fieldsFor(known.has(origin) ? origin : undefined, ['Access-Control-Request-Headers'], grants)
    },
  }
}

/** Whether the request is a CORS preflight. Any other OPTIONS request is an ordinary one. */
export function isPreflight({ method, headers }: Arrival): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
