import type { IncomingHttpHeaders } from 'node:http'
import type { Arrival, BodyStream } from '../ground/arrival.ts'
import { waitUntil } from '../ground/waiting.ts'

/** A request that comes without a connection. */
export interface DirectRequest {
  method: string
  /** The request target (RFC 9112 §3.2), base path included. */
  target: string
  /** Names and values alternate, as a client would send them. */
  headers: readonly string[]
  /** The whole body, or one that is still on its way. Its length must be that in the header, as on a connection. */
  body?: Buffer | BodyStream | undefined
  /** Aborted when the client stops waiting for an answer. By default, it waits without limit. */
  leaving?: AbortSignal | undefined
  /** `1.1` by default. */
  httpVersion?: '1.0' | '1.1' | undefined
}

const NOTHING = Buffer.alloc(0)

/** Fields that a message has only once: the first of several counts. */
const ONCE = new Set(
  'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since last-modified location max-forwards proxy-authorization referer retry-after server user-agent'.split(
    ' ',
  ),
)

/** The arrival of a request that comes without a connection. */
export function arrivalOf(request: DirectRequest): Arrival {
  const { method, target, headers, body = NOTHING, leaving, httpVersion = '1.1' } = request
  return {
    method,
    url: target,
    httpVersion,
    headers: joinFields(headers),
    rawHeaders: [...headers],
    body,
    get isAbandoned() {
      return leaving?.aborted ?? false
    },
    wait: (milliseconds, ...endings) => waitUntil(milliseconds, leaving, ...endings),
  }
}

/** By lower-case name, with repeated fields as in `message.headers` of Node.js. A test compares the two. */
function joinFields(raw: readonly string[]): IncomingHttpHeaders {
  const joined: Record<string, string | string[]> = Object.create(null)
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    const value = raw[index + 1] ?? ''
    const known = joined[name]
    if (name === 'set-cookie') joined[name] = [...(known ?? []), value]
    else if (known === undefined) joined[name] = value
    else if (!ONCE.has(name)) joined[name] = `${known}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return joined
}
