import { isUtf8 } from 'node:buffer'

/**
 * A request that was sent to a service, and the response. It holds no key: the code that makes an exchange removes the
 * key first, so later code cannot show it.
 */
export interface Exchange {
  /** Identifies the exchange for the user: the service's X-Request-Id, or its place in the input, as `entry 12`. */
  id: string
  /** When the request was sent, in milliseconds since the Unix epoch on the clock of the recorder. */
  at: number
  /** When the response was complete. */
  until: number
  /** Whether another request that may change the account was in progress at the same time. */
  overlaps: boolean
  request: SeenRequest
  /** Absent if no response came. */
  response: SeenResponse | undefined
}

export interface SeenRequest {
  method: string
  /** Path and query as they were sent. The base path of the contract replaces that of the service. */
  target: string
  /** By lower-case name, without Authorization and cookies. Several fields of one name are joined by commas. */
  headers: SeenHeaders
  /** Names in lower case of fields that were sent, whose values the recording does not show. `headers` lacks them. */
  hidden?: readonly string[]
  credentials: Credentials
  body: SeenBody
}

export interface SeenResponse {
  status: number
  /** By lower-case name. Several fields of one name are joined by commas. */
  headers: SeenHeaders
  /** As in a request. */
  hidden?: readonly string[]
  /** Without content coding. */
  body: SeenBody
}

/** Whether a message has a header field, named in lower case; also one whose value the recording does not show. */
export function hasField({ headers, hidden }: Pick<SeenRequest, 'headers' | 'hidden'>, name: string): boolean {
  return headers[name] !== undefined || hidden?.includes(name) === true
}

/** By lower-case name. The object has no prototype, because a field can have any name. */
export type SeenHeaders = Readonly<Record<string, string>>

/** What a recording has of a body. */
export type SeenBody = KnownBody | { isKnown: false; reason: string }

/** A body that is not known for a reason, which is a sentence. */
export function unknownBody(reason: string): SeenBody {
  return { isKnown: false, reason }
}

/** A body that was seen; it is empty if there was none. Text and bytes are made from each other when they are needed. */
export class KnownBody {
  readonly isKnown = true
  #text: string | undefined
  #bytes: Buffer | undefined
  /** In bytes. */
  readonly size: number

  constructor(content: string | Buffer) {
    if (typeof content === 'string') this.#text = content
    else this.#bytes = content
    this.size = typeof content === 'string' ? Buffer.byteLength(content) : content.length
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.#text ?? '')
    return this.#bytes
  }

  /** What is not UTF-8 has other characters in its place. */
  get text(): string {
    this.#text ??= this.#bytes?.toString() ?? ''
    return this.#text
  }

  get isUtf8(): boolean {
    return this.#bytes === undefined || isUtf8(this.#bytes)
  }
}

export const EMPTY_BODY = new KnownBody('')

/** What a request says about its sender. */
export type Credentials =
  /** The request had no Authorization field. */
  | { kind: 'none' }
  /** The recording does not show whether it had one. */
  | { kind: 'unknown' }
  /**
   * `scheme` is the text before the first space as it was sent. `key` is a name in place of the key: `key 1`. Within
   * one judgement, the same key always has the same name. `isWord`: whether a single word followed the scheme, as a key
   * is. `isInvented`: the sender knows that no account has this key.
   */
  | { kind: 'sent'; scheme: string; key: string; isWord: boolean; isInvented?: boolean }

/** The form of the key: as in the specification, with the scheme in another case, certainly wrong, or absent. */
export function formOf(credentials: Credentials): 'exact' | 'any-case' | 'wrong' | 'none' | 'unknown' {
  if (credentials.kind !== 'sent') return credentials.kind
  const { scheme, isWord, isInvented = false } = credentials
  if (!isWord || isInvented) return 'wrong'
  if (scheme === 'Bearer') return 'exact'
  return scheme.toLowerCase() === 'bearer' ? 'any-case' : 'wrong'
}
