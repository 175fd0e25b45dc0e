import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Problem } from '../domain/errors.ts'

/** A request on its way to the service, through any door. */
export interface Arrival {
  readonly method?: string | undefined
  /** The request target (RFC 9112 §3.2). */
  readonly url?: string | undefined
  /** `1.0` or `1.1`. */
  readonly httpVersion: string
  /** By lower-case name. The Node.js documentation of `message.headers` describes repeated fields. */
  readonly headers: IncomingHttpHeaders
  /** Why this is no HTTP. Then it has no header. */
  readonly problem?: Problem | undefined
  /** Names and values alternate, as they were received. */
  readonly rawHeaders: string[]
  /** The whole body if the door has it, or else the stream on which it comes. */
  readonly body: Buffer | BodyStream
  /** Whether the client has stopped waiting for an answer. */
  readonly isAbandoned: boolean
  /**
   * Waits the given milliseconds, or without limit, but only until the client leaves or one of the signals is aborted,
   * such as when the server stops.
   */
  wait(milliseconds: number | undefined, ...endings: readonly (AbortSignal | undefined)[]): Promise<void>
}

/** The source of a body. */
export type BodyStream = Pick<Readable, 'on' | 'once' | 'off' | 'resume' | 'destroyed'> &
  Pick<IncomingMessage, 'complete'>

/**
 * A body, or the beginning of one, in its original form. A written or parsed text is short-lived, or kept in thousands
 * of entries. Bytes would need an object and memory in addition.
 */
export interface Content {
  /** A text is always the whole body. */
  held: string | Buffer
  /** The size of the whole body in bytes. */
  size: number
}

/** In bytes, the size up to which a text stays a text. A longer one is converted to bytes once. */
const SHORT = 4_096

export function contentOf(text: string): Content {
  const size = Buffer.byteLength(text)
  return { held: size <= SHORT ? text : Buffer.from(text), size }
}

/** Stands for a body that nobody has read, so that even its size is unknown. */
export const UNREAD: Content = { held: Buffer.alloc(0), size: Number.POSITIVE_INFINITY }

export const NO_BODY = contentOf('')

/** The bytes of the body, as far as they are held. */
export function bytesOf({ held }: Content): Buffer {
  return typeof held === 'string' ? Buffer.from(held) : held
}

export function textOf({ held }: Content): string {
  return typeof held === 'string' ? held : held.toString()
}

/** Whether only a part of the body is held. */
export function isCut({ held, size }: Content): boolean {
  return typeof held !== 'string' && held.length < size
}

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
 * account is reset or deleted, which ends the connection; or `half` of it, after which the connection is closed.
 */
export type Transmission = { way: 'slowly'; milliseconds: number; until: AbortSignal | undefined } | { way: 'half' }

/** No response is sent. */
export interface Loss {
  /**
   * What happens to the connection: a `reset` (TCP RST); a `close`, once the request is read; or a `hang`, in which it
   * stays open until the client or the server gives up. `failure`: the response could not be made.
   */
  lost: 'reset' | 'close' | 'hang' | 'failure'
  /** Ends a hang: the account was reset or deleted. */
  until?: AbortSignal | undefined
}
