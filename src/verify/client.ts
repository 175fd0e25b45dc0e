import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { explainFailure } from '../exchanges/connection-failure.ts'

/** A request as it is sent over the connection. */
export interface WireRequest {
  method: string
  /** Below the base URL, with the query. */
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer | undefined
}

export interface WireResponse {
  status: number
  /** Names and values alternate; names are as they were sent. */
  rawHeaders: readonly string[]
  body: Buffer
  /** Whether the body is longer than what is read of one. Then `body` is empty. */
  isTooLong?: boolean
}

/** Why no response came, as a sentence for the user. */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
  /** Whether an open connection was lost, so that the service may have got the request, and may answer the next one. */
  readonly isCut: boolean

  constructor(message: string, isCut = false) {
    super(message)
    this.isCut = isCut
  }
}

/** The largest response body that is read, in bytes: to judge it takes time. 25,000 records of /dmarc need less. */
export const LARGEST_RESPONSE = 4 << 20
/** The largest header of a response, in bytes. */
const LARGEST_RESPONSE_HEADER = 64 << 10

/** @throws ConnectionError if no complete response came. */
export type Send = (request: WireRequest) => Promise<WireResponse>

/**
 * Sends requests to a service, and waits so many milliseconds until a response is complete. It follows no redirect and
 * decodes nothing. Each request has its own connection: the service may be about to close an idle one, and then nobody
 * would know whether the request arrived.
 */
export function sendTo(base: URL, timeout: number): Send {
  const request = base.protocol === 'https:' ? requestHttps : requestHttp
  return async ({ method, path, headers, body }) => {
    const signal = AbortSignal.timeout(timeout)
    const sent = request(base, {
      ...{ agent: false, method, signal, maxHeaderSize: LARGEST_RESPONSE_HEADER },
      path: base.pathname.replace(/\/$/, '') + path,
      headers: { ...headers, ...(body !== undefined && { 'Content-Length': String(body.length) }) },
    })
    // What fails after the response has begun is an error of the response.
    sent.on('error', () => {})
    // Node.js takes 101 for no response (RFC 9110 §15.2.2), although nobody has asked for another protocol.
    sent.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      sent.emit('error', new ConnectionError(`what came back is no response, but another protocol (${statusCode})`))
    })
    try {
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return await receive(response)
    } catch (error) {
      if (!signal.aborted) throw error instanceof ConnectionError ? error : explain(error as Error, sent)
      throw new ConnectionError(`no complete response came within ${Math.round(timeout / 1000)} s (--timeout)`)
    } finally {
      sent.destroy()
    }
  }
}

async function receive(response: IncomingMessage): Promise<WireResponse> {
  const { statusCode: status = 0, rawHeaders } = response
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += (chunk as Buffer).length
    if (size > LARGEST_RESPONSE) return { status, rawHeaders, body: Buffer.alloc(0), isTooLong: true }
    chunks.push(chunk as Buffer)
  }
  return { status, rawHeaders, body: Buffer.concat(chunks) }
}

function explain(error: NodeJS.ErrnoException, { socket }: ClientRequest): ConnectionError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new ConnectionError(`the header of the response has more than ${LARGEST_RESPONSE_HEADER >> 10} KiB`)
  }
  const { kind, reason } = explainFailure(error, socket !== null && !socket.connecting)
  const remedy = kind === 'certificate' ? '; NODE_EXTRA_CA_CERTS names a file with further authorities' : ''
  return new ConnectionError(reason + remedy, kind === 'cut')
}
