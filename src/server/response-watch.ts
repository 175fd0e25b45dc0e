import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { BODY_LIMIT, type BodyBudget, CollectedBody } from '../exchanges/collected-body.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import { EMPTY_BODY, type SeenHeaders, type SeenResponse, unknownBody } from '../exchanges/exchange.ts'
import { readFields } from '../exchanges/keys.ts'

type Given = OutgoingHttpHeaders | readonly unknown[] | undefined

/**
 * Watches a response while it is sent: each call of the application goes on to Node.js as it is. `finish` is called
 * once, with the response when the application has ended it, or without one if the connection was closed before.
 * `isBodiless`: whether it is a response to HEAD, of which Node.js sends no body.
 */
export function watchResponse(
  response: ServerResponse,
  isBodiless: boolean,
  budget: BodyBudget,
  finish: (seen: SeenResponse | undefined) => void,
): void {
  const { writeHead, write, end } = response
  /** The copy of a body in pieces: the application may use their memory for something else. */
  const copy = new CollectedBody(budget)
  let isOver = false
  /** The status that is sent, and the fields that were given with it. A later status has no effect. */
  let head: { status: number; given: Given } | undefined

  response.writeHead = ((...values: unknown[]) => {
    const written = Reflect.apply(writeHead, response, values)
    // The reason phrase may come before the fields.
    const [, second, third] = values
    head ??= { status: response.statusCode, given: (typeof second === 'string' ? third : (second ?? third)) as Given }
    return written
  }) as ServerResponse['writeHead']

  response.write = ((chunk: unknown, ...rest: unknown[]) => {
    const hasRoom = Reflect.apply(write, response, [chunk, ...rest])
    const piece = bytesOfChunk(chunk, rest[0])
    if (!isOver && !isBodiless && piece !== undefined) copy.add(piece)
    return hasRoom
  }) as ServerResponse['write']

  response.end = ((...values: unknown[]) => {
    Reflect.apply(end, response, values)
    if (!isOver) {
      isOver = true
      finish(seenOf(bytesOfChunk(values[0], values[1])))
      copy.release()
    }
    return response
  }) as ServerResponse['end']

  response.on('close', () => {
    if (isOver) return
    isOver = true
    copy.release()
    finish(undefined)
  })

  function seenOf(last: Buffer | undefined): SeenResponse {
    const status = head?.status ?? response.statusCode
    const headers = headersOf(response, head?.given)
    if (isBodiless || status === 204 || status === 304) return { status, headers, body: EMPTY_BODY }
    // A body in one piece needs no copy.
    const isWhole = copy.size === 0 && last !== undefined && last.length <= BODY_LIMIT
    if (!isWhole && last !== undefined) copy.add(last)
    const { missing: reason, bytes } = copy
    const isKnown = reason === undefined
    const body = isKnown ? decodeBody(isWhole ? last : bytes, headers['content-encoding']) : unknownBody(reason)
    return { status, headers, body }
  }
}

/**
 * Fields that were given with the status are only in the list of Node.js if there were others before. Connection is one
 * of those that Node.js adds: without any field, the header would count as not recorded.
 */
function headersOf(response: ServerResponse, given: Given): SeenHeaders {
  const set = response.getHeaders()
  const pairs: [string, string][] = [['Connection', 'keep-alive']]
  for (const [name, value] of Object.entries(set)) pairs.push(...pairsOf(name, value))
  for (const [name, value] of givenPairs(given)) if (!(name.toLowerCase() in set)) pairs.push([name, value])
  return readFields(pairs, (text) => text)
}

function pairsOf(name: string, value: unknown): [string, string][] {
  return Array.isArray(value) ? value.map((each) => [name, `${each}`]) : [[name, `${value}`]]
}

/** What was given to `writeHead`: an object, pairs, or names and values that alternate. */
function givenPairs(given: Given): readonly [string, string][] {
  if (given === undefined) return []
  if (!Array.isArray(given)) return Object.entries(given).flatMap(([name, value]) => pairsOf(name, value))
  if (Array.isArray(given[0])) return given.flatMap(([name, value]) => pairsOf(`${name}`, value))
  return given.flatMap((name, index) => (index % 2 === 0 ? pairsOf(`${name}`, given[index + 1]) : []))
}

/** The bytes of what an application writes, in the same memory if they are bytes; `undefined` if it is no content. */
function bytesOfChunk(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as 'utf8') : 'utf8')
  if (Buffer.isBuffer(chunk)) return chunk
  return chunk instanceof Uint8Array ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined
}
