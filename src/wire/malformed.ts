import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import { requestIdOf } from './request-id.ts'

/** Answers what is not HTTP, in the envelope of every other refusal, and closes the connection. */
export function createMalformedReply(
  { catalogue, requestIds }: Contract,
  seed: number,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  let ordinal = 0
  return function refuseMalformed(error, socket) {
    // Nobody to answer, or an answer under way that this one would be mixed into; Node's own handler asks the same field.
    if (error.code === 'ECONNRESET' || !socket.writable || (socket as { _httpMessage?: unknown })._httpMessage) {
      socket.destroy()
      return
    }
    const { status, code, message } = catalogue.answer(problemOf(error))
    const body = JSON.stringify({ success: false, error: { code, message } })
    socket.end(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        `X-Request-Id: ${requestIdOf(`${seed} malformed`, ++ordinal, requestIds)}`,
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
    )
  }
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return { code: 'request_too_large', reason: 'headers' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'invalid_request_body', reason: 'timeout' }
  return { code: 'invalid_request_body', reason: 'malformed' }
}
