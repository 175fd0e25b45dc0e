import { type IncomingMessage, request as openRequest, type Server, STATUS_CODES } from 'node:http'
import { duplexPair } from 'node:stream'
import { show } from '../ground/show.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { closeServer, STOP_PATIENCE } from './http-server.ts'

/** The same as the global `fetch` of Node.js. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface FetchDeps {
  /** Makes the server of the stand-in, which need not listen. */
  openServer(): Server
  /** Whether the control plane answers the request in place of the service. */
  isForControl(request: { method: string; url: string; headers: { host: string } }): boolean
  /** In bytes, the longest body that the service reads. */
  bodyLimit: number
  baseUrl: string
  stopping: AbortSignal
}

export interface FetchDoor {
  readonly fetch: Fetch
  /** Resolves when no request is under way. Those that take too long are ended. */
  close(): Promise<void>
}

/** Statuses whose responses have no body, and not even an empty one. */
const BODILESS = new Set([204, 205, 304])
/** Fields about the connection. A response without a connection has none of them. */
const OF_RESPONSE = new Set(['connection', 'keep-alive', 'transfer-encoding'])
/** In bytes, more than the control plane reads of a body. */
const LONGEST = 64 << 20
/** Methods of which a request without a body says so. */
const EXPECTING = new Set(['PATCH', 'POST', 'PUT'])

/**
 * The way in for a program that has a web-standard `Request`. Each gets a connection to the server of the stand-in, of which
 * both ends are in this process, so that no port is needed. Only the path and the query of its URL count.
 */
export function openFetch({ openServer, isForControl, bodyLimit, baseUrl, stopping }: FetchDeps): FetchDoor {
  const { host } = new URL(baseUrl)
  const ended = new AbortController()
  const underWay = new Set<Promise<Response>>()
  let server: Server | undefined

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = readRequest(input, init, `${baseUrl}/domains`)
    if (stopping.aborted) throw fetchFailed(stopped())
    request.signal.throwIfAborted()
    const leaving = AbortSignal.any([request.signal, ended.signal])
    const { method } = request
    const url = targetOf(request)
    // An application may have received the request from another machine, so its Host counts for the control plane.
    const named = request.headers.get('host') ?? host
    const isControl = isForControl({ method, url, headers: { host: named } })
    const body = await readBody(request, isControl ? LONGEST : bodyLimit, leaving)
    const framing = body.length > 0 || EXPECTING.has(method) ? ['content-length', `${body.length}`] : []
    const headers = ['host', isControl ? named : host, ...fieldsOf(request), ...framing]
    const message = await send({ method, path: url, headers }, body, leaving)
    return responseTo(request, message, leaving)
  }

  function send(
    options: { method: string; path: string; headers: string[] },
    body: Buffer,
    leaving: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      // A reader that was cancelled is done, too, and half of a body must change nothing.
      leaving.throwIfAborted()
      const sending = openRequest({ ...options, createConnection: connect })
      const leave = () => sending.destroy()
      leaving.addEventListener('abort', leave, { once: true })
      sending.once('close', () => leaving.removeEventListener('abort', leave))
      sending.once('response', resolve)
      sending.on('error', (error) => reject(leaving.aborted ? leaving.reason : fetchFailed(causeOf(error))))
      sending.end(body)
    })
  }

  function connect() {
    server ??= openServer()
    const [near, far] = duplexPair()
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
    far.on('error', () => {})
    // What faults do to the socket of a connection.
    Object.assign(far, {
      resetAndDestroy: () => near.destroy(reset()),
      destroySoon: () => far.end(() => far.destroy()),
    })
    server.emit('connection', far)
    return near
  }

  async function close(): Promise<void> {
    const deadline = setTimeout(() => ended.abort(fetchFailed(closed())), STOP_PATIENCE)
    await Promise.allSettled(underWay)
    clearTimeout(deadline)
    if (server !== undefined) await closeServer(server)
  }

  return {
    fetch(input, init) {
      const response = fetch(input, init)
      underWay.add(response)
      const end = () => underWay.delete(response)
      response.then(end, end)
      return response
    },
    close,
  }
}

