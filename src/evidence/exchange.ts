/**
 * A request that was sent to a service, and what came back. It holds no key: whoever makes one takes the key out first,
 * so nothing that comes later can show it.
 */
export interface Exchange {
  /** How people find it again: the service's X-Request-Id, or its place in what was read, such as `entry 12`. */
  id: string
  /** When the request was sent, in milliseconds since the Unix epoch on the clock of whoever recorded it. */
  at: number
  /** When the response was complete. */
  until: number
  /** Whether another request that may change the account was under way at the same time. */
  overlaps: boolean
  request: SeenRequest
  /** Absent where none came. */
  response: SeenResponse | undefined
}

export interface SeenRequest {
  method: string
  /** Path and query as they were sent. The service's base path is replaced by the one of the contract. */
  target: string
  /** By lower-case name, without Authorization and cookies. Several fields of one name are joined by commas. */
  headers: Headers
  credentials: Credentials
  body: SeenBody
}

export interface SeenResponse {
  status: number
  /** By lower-case name. Several fields of one name are joined by commas. */
  headers: Headers
  /** Without content coding. */
  body: SeenBody
}

/** By lower-case name. It has no prototype, because a field can have any name. */
export type Headers = Readonly<Record<string, string>>

/** What a recording has of a body. Without one, `bytes` is empty. */
export type SeenBody = { isKnown: true; bytes: Buffer } | { isKnown: false; reason: string }

/** What a request said about who sent it. */
export type Credentials =
  /** It had no Authorization field. */
  | { kind: 'none' }
  /** The recording does not show whether it had one. */
  | { kind: 'unknown' }
  /**
   * The text before the first space as it was sent, and the rest replaced by a name of the key: `key 1`. The same key has
   * the same name in everything that is judged together. `isWord`: whether what followed was one word, as a key is.
   * `isInvented`: whoever sent it knows that no account has this key.
   */
  | { kind: 'sent'; scheme: string; key: string; isWord: boolean; isInvented?: boolean }
