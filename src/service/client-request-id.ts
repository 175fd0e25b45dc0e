import type { IncomingHttpHeaders } from 'node:http'
import { CLIENT_REQUEST_ID } from '../contract/response-headers.ts'
import { redactKeys } from '../journal/key-shapes.ts'
import type { Secrets } from '../journal/secrets.ts'

const SANE = new RegExp(CLIENT_REQUEST_ID)

/**
 * The request id that a client has chosen, if it may be echoed. Request ids are in the log and in the journal, where no
 * key may be.
 */
export function readClientId(
  { 'x-request-id': id, authorization }: IncomingHttpHeaders,
  secrets: Secrets,
): string | undefined {
  if (typeof id !== 'string' || !SANE.test(id)) return undefined
  if (secrets.has(id) || authorization?.split(' ').includes(id)) return undefined
  return redactKeys(id) === id ? id : undefined
}
