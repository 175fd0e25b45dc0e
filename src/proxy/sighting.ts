import type { Exchange, SeenBody } from '../exchanges/exchange.ts'
import type { RecordedBody, RecordedExchange } from '../exchanges/har/entry-writer.ts'
import { type Keys, readFields, redactBody } from '../exchanges/keys.ts'
import { splitTarget } from '../http/target.ts'
import { type Redact, redactTarget } from '../journal/redaction/redaction.ts'
import { decodeBody } from './decoding.ts'
import { membersOf, statusOf } from './framing.ts'
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

/** Makes a copy of an exchange without content codings, and releases its memory. */
export async function readSighting(
  passed: PassedExchange,
  { target, basePath, keys }: { target: ProxyTarget; basePath: string; keys: Keys },
): Promise<Sighting> {
  const { request, response } = passed
  const credentials = keys.credentialsOf(request.fields)
  const redact = keys.redactorFor({ target: passed.target, fields: [...request.fields, ...(response?.fields ?? [])] })
  const sent = await bodyOf(request)
  const received = response && (await bodyOf(response))
  const { path, query } = splitTarget(passed.target)
  const isOfService = path === target.basePath || path.startsWith(`${target.basePath}/`)
  const below = isOfService ? basePath + path.slice(target.basePath.length) : path
  const shownTarget = query === undefined ? below : `${below}?${query}`
  const headers = response && readFields(response.fields, redact)
  const until = passed.at + (passed.ended - passed.started)
  const origin = `${target.isSecure ? 'https' : 'http'}://${target.authority}`
  const exchange: Exchange = {
    id: redact((headers?.['x-request-id'] ?? '').slice(0, ID_LIMIT)) || `request ${passed.ordinal}`,
    at: passed.at,
    until,
    overlaps: passed.overlaps,
    request: {
      method: passed.method,
      target: redactTarget(shownTarget, redact),
      headers: readFields(request.fields, redact),
      credentials,
      body: redactBody(sent.body, redact),
    },
    response:
      response && received && headers
        ? { status: statusOf(response.startLine), headers, body: redactBody(received.body, redact) }
        : undefined,
  }
  const recorded: RecordedExchange = {
    at: passed.at,
    until,
    answeredAt: passed.answered === undefined ? undefined : passed.at + (passed.answered - passed.started),
    url: passed.target.startsWith('/') ? origin + passed.target : passed.target,
    request: {
      method: passed.method,
      httpVersion: request.startLine.slice(request.startLine.lastIndexOf(' ') + 1),
      fields: request.fields,
      body: sent.recorded,
    },
    response:
      response && received
        ? {
            status: statusOf(response.startLine),
            statusText: response.startLine.slice(13),
            httpVersion: response.startLine.slice(0, 8),
            fields: response.fields,
            body: received.recorded,
          }
        : undefined,
    problem: passed.broken,
    credentials,
    redact,
  }
  return { exchange, recorded, redact, isOfService }
}

async function bodyOf({ body, fields }: PassedMessage): Promise<{ body: SeenBody; recorded: RecordedBody }> {
  const { bytes, size, missing } = body
  const seen: SeenBody =
    missing === undefined
      ? await decodeBody(bytes, membersOf(fields, 'content-encoding'))
      : { isKnown: false, reason: missing }
  const kept = seen.isKnown ? seen.bytes : NOTHING
  // No other code uses the kept bytes, so they need not be copied.
  body.release()
  return { body: seen, recorded: { bytes: kept, size: seen.isKnown ? kept.length : size, sentSize: size } }
}

const NOTHING = Buffer.alloc(0)
