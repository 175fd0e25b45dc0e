import type { Content } from './content.ts'

/** Names and values alternate. For an object, Node needs twice the time. */
export type Headers = (string | number)[]

/** The Content-Type of every response. JSON is always UTF-8, so a charset would say nothing new (RFC 8259 §8.1). */
export const RESPONSE_TYPE = 'application/json'

/** The service's decision to send a response, or none. A door carries it out. */
export type Delivery = Response | Loss

/** A response, ready to be sent. */
export interface Response {
  status: number
  headers: Headers
  body: Content
  /** How a fault sends the body, if not all at once. */
  transmission: Transmission | undefined
}

/**
 * Another way to send a body: `slowly`, in small pieces over the given milliseconds, or `until` the
 * account is reset, which ends the connection; or `half` of it, after which the connection is closed.
 */
export type Transmission = { way: 'slowly'; milliseconds: number; until: AbortSignal | undefined } | { way: 'half' }

/** No response is sent. */
export interface Loss {
  /**
   * What happens to the connection: a `reset` (TCP RST); a `close`, once the request is read; or a `hang`, in which it
   * stays open until the client or the server gives up. `failure`: the response could not be made.
   */
  lost: 'reset' | 'close' | 'hang' | 'failure'
  /** Ends a hang: the account was reset. */
  until?: AbortSignal | undefined
}
