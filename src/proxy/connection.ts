import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { setImmediate } from '../ground/timers.ts'
import { flushHeader, responseOn, sendInterim, sendRequestHeader, setResponseHeader } from './node-internals.ts'
import type { ProxyTarget } from './target.ts'
import type { Draft, HeaderField, ProxyTraffic } from './traffic.ts'

/** How many bytes a header may have. Servers accept 8 to 64 KiB. */
export const HEADER_LIMIT = 128 << 10
/** How many requests of one connection may wait for a response. */
const PIPELINE_LIMIT = 1_000
/** In milliseconds: how long it may take to open a connection to the service. */
const CONNECT_PATIENCE = 30_000
/** In milliseconds: how long a client may take to receive the rest when its connection is closed. */
const FLUSH_PATIENCE = 10_000

/** What a connection needs from the proxy. */
export interface ConnectionDeps {
  target: ProxyTarget
  traffic: ProxyTraffic
  /** The value that takes the place of a field `Host`. */
  hostFor(value: string): string
  /** The service could not be reached, or it broke off the connection. */
  failed(error: NodeJS.ErrnoException, hasConnected: boolean): void
  /** A message could not be passed on, because it is malformed. The reason is a sentence. */
  malformed(reason: string): void
  /** Reports each connection to the service before it is used. */
  opened(service: Socket): void
}

/**
 * The connection of a client, with a connection to the service that is used by nobody else. So what one of them does
 * with its connection has the same effect for the other as without a proxy.
 */
export class ProxiedConnection {
  readonly client: Socket
  readonly #deps: ConnectionDeps
  readonly #agent: http.Agent
  /** The requests whose response is not completely sent. */
  readonly #open = new Map<http.ServerResponse, { draft: Draft; outgoing: http.ClientRequest }>()
  #isOver = false
  #hasConnected = false
  /** Whether the service has closed its connection. */
  #isServiceGone = false
  /** Why the connection was closed, as a sentence. */
  #end = 'The client has closed the connection.'
  /** What is sent when all requests are answered. */
  #lastWords: string | undefined

