import type { Exchange, SeenBody } from '../exchanges/exchange.ts'
import type { RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { type Keys, readFields, redactBody } from '../exchanges/keys.ts'
import { splitTarget } from '../http/target.ts'
import { type Redact, redactTarget } from '../journal/redaction/redaction.ts'
import { decodeBody } from './decoding.ts'
import type { ProxyTarget } from './target.ts'
import type { HeaderField, PassedExchange } from './traffic.ts'

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

/** Makes a copy of an exchange without content codings, and releases its memory. */
export async function readSighting(
  passed: PassedExchange,
  { target, basePath, keys }: { target: ProxyTarget; basePath: string; keys: Keys },
): Promise<Sighting> {
  const { at, started, request, response } = passed
  const credentials = keys.credentialsOf(request.fields)
  const redact = keys.redactorFor({ target: request.target, fields: [...request.fields, ...(response?.fields ?? [])] })
  const sent = await copyOf(request, redact)
  const received = response && (await copyOf(response, redact))
  const { path, query } = splitTarget(request.target)
  const isOfService = path === target.basePath || path.startsWith(`${target.basePath}/`)
  const below = isOfService ? basePath + path.slice(target.basePath.length) : path
  const until = at + (passed.ended - started)
  const origin = `${target.isSecure ? 'https' : 'http'}://${target.authority}`
  const exchange: Exchange = {
    id: redact((received?.seen.headers['x-request-id'] ?? '').slice(0, ID_LIMIT)) || `request ${passed.ordinal}`,
    ...{ at, until, overlaps: passed.overlaps },
    request: {
      method: request.method,
      target: redactTarget(query === undefined ? below : `${below}?${query}`, redact),
      credentials,
      ...sent.seen,
    },
    response: response && received && { status: response.status, ...received.seen },
  }
  const recorded: RecordedExchange = {
    ...{ at, until, credentials, redact, problem: passed.broken },
    answeredAt: passed.answered === undefined ? undefined : at + (passed.answered - started),
    url: request.target.startsWith('/') ? origin + request.target : request.target,
    request: { method: request.method, ...sent.recorded },
    response: response && received && { status: response.status, statusText: response.reason, ...received.recorded },
  }
  return { exchange, recorded, redact, isOfService }
}

/** What is seen and recorded of a message. */
async function copyOf(
  { httpVersion, fields, body }: NonNullable<PassedExchange['response' | 'request']>,
  redact: Redact,
) {
  const { bytes, size } = body
  const transfer = membersOf(fields, 'transfer-encoding').filter((coding) => coding !== 'chunked')
  const missing = transfer.length > 0 ? `The body has the transfer coding ${transfer.join(', ')}.` : body.missing
  const decoded: SeenBody =
    missing === undefined
      ? await decodeBody(bytes, membersOf(fields, 'content-encoding'))
      : { isKnown: false, reason: missing }
  const kept = decoded.isKnown ? decoded.bytes : Buffer.alloc(0)
  // No other code uses the kept bytes, so they need not be copied.
  body.release()
  return {
    seen: { headers: readFields(fields, redact), body: redactBody(decoded, redact) },
    recorded: {
      ...{ httpVersion, fields },
      body: { bytes: kept, size: decoded.isKnown ? kept.length : size, sentSize: size },
    },
  }
}

/** The members of a list that may be spread over several fields, in lower case. */
function membersOf(fields: readonly HeaderField[], name: string): string[] {
  return fields
    .filter(([each]) => each.toLowerCase() === name)
    .flatMap(([, value]) => value.split(','))
    .map((member) => member.trim().toLowerCase())
    .filter((member) => member !== '')
}