/** The body of a request, or enough of one that is too long. Rejects with what breaks it off, as `fetch` does. */
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
  // A source that cannot be cancelled has nobody who could be told.
  if (size > longest) void reader?.cancel().catch(() => {})
  return Buffer.concat(pieces)
}

/** A response as `fetch` gives it. @throws TypeError for a malformed field */
function responseTo(request: Request, message: IncomingMessage, leaving: AbortSignal): Response {
  const { statusCode: status = 0, rawHeaders } = message
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = `${rawHeaders[index]}`
    if (!OF_RESPONSE.has(name.toLowerCase())) headers.append(name, `${rawHeaders[index + 1]}`)
  }
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of message) yield piece
    } catch {
      // Naming the request here holds it, without which its signal may be forgotten.
      throw leaving.aborted
        ? (request.signal.reason ?? leaving.reason)
        : new TypeError('terminated', { cause: closed() })
    }
  }
  const isBodiless = request.method === 'HEAD' || BODILESS.has(status)
  if (isBodiless) message.resume()
  const body = isBodiless ? null : ReadableStream.from(read())
  const response = new Response(body, { status, statusText: STATUS_CODES[status] ?? 'unknown', headers })
  return Object.defineProperty(response, 'url', { value: request.url.replace(/#.*/, '') })
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

/**
 * The request that `fetch` would send with these arguments. It may come from another implementation of the standard.
 * @throws TypeError for anything else, and for a body that was read before
 */
function readRequest(input: unknown, init: RequestInit | undefined, example: string): Request {
  if (!isRequest(input)) {
    // A test runner with a browser's globals has a class `URL` of its own.
    if (typeof input !== 'string' && typeof Object(input).href !== 'string') {
      throw new TypeError(`fetch takes a Request, or a URL such as ${example}; ${show(input)} is neither.`)
    }
    checkUrl(`${input}`, example)
    return new Request(`${input}`, init)
  }
  if (input.bodyUsed || input.body?.locked) {
    throw new TypeError(`The body of ${input.method} ${input.url} was read before, so it cannot be sent; pass a clone.`)
  }
  checkUrl(input.url, example)
  if (!(input instanceof Request)) {
    const { url, method, headers, body, signal } = input as Request
    return new Request(url, { method, headers: [...headers], body, signal, duplex: 'half', ...init } as RequestInit)
  }
  return init === undefined ? input : new Request(input, init)
}

function checkUrl(url: string, example: string): void {
  if (!URL.canParse(url)) throw new TypeError(`${show(url)} is no absolute URL; give one such as ${example}.`)
  const { protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`${show(url)} is no URL of HTTP; give one such as ${example}.`)
  }
}

/** Whether it has what a request has. Each implementation of the standard has a class of its own. */
function isRequest(input: unknown): input is Request {
  if (typeof input !== 'object' || input === null) return false
  const { url, method, headers } = input as Partial<Record<keyof Request, unknown>>
  return typeof url === 'string' && typeof method === 'string' && typeof Object(headers)[Symbol.iterator] === 'function'
}

/** The part of a URL that a server gets (RFC 9112 §3.2.1). */
function targetOf({ url }: Request): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Fields about the connection on which an application has received the request, or would send it. */
const OF_CONNECTION = new Set(
  'connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
)

/** The fields of a request that are not about a connection; names and values alternate. */
function fieldsOf({ headers }: Request): string[] {
  return [...headers].flatMap((field) => (OF_CONNECTION.has(field[0]) ? [] : field))
}

/** The error with which the `fetch` of Node.js rejects if it gets no response. Clients look at the code of its cause. */
function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause })
}

/** The cause as the `fetch` of Node.js has it: the connection was reset, or else closed. */
function causeOf(error: NodeJS.ErrnoException): Error {
  return error.syscall === 'read' ? error : closed()
}

function closed(): Error {
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' })
}

function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { errno: -104, code: 'ECONNRESET', syscall: 'read' })
}

/** There is no server any more. */
function stopped(): Error {
  return Object.assign(new Error('The stand-in has stopped, so it answers no request.'), { code: 'ECONNREFUSED' })
}