  constructor(client: Socket, deps: ConnectionDeps) {
    this.client = client
    this.#deps = deps
    const { Agent } = deps.target.isSecure ? https : http
    this.#agent = new Agent({ ...deps.target.tls, keepAlive: true, maxSockets: 1 })
    // Only the service and the client decide how long a connection is kept.
    this.#agent.keepSocketAlive = () => !this.#isOver
    // It would open a connection for a request that waits, even if that request is given up.
    const connect = this.#agent.createConnection.bind(this.#agent)
    this.#agent.createConnection = (options, done) => {
      if (!this.#isOver) return connect(options, done)
      done?.(new Error(this.#end), undefined as never)
      return undefined
    }
    client.once('close', () => this.#leaveService())
    client.once('end', () => {
      // No further request comes, so the connection ends with this response, and the service may know it.
      const [response, passed] = [...this.#open].at(-1) ?? []
      if (response === undefined || passed === undefined) return
      response.shouldKeepAlive = false
      const { outgoing } = passed
      if (outgoing.writableFinished) outgoing.socket?.end()
      else outgoing.once('finish', () => outgoing.socket?.end())
    })
  }

  /** How many requests wait for the end of their response. */
  get open(): number {
    return this.#open.size
  }

  /** Passes a request on, and its response back, while they arrive. */
  pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { target, traffic, hostFor } = this.#deps
    if (this.#isOver) return
    if (this.#open.size >= PIPELINE_LIMIT) {
      this.breakOff(`The connection had ${PIPELINE_LIMIT} requests without a response.`, false)
      return
    }
    const { method = '', url = '', httpVersion: version } = request
    const httpVersion = `HTTP/${version}`
    const fields = pairsOf(request.rawHeaders).map(
      ([name, value]): HeaderField => [name, /^host$/i.test(name) ? hostFor(value) : value],
    )
    const draft = traffic.begin({ method, target: url, httpVersion, fields })
    const outgoing = http.request({
      ...{ agent: this.#agent, method, maxHeaderSize: HEADER_LIMIT, setHost: false },
      ...{ protocol: target.isSecure ? 'https:' : 'http:', host: target.host, port: target.port },
    })
    outgoing.maxHeadersCount = 0
    this.#open.set(response, { draft, outgoing })
    outgoing.on('socket', (service) => this.#use(service))
    outgoing.on('information', ({ statusCode, statusMessage, httpVersion: answered, rawHeaders }) => {
      const lines = pairsOf(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
      sendInterim(response, `HTTP/${answered} ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`)
    })
    outgoing.on('response', (answer) => this.#answer(answer, response, draft))
    outgoing.on('upgrade', (_, service) => {
      service.destroy()
      this.#refuse(response, 'The service changes to another protocol')
    })
    outgoing.on('error', (error) => this.#fail(error, response, draft))
    // What the service does not take any more is left out.
    outgoing.on('close', () => request.resume())
    request.on('error', () => {})
    request.on('end', () => draft.endRequest())
    request.on('close', () => {
      if (!request.readableEnded) draft.end(this.#end)
    })
    response.on('error', () => {})
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy()
      draft.end(this.#end)
      this.#open.delete(response)
      this.#settle()
    })
    sendRequestHeader(outgoing, `${method} ${url} ${httpVersion}`, fields.flat())
    passBody(request, outgoing, draft.exchange.request.body)
  }

  /** Answers what is no HTTP, after all requests before it. */
  refuse(error: NodeJS.ErrnoException & { reason?: string }): void {
    const { client } = this
    if (!client.writable || error.code === 'ECONNRESET') {
      client.destroy()
      return
    }
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW'
    const reason = isTooLarge
      ? `A request has a header of more than ${HEADER_LIMIT >> 10} KiB`
      : `A request is not valid HTTP/1.1 (${error.reason ?? error.message})`
    this.#deps.malformed(`${reason}, so it was not passed on.`)
    const unfinished = [...this.#open.keys()].find((response) => !response.req.complete)
    // The end of this request never comes, so no response to it is waited for.
    if (unfinished !== undefined) this.breakOff(`${reason}.`, false, refusal(isTooLarge ? 431 : 400, reason))
    else {
      this.#lastWords = refusal(isTooLarge ? 431 : 400, reason)
      this.#settle()
    }
  }

  /**
   * Closes both sides. Bytes that were sent still reach the client. `resets` says whether the client then sees a broken
   * connection. `words` are sent before, unless something else has to be sent first.
   */
  breakOff(reason: string, resets: boolean, words = ''): void {
    const { client } = this
    this.#end = reason
    for (const { draft } of this.#open.values()) draft.end(reason)
    this.#leaveService()
    if (client.destroyed) return
    client.setTimeout(FLUSH_PATIENCE, () => client.destroy())
    const isFirst = this.#open.size <= 1 && responseOn(client)?.headersSent !== true
    if (words !== '' && isFirst) client.write(words, 'latin1')
    if (!resets) client.destroySoon()
    else if (client.writableLength === 0) client.resetAndDestroy()
    else client.write('', () => client.resetAndDestroy())
  }

  #answer(answer: http.IncomingMessage, response: http.ServerResponse, draft: Draft): void {
    const { statusCode: status = 0, statusMessage: reason = '', httpVersion } = answer
    draft.answer({ status, reason, httpVersion: `HTTP/${httpVersion}`, fields: pairsOf(answer.rawHeaders) })
    answer.on('error', (error) => this.#fail(error, response, draft))
    try {
      setResponseHeader(response, answer)
    } catch (error) {
      this.#malformedAnswer(error as NodeJS.ErrnoException, response)
      return
    }
    answer.on('end', () => draft.endResponse())
    passBody(answer, response, draft.exchange.response?.body)
    // A body may be slow; if its beginning is here, both are sent together.
    setImmediate(() => {
      if (!response.writableEnded) flushHeader(response)
    })
  }

  /** Each connection to the service closes that of the client with it. */
  #use(service: Socket): void {
    if (service.listenerCount('close', this.#lose) > 0) return
    this.#isServiceGone = false
    this.#hasConnected = false
    service.setTimeout(CONNECT_PATIENCE, () =>
      service.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
    )
    service.once('connect', () => this.#deps.opened(service))
    service.once(this.#deps.target.isSecure ? 'secureConnect' : 'connect', () => {
      this.#hasConnected = true
      service.setTimeout(0)
    })
    service.once('close', this.#lose)
  }

  readonly #lose = () => {
    this.#isServiceGone = true
    this.#settle()
  }

  /** Sends the service nothing more, also none of the requests that still wait for those before them. */
  #leaveService(): void {
    this.#isOver = true
    for (const { outgoing } of this.#open.values()) outgoing.destroy()
    this.#agent.destroy()
  }

  /** Closes the connection if nothing more can come on it. */
  #settle(): void {
    if (this.#open.size > 0) return
    if (this.#lastWords !== undefined) this.breakOff('A request is malformed.', false, this.#lastWords)
    else if (this.#isServiceGone) this.breakOff('The service has closed the connection.', false)
  }

  #fail(error: NodeJS.ErrnoException, response: http.ServerResponse, draft: Draft): void {
    if (draft.isOver || response.writableEnded || response.destroyed) return
    if (error.code?.startsWith('HPE_')) {
      this.#malformedAnswer(error, response)
      return
    }
    this.#deps.failed(error, this.#hasConnected)
    const reason = `The service could not be reached or has broken the connection off: ${error.message}.`
    this.breakOff(reason, true)
  }

  #malformedAnswer(error: NodeJS.ErrnoException & { reason?: string }, response: http.ServerResponse): void {
    this.#refuse(response, `The response of the service is not valid HTTP/1.1 (${error.reason ?? error.message})`)
  }

  /** Answers in the place of the service, unless its response has begun. */
  #refuse(response: http.ServerResponse, reason: string): void {
    this.#deps.malformed(`${reason}, so it was not passed on.`)
    this.breakOff(`${reason}.`, false, responseOn(this.client) === response ? refusal(502, reason) : '')
  }
}

/** Passes a body on no faster than the other side takes it, with its trailers. */
function passBody(from: http.IncomingMessage, to: http.OutgoingMessage, copy: { add(part: Buffer): void } | undefined) {
  from.on('data', (part: Buffer) => copy?.add(part))
  from.pipe(to, { end: false })
  from.on('end', () => {
    if (from.rawTrailers.length > 0) to.addTrailers(pairsOf(from.rawTrailers))
    to.end()
  })
}

/** Names and values alternate in `raw`. */
function pairsOf(raw: readonly string[]): HeaderField[] {
  return raw.flatMap((name, index): HeaderField[] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
}

/** A response of the proxy itself. */
export function refusal(status: number, reason: string): string {
  const body = `dmarc-understudy proxy: ${reason}, so it was not passed on.\n`
  const fields = ['Content-Type: text/plain', `Content-Length: ${body.length}`, 'Connection: close']
  return [`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`, ...fields, '', body].join('\r\n')
}
