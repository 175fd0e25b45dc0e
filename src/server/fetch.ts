import { STATUS_CODES } from 'node:http'
import type { Arrival } from '../ground/arrival.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { bytesOf } from '../ground/content.ts'
import type { Delivery, Response as SentResponse } from '../ground/delivery.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { waitUntil } from '../ground/waiting.ts'
import { inPieces } from './carrier.ts'
import { type AskControl, openControlConnections } from './control-connection.ts'
import { arrivalOf } from './direct-arrival.ts'
import { closed, type Fetch, fetchFailed, fieldsOf, readRequest, reset, stopped, targetOf } from './fetch-request.ts'
import type { RequestHandler } from './http-server.ts'

/** The control plane, and the requests that it answers in place of the service. */
export interface ControlService {
  serve: RequestHandler
  owns(request: Pick<Arrival, 'method' | 'url' | 'headers'>): boolean
}

export interface FetchDeps {
  answer(arrival: Arrival): Awaitable<Delivery | undefined>
  /** In bytes, the longest body that the service reads. */
  bodyLimit: number
  /** Absent if it is not served. */
  control: ControlService | undefined
  baseUrl: string
  stopping: AbortSignal
}

export interface FetchDoor {
  readonly fetch: Fetch
  /** Resolves when no request is under way. Those that take longer than the milliseconds are ended. */
  close(patience: number): Promise<void>
}

/** Statuses whose responses have no body, and not even an empty one. */
const BODILESS = new Set([204, 205, 304])
/** Fields about the connection. A response without a connection has none of them. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])
/** Methods of which a request without a body says so. */
const EXPECTING = new Set(['PATCH', 'POST', 'PUT'])

/**
 * The way in for a program that has a web-standard `Request`. The service and the control plane answer it as on a
 * connection, but no port is needed. Only the path and the query of its URL count.
 */
export function openFetch({ answer, bodyLimit, control, baseUrl, stopping }: FetchDeps): FetchDoor {
  const { host } = new URL(baseUrl)
  const askControl: AskControl | undefined = control && openControlConnections(control.serve)
  /** One for each request that is under way; aborted when its client leaves, with the error that it gets. */
  const underWay = new Set<AbortController>()
  let isEmpty = () => {}

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = readRequest(input, init, `${baseUrl}/domains`)
    if (stopping.aborted) throw fetchFailed(stopped())
    request.signal.throwIfAborted()
    const leaving = new AbortController()
    // It holds the request, without which its signal may be forgotten.
    request.signal.addEventListener('abort', () => leaving.abort(request.signal.reason), { once: true })
    underWay.add(leaving)
    try {
      return await untilAborted(leaving.signal, serve(request, leaving.signal))
    } finally {
      underWay.delete(leaving)
      if (underWay.size === 0) isEmpty()
    }
  }

  async function serve(request: Request, leaving: AbortSignal): Promise<Response> {
    const { method } = request
    const target = targetOf(request)
    const fields = fieldsOf(request)
    // An application may have received the request from another machine, so its Host counts for the control plane.
    const named = request.headers.get('host') ?? host
    if (askControl !== undefined && control?.owns({ method, url: target, headers: { host: named } })) {
      const {
        statusCode: status = 0,
        rawHeaders,
        body,
      } = await askControl(request, ['host', named, ...fields], leaving)
      return responseTo(request, { status, headers: rawHeaders }, body)
    }
    const body = await readBody(request, bodyLimit, leaving)
    const framing = body.length > 0 || EXPECTING.has(method) ? ['content-length', `${body.length}`] : []
    const arrival = arrivalOf({ method, target, headers: ['host', host, ...fields, ...framing], body, leaving })
    const delivery = await answer(arrival)
    // The service has nothing to say to a client that has left.
    if (delivery === undefined) throw fetchFailed(closed())
    if (!('lost' in delivery)) {
      return responseTo(
        request,
        delivery,
        bodyOf(delivery, (between) => arrival.wait(between, stopping), leaving),
      )
    }
    if (delivery.lost === 'hang') await waitUntil(undefined, stopping, leaving)
    throw fetchFailed(delivery.lost === 'reset' ? reset() : closed())
  }

  async function close(patience: number): Promise<void> {
    if (underWay.size === 0) return
    const empty = new Promise<void>((resolve) => {
      isEmpty = resolve
    })
    const deadline = setTimeout(() => {
      for (const leaving of underWay) leaving.abort(fetchFailed(closed()))
    }, patience)
    await empty
    clearTimeout(deadline)
  }

  return { fetch, close }
}

