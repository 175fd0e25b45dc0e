import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Contract } from '../../contract/contract.ts'
import { contentOf } from '../content.ts'
import { errorEnvelope } from '../envelope.ts'
import { requestIdOf } from '../request-id.ts'
import { post } from './outbox.ts'

/**
 * A function that answers the request of a connection too many with the one error of the service that stands for a
 * failure of its own. The contract has no 503, and a client that was made from it could not read one.
 */
export function createCrowdedReply(
  { catalogue, requestIds, settings }: Contract,
  seed: number,
): (request: IncomingMessage, response: ServerResponse) => void {
  let ordinal = 0
  return function refuseCrowded(request, response) {
    const { status, code, message } = catalogue.answer({ code: 'internal_error', reason: 'crowded' })
    const body = contentOf(JSON.stringify(errorEnvelope({ code, message })))
    const requestId = requestIdOf(`${seed}\ncrowded`, ++ordinal, requestIds)
    const headers = ['Content-Length', body.size, 'Content-Type', settings.responseType, 'X-Request-Id', requestId]
    post(response, { status, headers, written: undefined, body }, request.method === 'HEAD')
  }
}
