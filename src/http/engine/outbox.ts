import type { ServerResponse } from 'node:http'
import { setImmediate } from '../../ground/timers.ts'
import { bytesOf, type Content } from '../content.ts'

/** Responses with a written header, and their bodies. */
let ready: { response: ServerResponse; body: Content }[] = []

/**
 * Ends a response after everything that has arrived by now is answered, together with the other responses. So a client
 * that waits for several of them is woken only once, which would else take a fifth of the time of a small request.
 */
export function post(response: ServerResponse, body: Content): void {
  if (ready.length === 0) setImmediate(sendAll)
  ready.push({ response, body })
}

/** Sends all responses now: before something else happens to their connections. */
export function sendAll(): void {
  const responses = ready
  ready = []
  for (const { response, body } of responses) {
    const { held, size } = body
    // Node joins a header and a text of this encoding, so that both are sent as one piece.
    if (typeof held === 'string' && held.length === size) response.end(held, 'latin1')
    else response.end(bytesOf(body))
  }
}
