import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import type { Log } from './log.ts'
import { requestIdOf } from './request-id.ts'

/** Answers what is not HTTP, in the envelope of every other refusal, and closes the connection. */
export function createMalformedReply(
  { catalogue, requestIds }: Contract,
  seed: number,
  log: Log,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  let ordinal = 0
  return function refuseMalformed(error, socket) {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    // An answer ahead of this one would be mixed into it, and tells of a change that may have been made: it goes first
    // and alone. One to a request whose own body is what is malformed will never come. Node's own handler asks the
    // same field.
    const { _httpMessage: pending } = socket as { _httpMessage?: ServerResponse | null }
    if (pending && (pending.headersSent || pending.req.complete)) {
      pending.once('finish', () => socket.end())
      pending.once('close', () => socket.destroy())
      return
    }
    const { status, code, message } = catalogue.answer(problemOf(error))
    const requestId = requestIdOf(`${seed}\nmalformed`, ++ordinal, requestIds)
    log.info({ request_id: requestId, status, code, cause: error.code }, 'malformed request')
    const body = JSON.stringify({ success: false, error: { code, message } })
    socket.end(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        `X-Request-Id: ${requestId}`,
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
