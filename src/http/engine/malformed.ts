import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Contract } from '../../contract/contract.ts'
import type { Problem } from '../../domain/errors.ts'
import { errorEnvelope } from '../envelope.ts'
import type { Log } from '../log.ts'
import { requestIdOf } from '../request-id.ts'
import { Connection } from './connection.ts'

/** Bytes in which the first line of a request is looked for. */
const FIRST_LINE = 4_096

/** What was not HTTP, and what was answered. */
export interface MalformedExchange {
  requestId: string
  /** As far as the first line could be read. */
  method: string
  target: string
  problem: Problem
  status: number
  headers: Readonly<Record<string, string | number>>
  body: Buffer
}

/** Answers what is not HTTP, in the envelope of every other refusal, and closes the connection. */
export function createMalformedReply(
  { catalogue, requestIds }: Contract,
  seed: number,
  log: Log,
  record: (exchange: MalformedExchange) => void = () => {},
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  let ordinal = 0
  return function refuseMalformed(error, socket) {
    const connection = Connection.of(socket)
    if (error.code === 'ECONNRESET' || (!socket.writable && !connection.lingers)) {
      socket.destroy()
      return
    }
    // Answers ahead of this one tell of changes that may have been made. What has arrived with it is dealt with first.
    setImmediate(() => connection.afterAnswers(() => answer(error, socket, connection)))
  }

  function answer(error: NodeJS.ErrnoException, socket: Socket, connection: Connection): void {
    // The rest of what is refused already needs no refusal of its own; a client that is too slow with it has had its time.
    if (connection.lingers) {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
      else if (socket.writable) connection.end()
      return
    }
    if (!socket.writable) {
      socket.destroy()
      return
    }
    // What follows the last request of a connection was asked in vain, and its answer closes the connection.
    if (error.code === 'HPE_CLOSED_CONNECTION') {
      connection.end()
      return
    }
    // The answer to a request whose own body is what is malformed may be on its way, or just about to be.
    const { _httpMessage: pending } = socket as { _httpMessage?: ServerResponse | null }
    if (pending?.headersSent) {
      pending.once('finish', () => connection.end())
      pending.once('close', () => {
        if (!pending.writableFinished) socket.destroy()
      })
      return
    }
    const problem = problemOf(error)
    const { status, code, message } = catalogue.answer(problem)
    const requestId = requestIdOf(`${seed}\nmalformed`, ++ordinal, requestIds)
    log.info({ request_id: requestId, status, code, cause: error.code }, 'malformed request')
    const body = Buffer.from(JSON.stringify(errorEnvelope({ code, message })))
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'X-Request-Id': requestId,
      Connection: 'close',
    }
    record({ requestId, ...firstLineOf(error), problem, status, headers, body })
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    connection.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, '', body.toString()].join('\r\n'))
  }
}

/** Method and target, where what was received begins as a request does. */
function firstLineOf({ rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): {
  method: string
  target: string
} {
  const start = rawPacket?.subarray(0, FIRST_LINE).toString('latin1') ?? ''
  const [, method = '', target = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}) (\S+) HTTP\/\d/.exec(start) ?? []
  return { method, target }
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return { code: 'request_too_large', reason: 'headers' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'invalid_request_body', reason: 'timeout' }
  return { code: 'invalid_request_body', reason: 'malformed' }
}
