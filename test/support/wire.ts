import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { API_KEY, type TestService, violationsOf } from './service.ts'

export type Header = readonly [name: string, value: string]

export const AUTHORIZED: Header = ['Authorization', `Bearer ${API_KEY}`]
export const JSON_BODY: Header = ['Content-Type', 'application/json']
export const CLOSE: Header = ['Connection', 'close']

export interface WireRequest {
  method?: string
  /** The request target as it stands in the first line. */
  target: string
  headers?: readonly Header[]
  body?: string | Buffer
}

/** A response as it came over the wire. */
export interface WireResponse {
  status: number
  /** Names as they were written, in their order. */
  headers: readonly Header[]
  text: string
}

/** The bytes of a request as a client writes them; a body comes with its Content-Length unless it is chunked. */
export function requestBytes({ method = 'GET', target, headers = [AUTHORIZED], body }: WireRequest): Buffer {
  const content = Buffer.from(body ?? '')
  const framed = body === undefined || headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
  const all: Header[] = [['Host', 'localhost'], ...headers]
  if (!framed) all.push(['Content-Length', String(content.length)])
  const head = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', '']
  return Buffer.concat([Buffer.from(head.join('\r\n')), content])
}

/** A body in the chunked coding, without a Content-Length. */
export function chunked(body: string, size = 65_536): Buffer {
  const bytes = Buffer.from(body)
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes.length; start += size) {
    const chunk = bytes.subarray(start, start + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

/** Sends one request on a connection of its own; its answer is held to the contract as those of the client are. */
export async function exchange(service: TestService, request: WireRequest): Promise<WireResponse> {
  const response = await exchangeAsIs(service, request)
  expectLawful(service, request, response)
  return response
}

/** The same; the answer may be anything that is one response of HTTP. */
export async function exchangeAsIs(service: TestService, request: WireRequest): Promise<WireResponse> {
  const { method = 'GET', target, headers = [AUTHORIZED] } = request
  const bytes = requestBytes({ ...request, headers: [...headers, CLOSE] })
  const [response, ...more] = readResponses(await service.sendRaw(bytes), [method])
  if (response === undefined) throw new Error(`${method} ${target} has no response.`)
  expect(more, `${method} ${target}`).toEqual([])
  return response
}

/** Expects what the contract demands of the response to this request. */
export function expectLawful(service: TestService, { method = 'GET', target }: WireRequest, response: WireResponse) {
  const base = new URL(service.baseUrl).pathname
  const path = target.replace(/^[a-z]+:\/\/[^/]*/i, '')
  const received = { status: response.status, headers: byName(response), body: bodyOf(response) }
  // The paths of the contract are relative to the base; what does not lie below it must match none of them.
  const operated = path.startsWith(`${base}/`) ? path.slice(base.length) : `outside ${path}`
  expect(violationsOf(service.contract, method, operated, received), `${method} ${target} → ${response.text}`).toEqual(
    [],
  )
}

/** The responses in what a connection brought, interim ones left out. `methods` are those of the requests. */
export function readResponses(bytes: string, methods: readonly string[] = []): WireResponse[] {
  const responses: WireResponse[] = []
  let rest: Buffer = Buffer.from(bytes)
  for (;;) {
    const taken = takeResponse(rest, methods[responses.length] === 'HEAD')
    if (taken === undefined) break
    rest = taken.rest
    if (taken.response.status >= 200) responses.push(taken.response)
  }
  expect(rest.toString(), 'what follows the last whole response').toBe('')
  return responses
}

function takeResponse(bytes: Buffer, headOnly: boolean): { response: WireResponse; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [start = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1])
  const headers = lines.map((line): Header => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const length = headOnly || status < 200 ? 0 : Number(headerOf({ headers }, 'content-length') ?? 0)
  const begin = end + 4
  const isStream = headers.some(([name, value]) => /^content-type$/i.test(name) && value === 'text/event-stream')
  if (!headOnly && !isStream && headerOf({ headers }, 'transfer-encoding') === 'chunked') {
    const body = takeChunks(bytes, begin)
    return body && { response: { status, headers, text: body.text }, rest: bytes.subarray(body.end) }
  }
  if (bytes.length < begin + length) return undefined
  const text = bytes.subarray(begin, begin + length).toString()
  return { response: { status, headers, text }, rest: bytes.subarray(begin + length) }
}

/** The text of a body in chunks, and where it ends; `undefined` until all of it is there (RFC 9112 §7.1). */
function takeChunks(bytes: Buffer, start: number): { text: string; end: number } | undefined {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16)
    at = line + 2 + size + 2
    if (bytes.length < at) return undefined
    if (size === 0) return { text: Buffer.concat(chunks).toString(), end: at }
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
  }
}

/** The value of a header; one that is there twice is a mistake of ours. */
export function headerOf({ headers }: Pick<WireResponse, 'headers'>, name: string): string | undefined {
  const values = headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value)
  expect(values.length, `how often the header ${name} is there`).toBeLessThanOrEqual(1)
  return values[0]
}

/** The header fields of a response by their names in lower case. */
export function byName({ headers }: WireResponse): Record<string, string> {
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
}

export interface Envelope {
  success: boolean
  data?: unknown
  error?: { code: string; message: string }
}

/** The parsed body, whose shape the contract has validated. */
export function bodyOf({ text }: WireResponse): Envelope | undefined {
  return text === '' ? undefined : JSON.parse(text)
}

export function codeOf(response: WireResponse): string | undefined {
  return bodyOf(response)?.error?.code
}

export function messageOf(response: WireResponse): string | undefined {
  return bodyOf(response)?.error?.message
}

/** A connection that the test holds in its hands. */
export class Connection {
  readonly socket: Socket
  /** Resolves when it is closed, by whomever. */
  readonly closed: Promise<unknown>
  #received: Buffer = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
    })
  }

  /** A client with `allowHalfOpen` does not close its side when the server has closed its own. */
  static async open({ baseUrl }: Pick<TestService, 'baseUrl'>, allowHalfOpen = false): Promise<Connection> {
    const { hostname, port } = new URL(baseUrl)
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  /** Resolves when the bytes are with the operating system. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, () => resolve()))
  }

  /** The next whole response, interim ones (1xx) included. */
  async next(method = 'GET'): Promise<WireResponse> {
    for (;;) {
      const taken = takeResponse(this.#received, method === 'HEAD')
      if (taken !== undefined) {
        this.#received = taken.rest
        return taken.response
      }
      if (this.socket.destroyed) throw new Error(`The connection was closed after ${this.#received.length} bytes.`)
      await Promise.race([once(this.socket, 'data'), this.closed])
    }
  }

  /** Leaves without a word, as a client that crashes. */
  async destroy(): Promise<void> {
    this.socket.destroy()
    await this.closed
  }
}
