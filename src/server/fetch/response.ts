import { STATUS_CODES } from 'node:http'
import { bytesOf } from '../../ground/content.ts'
import type { Response as SentResponse } from '../../ground/delivery.ts'
import { inPieces } from '../pieces.ts'
import { terminated } from './failure.ts'

/** Statuses whose responses have no body, and not even an empty one. */
const BODILESS = new Set([204, 205, 304])
/** Fields about the connection. A response without a connection has none of them. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/** A response before it is made. `pieces` are those of its body. */
export interface ResponseParts {
  status: number
  /** Names and values alternate. */
  fields: readonly (string | number)[]
  pieces: AsyncIterator<Uint8Array>
}

/** The parts of a response of the service. `wait` waits between the pieces of a body that is sent slowly. */
export function partsOf(
  { status, headers, body, transmission }: SentResponse,
  wait: (milliseconds: number) => Promise<void>,
): ResponseParts {
  const bytes = bytesOf(body)
  if (transmission === undefined) return { status, fields: headers, pieces: inOnePiece(bytes) }
  const pieces = transmission.way === 'slowly' ? inPieces(bytes, transmission.milliseconds, wait) : half(bytes)
  return { status, fields: headers, pieces }
}

export async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes
}

async function* half(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 1) yield bytes.subarray(0, bytes.length >> 1)
  if (bytes.length > 0) throw terminated()
}

/**
 * A response as `fetch` gives it. Its body fails when `leaving` is aborted, and aborts it when its reader cancels it.
 * @throws TypeError for a malformed field
 */
export function responseOf(
  { status, fields, pieces }: ResponseParts,
  { method, url }: Request,
  leaving: AbortController,
): Response {
  const headers = new Headers()
  for (let index = 0; index < fields.length; index += 2) {
    const name = `${fields[index]}`
    if (!OF_CONNECTION.has(name.toLowerCase())) headers.append(name, `${fields[index + 1]}`)
  }
  const body = method === 'HEAD' || BODILESS.has(status) ? null : streamOf(pieces, leaving)
  const response = new Response(body, { status, statusText: STATUS_CODES[status] ?? 'unknown', headers })
  return withUrl(response, url.replace(/#.*/, ''))
}

/** A response that has come from this URL, as its clones have. */
function withUrl(response: Response, url: string): Response {
  const { clone } = response
  return Object.defineProperties(response, {
    url: { value: url },
    clone: { value: () => withUrl(clone.call(response), url) },
  })
}

function streamOf(pieces: AsyncIterator<Uint8Array>, leaving: AbortController): ReadableStream<Uint8Array> {
  const { signal } = leaving
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true })
    },
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (signal.aborted) return
      if (done !== true) {
        // The stream takes the memory of its pieces away, and the service may send the same bytes again.
        controller.enqueue(new Uint8Array(value))
        return
      }
      controller.close()
      controller.byobRequest?.respond(0)
    },
    cancel(reason) {
      leaving.abort(reason)
    },
  })
}
