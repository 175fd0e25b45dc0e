import { CLIENT_REQUEST_ID } from '../contract/response-headers.ts'
import type { Arrival } from '../http/arrival.ts'
import { redactKeys } from '../journal/redaction/key-shapes.ts'
import type { Secrets } from '../journal/redaction/secrets.ts'

const SANE = new RegExp(CLIENT_REQUEST_ID)

/**
 * The request id that the client has chosen, if it may be echoed. It must not be a key, because request ids are in the
 * log and in the journal.
 */
export function readClientId(
  { 'x-request-id': id, authorization }: Arrival['headers'],
  secrets: Secrets,
): string | undefined {
  if (typeof id !== 'string' || !SANE.test(id)) return undefined
  if (secrets.has(id) || authorization?.split(' ').includes(id)) return undefined
  return redactKeys(id) === id ? id : undefined
}
