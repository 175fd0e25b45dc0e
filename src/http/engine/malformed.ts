import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Contract } from '../../contract/contract.ts'
import type { Problem } from '../../domain/errors.ts'
import { errorEnvelope } from '../envelope.ts'
import type { Log } from '../log.ts'
import type { NobodyIds } from '../nobody-ids.ts'
import { Connection } from './connection.ts'
import { responseOn } from './node-internals.ts'

/** In how many bytes the first line of a request is searched. */
const FIRST_LINE = 4_096

/** What was not HTTP, and what was answered. */
export interface MalformedExchange {
  requestId: string
  /** As much as could be read of the first line. */
  method: string
  target: string
  problem: Problem
  /** Absent where the connection was closed without a response. */
  response:
    | { status: number; code: string; headers: Readonly<Record<string, string | number>>; body: Buffer }
    | undefined
}

/** Answers what is not HTTP with the envelope of every other refusal, and closes the connection. */
export function createMalformedReply(
  { catalogue, settings }: Contract,
  nextId: NobodyIds,
  log: Log,
  record: (exchange: MalformedExchange) => void = () => {},
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return function refuseMalformed(error, socket) {
    const connection = Connection.of(socket)
    if (error.code === 'ECONNRESET' || (!socket.writable && !connection.lingers)) {
      socket.destroy()
      return
    }
    // Earlier responses may tell of changes, so they are sent first. Requests that arrived together with this are handled first.
    setImmediate(() => connection.afterAnswers(() => answer(error, socket, connection)))
  }

  function answer(error: NodeJS.ErrnoException, socket: Socket, connection: Connection): void {
    // The rest of a request that is refused already is not refused again. A client that is too slow with it is cut off.
    if (connection.lingers) {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
      else if (socket.writable) connection.end()
      return
    }
    if (!socket.writable) {
      socket.destroy()
      return
    }
    // After the last request of a connection nothing is answered; the response to that request closes the connection.
    if (error.code === 'HPE_CLOSED_CONNECTION') {
      connection.end()
      return
    }
    // If the body of a request is malformed, the response to that request may be on its way, or about to be sent.
    const pending = responseOn(socket)
    if (pending?.headersSent) {
      pending.once('finish', () => connection.end())
      pending.once('close', () => {
        if (!pending.writableFinished) socket.destroy()
      })
      return
    }
    const problem = problemOf(error)
    const requestId = nextId('malformed')
    if (settings.notHttp === 'closed') {
      log.info({ request_id: requestId, cause: error.code }, 'malformed request')
      record({ requestId, ...firstLineOf(error), problem, response: undefined })
      connection.end()
      return
    }
    const { status, code, message } = catalogue.answer(problem)
    log.info({ request_id: requestId, status, code, cause: error.code }, 'malformed request')
    const body = Buffer.from(JSON.stringify(errorEnvelope({ code, message })))
    const headers = {
      'Content-Type': settings.responseType,
      'Content-Length': body.length,
      'X-Request-Id': requestId,
      Connection: 'close',
    }
    record({ requestId, ...firstLineOf(error), problem, response: { status, code, headers, body } })
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    connection.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, '', body.toString()].join('\r\n'))
  }
}

/** Method and target, if the received bytes begin like a request. */
function firstLineOf({ rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): {
  method: string
  target: string
} {
  const start = rawPacket?.subarray(0, FIRST_LINE).toString('latin1') ?? ''
  const [, method = '', target = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}) (\S+) HTTP\/\d/.exec(start) ?? []
  return { method, target }
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return { code: 'request_too_large', reason: 'large-header' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'invalid_request_body', reason: 'timeout' }
  return { code: 'invalid_request_body', reason: 'malformed' }
}
