import type { Redact } from '../../journal/redaction.ts'
import type { Credentials } from '../exchange.ts'
import type { Fields } from '../keys.ts'

/** A request and what came back, as whoever passed them on has seen them. The writer of recordings takes keys out. */
export interface RecordedExchange {
  /** When the request was sent, in milliseconds since the Unix epoch; the fraction counts. */
  at: number
  /** When the response was complete, or when it was clear that there will be none. */
  until: number
  /** When the first byte of the response came, if it is known. */
  answeredAt?: number | undefined
  /** With scheme and host. */
  url: string
  request: RecordedMessage & { method: string }
  response: (RecordedMessage & { status: number; statusText: string }) | undefined
  /** Why there is no response, in a few words. */
  problem?: string | undefined
  credentials: Credentials
  /** Hides keys in every text of the exchange. */
  redact: Redact
}

export interface RecordedMessage {
  /** Such as `HTTP/1.1`. */
  httpVersion: string
  fields: Fields
  body: RecordedBody
}

/** A body without content coding. */
export interface RecordedBody {
  /** All of it, or its beginning. */
  bytes: Buffer
  /** The bytes of all of it. */
  size: number
  /** As it was sent, in bytes, with its coding. */
  sentSize?: number | undefined
}
