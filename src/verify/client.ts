import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { elapsed } from '../ground/clock.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'

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

/** The largest response body that is read, in bytes; a list of 100,000 domains needs less. */
export const LARGEST_RESPONSE = 32 << 20
/** The largest header of a response, in bytes. */
const LARGEST_RESPONSE_HEADER = 64 << 10
/** In milliseconds. The other side may be about to close a connection that was idle for longer. */
const FRESH = 1_000

/** Sends requests to a service, one after the other. It follows no redirect and decodes nothing. */
export class Client {
  readonly #base: URL
  readonly #timeout: number
  readonly #agent: HttpAgent
  #lastUse = Number.NEGATIVE_INFINITY

  /** `timeout` is the time until the response must be complete, in milliseconds. */
  constructor(base: URL, timeout: number) {
    this.#base = base
    this.#timeout = timeout
    const options = { keepAlive: true, maxSockets: 1 }
    this.#agent = base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /** @throws ConnectionError if no complete response came. */
  async send(request: WireRequest): Promise<WireResponse> {
    // If the other side closes the connection meanwhile, the request is lost, and it is unknown whether it arrived.
    if (elapsed() - this.#lastUse > FRESH) this.#agent.destroy()
    try {
      return await this.#exchange(request)
    } finally {
      this.#lastUse = elapsed()
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #exchange({ method, path, headers, body }: WireRequest): Promise<WireResponse> {
    const { protocol, hostname, port, pathname } = this.#base
    const send = protocol === 'https:' ? requestHttps : requestHttp
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const sent = send({
        agent: this.#agent,
        method,
        protocol,
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? undefined : port,
        path: pathname.replace(/\/$/, '') + path,
        headers: { ...headers, ...(body !== undefined && { 'Content-Length': String(body.length) }) },
        maxHeaderSize: LARGEST_RESPONSE_HEADER,
      })
      const fail = (error: Error) => {
        clearTimeout(timer)
        sent.destroy()
        reject(error)
      }
      timer = setTimeout(() => {
        const seconds = Math.round(this.#timeout / 1000)
        fail(new ConnectionError(`no complete response came within ${seconds} s (--timeout)`))
      }, this.#timeout)
      sent.on('error', (error: NodeJS.ErrnoException) => fail(explain(error, sent)))
      sent.on('response', (response) => {
        receive(response).then((received) => {
          clearTimeout(timer)
          resolve(received)
        }, fail)
      })
      sent.end(body)
    })
  }
}

async function receive(response: IncomingMessage): Promise<WireResponse> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      size += (chunk as Buffer).length
      if (size > LARGEST_RESPONSE) {
        throw new ConnectionError(`the response has more than ${LARGEST_RESPONSE >> 20} MiB`)
      }
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (error instanceof ConnectionError) throw error
    throw new ConnectionError('the connection was closed in the middle of the response', true)
  }
  return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body: Buffer.concat(chunks) }
}

/** Error codes from before anything was sent, with their meaning for the user. */
const BEFORE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'there is no host of this name (ENOTFOUND)',
  EAI_AGAIN: 'the name of the host could not be looked up (EAI_AGAIN)',
  EHOSTUNREACH: 'there is no way to the host (EHOSTUNREACH)',
  ENETUNREACH: 'there is no way to the host (ENETUNREACH)',
  ETIMEDOUT: 'the host does not answer (ETIMEDOUT)',
  ECONNABORTED: 'the connection could not be made (ECONNABORTED)',
}

function explain(error: NodeJS.ErrnoException, { socket, reusedSocket }: ClientRequest): ConnectionError {
  if (error instanceof ConnectionError) return error
  const { code = '', message } = error
  if (Object.hasOwn(BEFORE, code)) return new ConnectionError(BEFORE[code] ?? code)
  if (code.startsWith('HPE_HEADER_OVERFLOW')) {
    return new ConnectionError(`the header of the response has more than ${LARGEST_RESPONSE_HEADER >> 10} KiB`)
  }
  if (code.startsWith('HPE_')) return new ConnectionError(`what came back is not HTTP (${code})`)
  const isConnected = reusedSocket || (socket !== null && !socket.connecting)
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|LEAF_SIGNATURE/.test(code)) {
    const remedy = 'NODE_EXTRA_CA_CERTS names a file with further authorities'
    return new ConnectionError(`its certificate is not trusted (${code}); ${remedy}`)
  }
  if (code.startsWith('ERR_SSL') || code === 'EPROTO' || /TLS connection/.test(message)) {
    return new ConnectionError(`there is no TLS at this port (${code}); an http:// URL may be right`)
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || /socket hang up/.test(message)) {
    return new ConnectionError('the connection was closed without a response', isConnected)
  }
  return new ConnectionError(code === '' ? message : `${message} (${code})`, isConnected)
}
