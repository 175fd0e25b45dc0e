import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pairsOf } from '../exchanges/keys.ts'
import { changesSomething } from '../exchanges/reading.ts'
import { createHostCheck } from '../ground/hosts.ts'
import { splitTarget } from '../ground/target.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { closeServer, listen } from '../server/http-server.ts'
import { endToEnd, isOneHop, nextRequest } from './hop.ts'
import { describeFailure, type ProxyTarget, tooLate } from './target.ts'
import type { PassedExchange, ProxyTraffic } from './traffic.ts'

/** How many bytes a header may have. Servers accept 8 to 64 KiB. */
export const HEADER_LIMIT = 128 << 10
/** In milliseconds: how long it may take to open a connection to the service. */
const CONNECT_PATIENCE = 30_000
/** In milliseconds: how long both directions of a connection may be silent. */
const IDLE = 10 * 60_000
/** In milliseconds: how long a connection to the service is kept for a further request. Most servers keep it for 5 s. */
const KEPT = 4_000

const NOTHING = Buffer.alloc(0)
/** The code of our own errors about responses that cannot be passed on. Those of Node.js begin with it. */
const INVALID = 'HPE_'

type HttpError = NodeJS.ErrnoException & { reason?: string }

export interface RelayOptions {
  target: ProxyTarget
  traffic: ProxyTraffic
  host: string
  port: number
  /** This path and the paths below it are never passed on. */
  keptPath: string | undefined
  /** Answers a request to a kept path. */
  answer(request: http.IncomingMessage, response: http.ServerResponse): void
  /** The service could not be reached, or it broke off the connection; the reason is a sentence. */
  failed(reason: string): void
  /** A message was not passed on, because it is malformed or not for the service; the reason is a sentence. */
  unpassed(reason: string): void
}

/** A request on its way: what the client gets, and what is told of it. */
interface Passage {
  request: http.IncomingMessage
  response: http.ServerResponse
  exchange: PassedExchange
  options: https.RequestOptions
}

/**
 * Passes requests on to the service, and its responses back. It is one hop: what the fields of a message say to the next
 * hop stays here, and everything else is passed on with its order, case and repeats, while it arrives.
 */
export class Relay {
  readonly #options: RelayOptions
  readonly #server: http.Server
  readonly #agent: http.Agent
  readonly #isOurs: (host: string) => boolean
  /** The connections of clients that wait for a response. */
  readonly #waiting = new WeakSet<Duplex>()

  constructor(options: RelayOptions) {
    this.#options = options
    const { target, host } = options
    const { Agent } = target.isSecure ? https : http
    this.#agent = new Agent({ ...target.tls, keepAlive: true, timeout: KEPT })
    const passes = createHostCheck(host, [target.authority])
    this.#isOurs = (name) => passes({ headers: { host: name } })
    this.#server = this.#createServer()
  }

  /** Resolves to the origin of the proxy for clients on this machine. Rejects with the error of `listen`. */
  listen(): Promise<string> {
    return listen(this.#server, this.#options.port, this.#options.host)
  }

  /** Accepts no new connection, gives open ones a short time to end, and closes everything. */
  async stop(): Promise<void> {
    await closeServer(this.#server)
    this.#options.traffic.stop('The proxy has stopped.')
    this.#agent.destroy()
  }

  #createServer(): http.Server {
    const take = (request: http.IncomingMessage, response: http.ServerResponse) => this.#take(request, response)
    const patience = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 }
    const limits = { maxHeaderSize: HEADER_LIMIT, requireHostHeader: false, noDelay: true }
    const server = http.createServer({ ...patience, ...limits }, take)
    server.maxHeadersCount = 0
    server.setTimeout(IDLE)
    server.on('checkContinue', take)
    server.on('checkExpectation', take)
    server.on('connect', (_, client) => this.#cut(client, 501, 'A request asks for a tunnel (CONNECT)'))
    server.on('clientError', (error: HttpError, client) => {
      if (!client.writable || error.code === 'ECONNRESET') client.destroy()
      else if (error.code === 'HPE_HEADER_OVERFLOW') {
        this.#cut(client, 431, `A request has a header of more than ${HEADER_LIMIT >> 10} KiB`)
      } else this.#cut(client, 400, `A request is not valid HTTP/1.1 (${error.reason ?? error.message})`)
    })
    return server
  }

  #take(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { socket } = request
    this.#waiting.add(socket)
    response.once('close', () => this.#waiting.delete(socket))
    const { target, keptPath, answer, traffic, unpassed } = this.#options
    const { path } = splitTarget(request.url ?? '')
    if (keptPath !== undefined && (path === keptPath || path.startsWith(`${keptPath}/`))) {
      // A stream of events may be silent for any time.
      request.socket.setTimeout(0)
      answer(request, response)
      return
    }
    const next = nextRequest(request, { authority: target.authority, isOurs: this.#isOurs })
    if ('reason' in next) {
      const sentence = `${next.reason}, so it was not passed on.`
      unpassed(sentence)
      say(response, next.status, sentence)
      return
    }
    if (/100-continue/i.test(request.headers.expect ?? '')) response.writeContinue()
    const { method = '', httpVersion } = request
    const { fields } = next
    const exchange = traffic.begin({ method, target: next.target, httpVersion: `HTTP/${httpVersion}`, fields })
    request.on('data', (part: Buffer) => exchange.request.body.add(part))
    request.on('error', () => {})
    response.on('error', () => {})
    const place = { protocol: target.isSecure ? 'https:' : 'http:', host: target.host, port: target.port }
    const head = { method, path: next.target, headers: fields.flat(), maxHeaderSize: HEADER_LIMIT }
    this.#send({ request, response, exchange, options: { ...place, ...head, agent: this.#agent } })
  }

  #send(passage: Passage): void {
    const { request, response, exchange, options } = passage
    const { target, traffic } = this.#options
    const outgoing = (target.isSecure ? https : http).request(options)
    outgoing.maxHeadersCount = 0
    const isConnected = watchConnection(outgoing, target)
    const fail = (error: HttpError) => {
      if (response.writableEnded || response.destroyed) return
      // The service may have closed a kept connection at this moment, which says nothing about this request.
      const isUnlucky = outgoing.reusedSocket && /^(?:ECONNRESET|EPIPE)$/.test(error.code ?? '')
      if (isUnlucky && exchange.response === undefined && isRepeatable(request)) this.#send(passage)
      else this.#fail(error, isConnected(), passage)
    }
    outgoing.on('error', fail)
    outgoing.on('upgrade', (_, service) => {
      service.destroy()
      fail(Object.assign(new Error('it changes to another protocol'), { code: INVALID }))
    })
    let isAnswered = () => false
    outgoing.on('response', (answer) => {
      isAnswered = () => answer.readableEnded
      answer.on('error', fail)
      this.#answer(answer, passage, fail)
    })
    // What the service does not take any more is left out.
    outgoing.on('close', () => request.resume())
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy()
      const whole = { request: request.readableEnded, response: isAnswered() }
      traffic.end(exchange, 'The connection of the client has ended.', whole)
    })
    // This sends the header before the body is there. `flushHeaders` would write bytes beyond ASCII as UTF-8.
    outgoing.write(NOTHING)
    request.pipe(outgoing)
  }

