import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { BODY_LIMIT, type BodyBudget, CollectedBody } from '../../exchanges/collected-body.ts'
import { decodeBody } from '../../exchanges/content-coding.ts'
import type { SeenBody, SeenHeaders, SeenResponse } from '../../exchanges/exchange.ts'
import { readFields } from '../../exchanges/keys.ts'

/** Receives what becomes of a response. Exactly one method is called, once. */
export interface ResponseListener {
  /** The application has ended the response. */
  ended(response: SeenResponse): unknown
  /** The connection was closed before. */
  broken(): void
}

type Chunk = string | Uint8Array
type Given = OutgoingHttpHeaders | readonly unknown[] | undefined

export const NO_BYTES = Buffer.alloc(0)
const NOTHING: SeenBody = { isKnown: true, bytes: NO_BYTES }
const NO_PAIRS: readonly [string, string][] = []

/**
 * The content of a response: what the application has written so far, and the header that it has given. `bodiless` is
 * a response to HEAD, of which Node.js sends no body.
 */
export class ResponseContent {
  readonly #response: ServerResponse
  readonly #bodiless: boolean
  readonly #budget: BodyBudget
  /** The copy of a body in pieces. */
  #copy: CollectedBody | undefined
  /** A body in one piece, which needs no copy. */
  #whole: Buffer = NO_BYTES
  #given: Given
  /** The status that is sent. A later change of `statusCode` has no effect. */
  #status: number | undefined

  constructor(response: ServerResponse, bodiless: boolean, budget: BodyBudget) {
    this.#response = response
    this.#bodiless = bodiless
    this.#budget = budget
  }

  noteHeader(status: number, given: Given): void {
    this.#status ??= status
    this.#given ??= given
  }

  /** Adds a piece, which is copied: the application may use its memory for something else. */
  add(piece: Buffer): void {
    if (this.#bodiless) return
    this.#copy ??= new CollectedBody(this.#budget)
    this.#copy.add(piece)
  }

  /** Adds the last piece. It must stay as it is until the response is judged. */
  addLast(piece: Buffer): void {
    if (this.#copy !== undefined || piece.length > BODY_LIMIT) this.add(piece)
    else if (!this.#bodiless) this.#whole = piece
  }

  /** Gives up the body for a reason, which is a sentence. */
  drop(reason: string): void {
    this.#copy ??= new CollectedBody(this.#budget)
    this.#copy.drop(reason)
  }

  seen(): SeenResponse {
    const status = this.#status ?? this.#response.statusCode
    const headers = this.#headers()
    const isBodiless = this.#bodiless || status === 204 || status === 304
    const { missing: reason, bytes } = this.#copy ?? { missing: undefined, bytes: this.#whole }
    const body: SeenBody = isBodiless
      ? NOTHING
      : reason === undefined
        ? decodeBody(bytes, headers['content-encoding'])
        : { isKnown: false, reason }
    return { status, headers, body }
  }

  release(): void {
    this.#copy?.release()
  }

  /**
   * Fields that were given with the status are only in the list of Node.js if there were others before. Connection is
   * one of those that Node.js adds: without any field, the header would count as not recorded.
   */
  #headers(): SeenHeaders {
    const set = this.#response.getHeaders()
    const pairs: [string, string][] = [['Connection', 'keep-alive']]
    for (const name in set) addPairs(pairs, name, set[name])
    for (const [name, value] of givenPairs(this.#given)) if (!(name.toLowerCase() in set)) pairs.push([name, value])
    return readFields(pairs, (text) => text)
  }
}

function addPairs(pairs: [string, string][], name: string, value: unknown): void {
  if (Array.isArray(value)) for (const each of value) pairs.push([name, `${each}`])
  else pairs.push([name, `${value}`])
}

function pairsOf(name: string, value: unknown): [string, string][] {
  return Array.isArray(value) ? value.map((each) => [name, `${each}`]) : [[name, `${value}`]]
}

/** What was given to `writeHead`: an object, pairs, or names and values that alternate. */
function givenPairs(given: Given): readonly [string, string][] {
  if (given === undefined) return NO_PAIRS
  if (!Array.isArray(given)) return Object.entries(given).flatMap(([name, value]) => pairsOf(name, value))
  if (Array.isArray(given[0])) return given.flatMap(([name, value]) => pairsOf(`${name}`, value))
  return given.flatMap((name, index) => (index % 2 === 0 ? pairsOf(`${name}`, given[index + 1]) : []))
}

/** Watches a response while it is sent. Each call of the application goes on to Node.js as it is. */
export function watchResponse(
  response: ServerResponse,
  bodiless: boolean,
  budget: BodyBudget,
  listener: ResponseListener,
): void {
  const content = new ResponseContent(response, bodiless, budget)
  const { writeHead, write, end } = response
  let isOver = false

  response.writeHead = ((status: number, ...rest: unknown[]) => {
    const written = Reflect.apply(writeHead, response, [status, ...rest])
    content.noteHeader(response.statusCode, headerIn(rest))
    return written
  }) as ServerResponse['writeHead']

  response.write = ((chunk: Chunk, ...rest: unknown[]) => {
    const hasRoom = Reflect.apply(write, response, [chunk, ...rest])
    const piece = isOver ? undefined : bytesOfChunk(chunk, rest[0])
    if (piece !== undefined) content.add(piece)
    return hasRoom
  }) as ServerResponse['write']

  response.end = ((...values: unknown[]) => {
    Reflect.apply(end, response, values)
    if (isOver) return response
    isOver = true
    const piece = bytesOfChunk(values[0], values[1])
    if (piece !== undefined) content.addLast(piece)
    listener.ended(content.seen())
    content.release()
    return response
  }) as ServerResponse['end']

  // Without `once`, which makes a function for each response: after the end, this does nothing.
  response.on('close', () => {
    if (isOver) return
    isOver = true
    content.release()
    listener.broken()
  })
}

/** The bytes of what an application writes, in the same memory if they are bytes; `undefined` if it is no content. */
export function bytesOfChunk(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as 'utf8') : 'utf8')
  if (Buffer.isBuffer(chunk)) return chunk
  return chunk instanceof Uint8Array ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined
}

/** The header among the values after the status: the reason phrase may come before it. */
export function headerIn(rest: readonly unknown[]): Given {
  return (typeof rest[0] === 'string' ? rest[1] : (rest[0] ?? rest[1])) as Given
}
