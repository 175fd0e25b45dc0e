import { decodeBody } from '../exchanges/content-coding.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import type { RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { type Keys, readFields, redactBody } from '../exchanges/keys.ts'
import { splitTarget } from '../http/target.ts'
import { type Redact, redactTarget } from '../journal/redaction/redaction.ts'
import type { ProxyTarget } from './target.ts'
import type { PassedExchange, PassedMessage } from './traffic.ts'

/** An exchange that was passed on, in the forms that its readers need. */
export interface Sighting {
  /** For the judge, without keys. */
  exchange: Exchange
  /** For the recording, which removes the keys itself. */
  recorded: RecordedExchange
  redact: Redact
  /** Whether the target is below the base URL of the service. */
  isOfService: boolean
}

/** How many characters of an X-Request-Id are used. */
const ID_LIMIT = 200

/** Makes a copy of an exchange without content codings, and releases its memory. `basePath` is that of the contract. */
export function readSighting(
  passed: PassedExchange,
  { target, basePath, keys }: { target: ProxyTarget; basePath: string; keys: Keys },
): Sighting {
  const { at, started, overlaps, request, response } = passed
  const { method } = request
  const credentials = keys.credentialsOf(request.fields)
  const redact = keys.redactorFor({ target: request.target, fields: [...request.fields, ...(response?.fields ?? [])] })
  const sent = copyOf(request, redact)
  const received = response && copyOf(response, redact)
  const { path, query } = splitTarget(request.target)
  const isOfService = path === target.basePath || path.startsWith(`${target.basePath}/`)
  const below = isOfService ? basePath + path.slice(target.basePath.length) : path
  const shown = redactTarget(query === undefined ? below : `${below}?${query}`, redact)
  const until = at + (passed.ended - started)
  const id = redact((received?.seen.headers['x-request-id'] ?? '').slice(0, ID_LIMIT)) || `request ${passed.ordinal}`
  const origin = `${target.isSecure ? 'https' : 'http'}://${target.authority}`
  return {
    exchange: {
      ...{ id, at, until, overlaps },
      request: { method, target: shown, credentials, ...sent.seen },
      response: response && received && { status: response.status, ...received.seen },
    },
    recorded: {
      ...{ at, until, credentials, redact, problem: passed.broken },
      answeredAt: passed.answered === undefined ? undefined : at + (passed.answered - started),
      // The target of `OPTIONS *` is the service itself.
      url: origin + (request.target === '*' ? '' : request.target),
      request: { method, ...sent.recorded },
      response: response && received && { status: response.status, statusText: response.reason, ...received.recorded },
    },
    ...{ redact, isOfService },
  }
}

/** What is seen and recorded of a message. */
function copyOf({ httpVersion, fields, body }: PassedMessage, redact: Redact) {
  const { bytes, size: sentSize, missing } = body
  const codings = fields.filter(([name]) => /^content-encoding$/i.test(name)).map(([, value]) => value)
  const decoded =
    missing === undefined ? decodeBody(bytes, codings.join()) : { isKnown: false as const, reason: missing }
  const kept = decoded.isKnown ? decoded.bytes : Buffer.alloc(0)
  // No other code uses the kept bytes, so they need not be copied.
  body.release()
  return {
    seen: { headers: readFields(fields, redact), body: redactBody(decoded, redact) },
    recorded: { httpVersion, fields, body: { bytes: kept, size: decoded.isKnown ? kept.length : sentSize, sentSize } },
  }
}
