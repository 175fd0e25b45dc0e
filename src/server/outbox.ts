import type { ServerResponse } from 'node:http'
import { bytesOf, type Content } from '../ground/content.ts'
import { setImmediate } from '../ground/timers.ts'

/** A response with a written header, its body, and what to do if it cannot be sent. */
interface Post {
  response: ServerResponse
  body: Content
  fail(error: unknown, response: ServerResponse): void
}

let ready: Post[] = []

/**
 * Ends a response after everything that has arrived by now is answered, together with the other responses. So a client
 * that waits for several of them is woken only once, which would else take a fifth of the time of a small request.
 */
export function post(response: ServerResponse, body: Content, fail: Post['fail']): void {
  if (ready.length === 0) setImmediate(sendAll)
  ready.push({ response, body, fail })
}

/** Sends all responses now: before something else happens to their connections. */
export function sendAll(): void {
  const posts = ready
  ready = []
  for (const { response, body, fail } of posts) {
    // A middleware that has replaced `end` may throw, which must not lose the other responses.
    try {
      end(response, body)
    } catch (error) {
      fail(error, response)
    }
  }
}

function end(response: ServerResponse, body: Content): void {
  const { held, size } = body
  // Node joins a header and a text of this encoding, so that both are sent as one piece.
  if (typeof held === 'string' && held.length === size) response.end(held, 'latin1')
  else response.end(bytesOf(body))
}
