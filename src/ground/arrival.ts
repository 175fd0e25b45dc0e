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
