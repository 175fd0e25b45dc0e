import type { Redact } from '../../journal/redaction/redaction.ts'
import type { Credentials } from '../exchange.ts'
import type { HeaderFields } from '../keys.ts'

/** A request and its response as the proxy has seen them. The writer of recordings removes the keys. */
export interface RecordedExchange {
  /** When the request was sent, in milliseconds since the Unix epoch, with the fraction. */
  at: number
  /** When the response was complete, or when it was clear that none would come. */
  until: number
  /** When the first byte of the response came, if it is known. */
  answeredAt?: number | undefined
  /** With scheme and host. */
  url: string
  request: RecordedMessage & { method: string }
  response: (RecordedMessage & { status: number; statusText: string }) | undefined
  /** Why there is no response, as a short phrase. */
  problem?: string | undefined
  credentials: Credentials
  /** Hides keys in every text of the exchange. */
  redact: Redact
}

export interface RecordedMessage {
  /** Such as `HTTP/1.1`. */
  httpVersion: string
  fields: HeaderFields
  body: RecordedBody
}

/** A body without content coding. */
export interface RecordedBody {
  /** The whole body or its beginning. */
  bytes: Buffer
  /** The size of the whole body in bytes. */
  size: number
  /** The size as it was sent, in bytes, with its coding. */
  sentSize?: number | undefined
}
