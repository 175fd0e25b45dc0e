import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../../domain/errors.ts'
import type { MalformedExchange, MalformedRefusal, MalformedResponse } from '../malformed-response.ts'
import { Connection } from './connection.ts'
import { responseOn } from './node-internals.ts'

/** In bytes, how far the first line of a request is searched. */
const FIRST_LINE = 4_096

/** Answers input that is not HTTP with the usual error envelope, and closes the connection. */
export function createMalformedReply(refuse: MalformedRefusal): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return function refuseMalformed(error, socket) {
    const connection = Connection.of(socket)
    if (error.code === 'ECONNRESET' || (!socket.writable && !connection.lingers)) {
      socket.destroy()
      return
    }
    // Earlier responses may report changes, so they are sent first. Earlier requests are handled first.
    setImmediate(() => connection.afterAnswers(() => answer(error, socket, connection)))
  }

  function answer(error: NodeJS.ErrnoException, socket: Socket, connection: Connection): void {
    // The rest of a refused request is not refused again. A client that is too slow with it is cut off.
    if (connection.lingers) {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
      else if (socket.writable) connection.end()
      return
    }
    if (!socket.writable) {
      socket.destroy()
      return
    }
    // Nothing after the last request of a connection is answered. The response to that request closes it.
    if (error.code === 'HPE_CLOSED_CONNECTION') {
      connection.end()
      return
    }
    // If the body of a request is malformed, its response may already be under way, or about to be sent.
    const pending = responseOn(socket)
    if (pending?.headersSent) {
      pending.once('finish', () => connection.end())
      pending.once('close', () => {
        if (!pending.writableFinished) socket.destroy()
      })
      return
    }
    const response = refuse(problemOf(error), firstLineOf(error), error.code)
    connection.end(response && writeResponse(response))
  }
}

function writeResponse({ status, headers, body }: MalformedResponse): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, '', body.toString()].join('\r\n')
}

/** Method and target, if the received bytes begin like a request. */
function firstLineOf({
  rawPacket,
}: NodeJS.ErrnoException & { rawPacket?: Buffer }): Pick<MalformedExchange, 'method' | 'target'> {
  const start = rawPacket?.subarray(0, FIRST_LINE).toString('latin1') ?? ''
  const [, method = '', target = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}) (\S+) HTTP\/\d/.exec(start) ?? []
  return { method, target }
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return { code: 'request_too_large', reason: 'large-header' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'invalid_request_body', reason: 'timeout' }
  return { code: 'invalid_request_body', reason: 'malformed' }
}
