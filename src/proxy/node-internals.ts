import type { ClientRequest, IncomingMessage, OutgoingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// Everything in this file relies on undocumented parts of Node.js. The proxy passes messages on byte for byte, for which the
// documented parts do not suffice. The tests of the proxy compare the bytes on both sides.

/** The response that Node is sending on a connection, if there is one. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}

/**
 * Decides what Node does when the client of a connection closes its side: it closes our side at once, or only after the
 * last response. Node reads this from the server, not from the connection, so it must be set just before, each time.
 */
export function keepOpenAtEnd(server: Server, keepsOpen: boolean): void {
  ;(server as Server & { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = keepsOpen
}

/** What Node has of a message before it is sent. */
interface UnsentMessage {
  _storeHeader(startLine: string, fields: readonly string[]): void
  _send(text: string, encoding: 'latin1'): boolean
  _writeRaw(text: string, encoding: 'latin1'): boolean
  _sent100: boolean
}

/** Fields that Node adds to a message, unless they were removed before. */
const ADDED = ['connection', 'content-length', 'transfer-encoding', 'date']

/**
 * Sends a request with this header, in which names and values alternate. Node would add a field, or, with `setHeader`,
 * join repeated fields and forget their order. The header says how long the body is (`Content-Length` or chunks).
 */
export function sendRequestHeader(request: ClientRequest, startLine: string, fields: readonly string[]): void {
  for (const name of ADDED) request.removeHeader(name)
  ;(request as unknown as UnsentMessage)._storeHeader(`${startLine}\r\n`, fields)
  flushHeader(request)
}

/** Sends the header before the body is there. Node's own `flushHeaders` writes characters beyond ASCII as UTF-8. */
export function flushHeader(message: OutgoingMessage): void {
  ;(message as unknown as UnsentMessage)._send('', 'latin1')
}

/** Gives a response this header, without fields of Node's own. @throws TypeError if Node does not send such a header */
export function setResponseHeader(
  response: ServerResponse,
  { statusCode = 0, statusMessage, rawHeaders }: Pick<IncomingMessage, 'statusCode' | 'statusMessage' | 'rawHeaders'>,
): void {
  for (const name of ADDED)
    response.removeHeader(name)
    // After `Expect: 100-continue` without an interim response, Node would close the connection.
  ;(response as unknown as UnsentMessage)._sent100 = true
  response.writeHead(statusCode, statusMessage, rawHeaders)
}

/** Sends an interim response (1xx) before a response, with any status and fields. */
export function sendInterim(response: ServerResponse, head: string): void {
  ;(response as unknown as UnsentMessage)._writeRaw(head, 'latin1')
}
