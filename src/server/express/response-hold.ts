import type { ServerResponse } from 'node:http'
import { BODY_LIMIT, type BodyBudget, NO_ROOM, TOO_LONG } from '../../exchanges/collected-body.ts'
import type { SeenResponse } from '../../exchanges/exchange.ts'
import { bytesOf } from '../../ground/content.ts'
import type { Response } from '../../ground/delivery.ts'
import { nextTick } from '../../ground/timers.ts'
import { bytesOfChunk, headerIn, NO_BYTES, ResponseContent } from './response-watch.ts'

/** Decides about a response that is held. Exactly one method is called, once. */
export interface ResponseGuard {
  /** The response that takes the place of an unlawful one; `undefined` if the application's own is sent. */
  decide(response: SeenResponse): Response | undefined
  /** The body is too long to be held, so the response is sent as it is. */
  passOn(response: SeenResponse): unknown
  broken(): void
}

/** Fields about the content of a response, which another one does not have. */
const OF_CONTENT =
  /^(?:content-.*|etag|last-modified|cache-control|expires|accept-ranges|location|transfer-encoding|trailer)$/i

function headersSent(): Error {
  const message = 'Cannot change headers after they are sent to the client'
  return Object.assign(new Error(message), { code: 'ERR_HTTP_HEADERS_SENT' })
}

/**
 * Holds a response until the application has ended it. If it may be sent, all calls of the application are made up for
 * in their order, so that Node.js sends what it would have sent.
 */
export function holdResponse(
  response: ServerResponse,
  bodiless: boolean,
  budget: BodyBudget,
  guard: ResponseGuard,
): void {
  const content = new ResponseContent(response, bodiless, budget)
  const pieces = new HeldPieces(budget)
  const { writeHead, flushHeaders, write, end } = response
  const held: (() => void)[] = []
  let hasBegun = false
  let isOver = false

  function release(): void {
    isOver = true
    pieces.release()
    content.release()
  }
  function sendHeld(): void {
    release()
    for (const send of held.splice(0)) send()
  }
  function begin(): void {
    if (!hasBegun) response.writeHead(response.statusCode)
  }

  // Others may replace a method, too, so none is ever put back.
  response.writeHead = ((...values: Parameters<typeof writeHead>) => {
    if (isOver) return Reflect.apply(writeHead, response, values)
    if (hasBegun) throw headersSent()
    hasBegun = true
    response.statusCode = Number(values[0])
    content.noteHeader(Number(values[0]), headerIn(values.slice(1)))
    closeHeader(response, () => !isOver)
    held.push(() => Reflect.apply(writeHead, response, values))
    return response
  }) as ServerResponse['writeHead']

  response.flushHeaders = () => {
    if (isOver) flushHeaders.call(response)
    else begin()
  }

  response.write = ((chunk: unknown, ...rest: unknown[]) => {
    const piece = bytesOfChunk(chunk, rest[0])
    // Node.js throws for any other chunk.
    if (isOver || piece === undefined) return Reflect.apply(write, response, [chunk, ...rest])
    begin()
    // The application may wait until it can use its memory for something else.
    const kept = typeof chunk === 'string' ? piece : Buffer.from(piece)
    const written = rest.find((value) => typeof value === 'function')
    if (written !== undefined) nextTick(written)
    const missing = pieces.add(kept)
    held.push(() => Reflect.apply(write, response, [kept]))
    if (missing !== undefined) {
      content.drop(missing)
      guard.passOn(content.seen())
      sendHeld()
    }
    return true
  }) as ServerResponse['write']

  response.end = ((...values: unknown[]) => {
    if (isOver) return Reflect.apply(end, response, values)
    const last = bytesOfChunk(values[0], values[1])
    content.addLast(pieces.joinedWith(last))
    const other = guard.decide(content.seen())
    if (other === undefined) {
      sendHeld()
      Reflect.apply(end, response, values)
    } else {
      release()
      sendInstead(response, other, bodiless, values.find((value) => typeof value === 'function') as () => void)
    }
    return response
  }) as ServerResponse['end']

  response.on('close', () => {
    if (isOver) return
    release()
    guard.broken()
  })
}

/** The pieces of a body, each of them once. */
class HeldPieces {
  readonly #budget: BodyBudget
  readonly #pieces: Buffer[] = []
  #size = 0
  #taken = 0

  constructor(budget: BodyBudget) {
    this.#budget = budget
  }

  /** Adds a piece. Returns why no more can be held, as a sentence. */
  add(piece: Buffer): string | undefined {
    this.#size += piece.length
    if (this.#size > BODY_LIMIT) return TOO_LONG
    if (!this.#budget.take(piece.length + OF_PIECE)) return NO_ROOM
    this.#taken += piece.length + OF_PIECE
    this.#pieces.push(piece)
    return undefined
  }

  /** The whole body. */
  joinedWith(last: Buffer = NO_BYTES): Buffer {
    return this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])
  }

  release(): void {
    this.#budget.release(this.#taken)
    this.#taken = 0
    this.#pieces.length = 0
  }
}

/** In bytes, about how much memory a piece takes beside its content. */
const OF_PIECE = 300

/** Makes a response that is held look as if its header had been sent, as long as it is held. */
function closeHeader(response: ServerResponse, isHeld: () => boolean): void {
  for (const name of ['setHeader', 'appendHeader', 'removeHeader'] as const) {
    const former: (...values: never[]) => unknown = response[name]
    const value = (...values: never[]) => {
      if (isHeld()) throw headersSent()
      return Reflect.apply(former, response, values)
    }
    Object.defineProperty(response, name, { value, writable: true, configurable: true, enumerable: true })
  }
  Object.defineProperty(response, 'headersSent', {
    get: () => isHeld() || Reflect.get(Object.getPrototypeOf(response), 'headersSent', response),
    configurable: true,
  })
}

/** Sends a response of the middleware itself. Fields that others have set stay, if they are not about the content. */
export function sendInstead(
  response: ServerResponse,
  { status, headers, body }: Response,
  bodiless: boolean,
  sent?: (() => void) | undefined,
): void {
  for (const name of response.getHeaderNames()) if (OF_CONTENT.test(name)) response.removeHeader(name)
  for (let index = 0; index < headers.length; index += 2) {
    response.setHeader(String(headers[index]), String(headers[index + 1]))
  }
  response.statusMessage = ''
  response.writeHead(status)
  if (bodiless) response.end(sent)
  else response.end(bytesOf(body), sent)
}
