import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Contract } from '../../contract/contract.ts'
import type { AnonymousIds } from '../anonymous-ids.ts'
import { contentOf } from '../content.ts'
import { errorEnvelope } from '../envelope.ts'
import { post } from './outbox.ts'

/**
 * Creates the function that answers requests of surplus connections, with the service's error for its own failures. The
 * contract has no 503, and a client generated from it could not read one.
 */
export function createCrowdedReply(
  { catalogue, settings }: Contract,
  nextId: AnonymousIds,
): (request: IncomingMessage, response: ServerResponse) => void {
  return function refuseCrowded(request, response) {
    const { status, code, message } = catalogue.answer({ code: 'internal_error', reason: 'crowded' })
    const body = contentOf(JSON.stringify(errorEnvelope({ code, message })))
    const headers = [
      'Content-Length',
      body.size,
      'Content-Type',
      settings.responseType,
      'X-Request-Id',
      nextId('crowded'),
    ]
    post(response, { status, headers, written: undefined, body, transmission: undefined }, request.method === 'HEAD')
  }
}