/** What comes first: the value, or the reason of an abort. */
function untilAborted<Value>(signal: AbortSignal, value: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    value.then(resolve, reject)
  })
}

/**
 * The body of a request, or so much of it that the service sees that it is too long. Rejects with what breaks it off,
 * as `fetch` does.
 */
async function readBody({ body }: Request, longest: number, leaving: AbortSignal): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader()
  leaving.addEventListener('abort', () => void reader?.cancel(leaving.reason).catch(() => {}), { once: true })
  while (reader !== undefined && size <= longest) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw fetchFailed(error)
    })
    if (done) break
    if (!(value instanceof Uint8Array)) throw fetchFailed(new TypeError('Received non-Uint8Array chunk'))
    size += value.length
    pieces.push(value)
  }
  // A reader that was cancelled is done, too, and half of a body must change nothing.
  leaving.throwIfAborted()
  // A source that cannot be cancelled has nobody who could be told.
  if (size > longest) void reader?.cancel().catch(() => {})
  return Buffer.concat(pieces)
}

/** The body of a response of the service. `wait` waits between the pieces of one that is sent slowly. */
function bodyOf(
  { body, transmission }: SentResponse,
  wait: (milliseconds: number) => Promise<void>,
  leaving: AbortSignal,
): ReadableStream<Uint8Array> {
  // A copy: a stream takes the memory of its pieces away, and the service may send the same bytes again.
  const bytes = Buffer.from(bytesOf(body))
  const pause = async (milliseconds: number) => {
    await wait(milliseconds)
    leaving.throwIfAborted()
  }
  // Never the bytes themselves: the response that Node.js makes of them never ends where a test replaces microtasks.
  if (transmission === undefined) return ReadableStream.from(whole(bytes))
  return ReadableStream.from(
    transmission.way === 'slowly' ? inPieces(bytes, transmission.milliseconds, pause) : half(bytes),
  )
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

/** Half of the bytes, after which nothing comes. */
async function* half(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 1) yield bytes.slice(0, bytes.length >> 1)
  if (bytes.length > 0) throw new TypeError('terminated', { cause: closed() })
}

/** A response as `fetch` gives it. In `headers`, names and values alternate. @throws TypeError for a malformed field */
function responseTo(
  { method, url }: Request,
  { status, headers: fields }: { status: number; headers: readonly (string | number)[] },
  body: ReadableStream<Uint8Array>,
): Response {
  const headers = new Headers()
  for (let index = 0; index < fields.length; index += 2) {
    const name = `${fields[index]}`
    if (!OF_CONNECTION.has(name.toLowerCase())) headers.append(name, `${fields[index + 1]}`)
  }
  const given = method === 'HEAD' || BODILESS.has(status) ? null : body
  const response = new Response(given, { status, statusText: STATUS_CODES[status] ?? 'unknown', headers })
  return Object.defineProperty(response, 'url', { value: url.replace(/#.*/, '') })
}

/**
 * Sends requests to the server at a base URL, whatever the origin of their URL is, as `openFetch` answers them. `close`
 * ends those that are under way.
 */
export function fetchFrom(baseUrl: string): { fetch: Fetch; close(): void } {
  const closing = new AbortController()
  async function fetchThere(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = readRequest(input, init, `${baseUrl}/domains`)
    if (closing.signal.aborted) throw fetchFailed(stopped())
    const { method, body } = request
    const fields = fieldsOf(request)
    const headers = new Headers()
    for (let index = 0; index < fields.length; index += 2) headers.append(`${fields[index]}`, `${fields[index + 1]}`)
    const signal = AbortSignal.any([request.signal, closing.signal])
    const sent = { method, headers, body, signal, duplex: 'half', redirect: 'manual' } satisfies RequestInit
    return globalThis.fetch(new URL(targetOf(request), baseUrl), sent)
  }
  return { fetch: fetchThere, close: () => closing.abort(fetchFailed(closed())) }
}
