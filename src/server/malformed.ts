import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { finished } from 'node:stream'
import type { Problem } from '../domain/errors.ts'
import { clearTimeout, setImmediate, setTimeout } from '../ground/timers.ts'
import type { MalformedExchange, MalformedRefusal, MalformedResponse } from '../service/malformed-response.ts'
import type { HttpExchange, HttpServerOptions } from './http-server.ts'
import { sendAll } from './outbox.ts'

/** In characters, how much of a request is searched for its first line. */
const FIRST_LINE = 4_096
/**
 * In milliseconds, how long the server still reads, and ignores, what a client sends after its last response. A
 * connection that is closed with unread bytes is reset, and the client may lose the response.
 */
const LINGER = 10_000

/** Answers input that is not HTTP with the usual error envelope, and closes the connection. */
export function createMalformedReply(refuse: MalformedRefusal): HttpServerOptions['refuseMalformed'] {
  /** Connections that were refused. The rest of their input is not refused again. */
  const refused = new WeakSet<Socket>()

  return function refuseMalformed(error, socket, last) {
    // The response to the last request of a connection closes it. Nothing after that request is answered.
    if (error.code === 'HPE_CLOSED_CONNECTION' || refused.has(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    refused.add(socket)
    // First, the service learns that the client has left, if that is the reason; and what it has answered is sent whole.
    setImmediate(() => {
      sendAll()
      afterAnswers(last, () => answer(error, socket, last))
    })
  }

  function answer(error: NodeJS.ErrnoException, socket: Socket, last: HttpExchange | undefined): void {
    if (!socket.writable) return
    // A request whose body is malformed may have its response.
    const isAnswered = last?.request.complete === false && last.response.headersSent
    const response = isAnswered ? undefined : refuse(problemOf(error), firstLineOf(error), error.code)
    socket.end(response === undefined ? '' : writeResponse(response))
    socket.resume()
    // Not a timeout of the socket, which each byte would begin again.
    const patience = setTimeout(() => socket.destroy(), LINGER)
    socket.once('close', () => clearTimeout(patience))
  }
}

/**
 * Acts when all responses that can be given are sent: they may report changes. A request may never be answered if its
 * body cannot be read.
 */
function afterAnswers(last: HttpExchange | undefined, act: () => void): void {
  if (last === undefined || (!last.request.complete && !last.response.headersSent)) {
    act()
    return
  }
  if (!last.request.complete) last.response.end()
  finished(last.response, act)
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