  #answer(answer: http.IncomingMessage, { response, exchange }: Passage, fail: (error: Error) => void): void {
    const { statusCode: status = 0, statusMessage: reason = '', httpVersion, rawHeaders } = answer
    const fields = pairsOf(rawHeaders)
    try {
      if (!isOneHop(fields)) throw new Error('it has a transfer coding other than chunked')
      response.sendDate = false
      response.writeHead(status, reason, endToEnd(fields).flat())
    } catch (error) {
      answer.destroy()
      fail(Object.assign(error as Error, { code: INVALID }))
      return
    }
    const copy = this.#options.traffic.answer(exchange, { status, reason, httpVersion: `HTTP/${httpVersion}`, fields })
    answer.on('data', (part: Buffer) => copy.add(part))
    response.write(NOTHING)
    answer.pipe(response)
  }

  /** Answers in the place of the service. If a part of its response was sent, only the end of the connection can tell. */
  #fail(error: HttpError, isConnected: boolean, { request, response, exchange }: Passage): void {
    const { target, traffic, failed, unpassed } = this.#options
    const isMalformed = error.code?.startsWith(INVALID) === true
    const malformed = `The response of the service is not valid HTTP/1.1 (${error.reason ?? error.message}).`
    const reason = isMalformed ? malformed : describeFailure(error, target, isConnected).text
    if (isMalformed) unpassed(reason)
    else failed(reason)
    traffic.end(exchange, reason, { request: request.readableEnded, response: false })
    if (response.headersSent) response.destroy()
    else say(response, 502, reason)
  }

  /** Ends a connection on which nothing more can be understood, with a response if none is expected before it. */
  #cut(client: Duplex, status: number, reason: string): void {
    const sentence = `${reason}, so it was not passed on.`
    this.#options.unpassed(sentence)
    client.on('error', () => {})
    const body = wordsFor(sentence)
    const fields = ['Content-Type: text/plain', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close']
    const head = [`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`, ...fields, '', ''].join('\r\n')
    if (this.#waiting.has(client)) client.destroy()
    else client.end(head + body, () => client.destroy())
  }
}

/** Ends the attempt to connect after some time. The function that it returns says whether the connection was opened. */
function watchConnection(outgoing: http.ClientRequest, { isSecure }: ProxyTarget): () => boolean {
  let isConnected = false
  const timer = setTimeout(() => outgoing.destroy(tooLate()), CONNECT_PATIENCE)
  const opened = () => {
    isConnected = true
    clearTimeout(timer)
  }
  outgoing.once('socket', (service: Socket) => {
    if (outgoing.reusedSocket) opened()
    else service.once(isSecure ? 'secureConnect' : 'connect', opened)
  })
  outgoing.once('close', () => clearTimeout(timer))
  return () => isConnected
}

/** A response of the proxy itself. A body that was not passed on is not read as the next request. */
function say(response: http.ServerResponse, status: number, sentence: string): void {
  const body = wordsFor(sentence)
  const fields = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': Buffer.byteLength(body) }
  response.writeHead(status, status === 400 || status === 501 ? { ...fields, Connection: 'close' } : fields)
  response.end(body)
  response.req.resume()
}

function wordsFor(sentence: string): string {
  return `dmarc-understudy proxy: ${sentence}\n`
}

/** Whether a request can be sent again: it changes nothing, and nothing of it has been used up. */
function isRepeatable({ method = '', headers }: http.IncomingMessage): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return !hasBody && !changesSomething(method)
}
