import type { ServerResponse } from 'node:http'
import type { BodyBudget } from '../../exchanges/collected-body.ts'
import type { SeenResponse } from '../../exchanges/exchange.ts'
import { bytesOf } from '../../http/content.ts'
import type { Response } from '../../http/delivery.ts'
import { headerIn, ResponseContent } from './response-watch.ts'

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
  const former = methodsOf(response)
  const held: (() => void)[] = []
  let hasBegun = false
  let isOver = false

  /** Replaces a method until the response is over. Others may replace it too, so it is never put back. */
  function hold(name: keyof typeof former, method: (...values: unknown[]) => unknown): void {
    const original = former[name]
    const value = (...values: unknown[]) => (isOver ? Reflect.apply(original, response, values) : method(...values))
    Object.defineProperty(response, name, { value, writable: true, configurable: true, enumerable: true })
  }
  function call(name: keyof typeof former, values: readonly unknown[]): unknown {
    return Reflect.apply(former[name], response, values)
  }
  function release(): void {
    isOver = true
    content.release()
  }
  function sendHeld(): void {
    release()
    for (const send of held.splice(0)) send()
  }
  function begin(): void {
    if (!hasBegun) response.writeHead(response.statusCode)
  }

  Object.defineProperty(response, 'headersSent', {
    get: () => (isOver ? Reflect.get(Object.getPrototypeOf(response), 'headersSent', response) : hasBegun),
    configurable: true,
  })
  for (const name of ['setHeader', 'appendHeader', 'removeHeader'] as const) {
    hold(name, (...values) => {
      if (hasBegun) throw headersSent()
      return call(name, values)
    })
  }
  hold('writeHead', (...values) => {
    if (hasBegun) throw headersSent()
    hasBegun = true
    response.statusCode = Number(values[0])
    content.noteHeader(Number(values[0]), headerIn(values.slice(1)))
    held.push(() => call('writeHead', values))
    return response
  })
  hold('flushHeaders', begin)
  hold('write', (chunk, ...rest) => {
    // Node.js throws for any other chunk.
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return call('write', [chunk, ...rest])
    begin()
    content.add(chunk, rest[0])
    // The application may wait until it can use its memory for something else.
    const kept = typeof chunk === 'string' ? chunk : Buffer.from(chunk)
    const written = rest.find((value) => typeof value === 'function')
    if (written !== undefined) process.nextTick(written)
    held.push(() => call('write', typeof rest[0] === 'string' ? [kept, rest[0]] : [kept]))
    if (content.missing !== undefined) {
      guard.passOn(content.seen())
      sendHeld()
    }
    return true
  })
  hold('end', (...values) => {
    content.add(values[0], values[1])
    const other = guard.decide(content.seen())
    if (other === undefined) {
      sendHeld()
      call('end', values)
    } else {
      release()
      sendInstead(response, other, bodiless, values.find((value) => typeof value === 'function') as () => void)
    }
    return response
  })
  response.once('close', () => {
    if (isOver) return
    release()
    guard.broken()
  })
}

function methodsOf({ setHeader, appendHeader, removeHeader, writeHead, flushHeaders, write, end }: ServerResponse) {
  return { setHeader, appendHeader, removeHeader, writeHead, flushHeaders, write, end }
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
