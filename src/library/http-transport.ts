import { type IncomingMessage, request as openRequest } from 'node:http'
import { request as openSecureRequest } from 'node:https'
import type { ControlRequest } from '../admin/control.ts'
import type { AdminCode } from '../contract/control-api.ts'
import { isObject, type Json, readJson } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import type { RequestReport } from '../journal/description.ts'
import { JOURNAL_LIMITS } from '../journal/journal.ts'
import type { RequestReader, Transport } from './control-client.ts'
import { ControlError, type ControlProblem } from './control-error.ts'

/** Where the control plane of a server is. */
export interface ControlAddress {
  url: string
  /** The token that the server asks for, if it asks for one. */
  token: string | undefined
  words: AddressWords
}

/** Parts of the sentences about an address that cannot be used, for the one who gave it. */
interface AddressWords {
  /** What should answer there: the beginning of a sentence. */
  server: string
  /** Why nothing answers. */
  silence: string
  /** What the address must be. */
  address: string
  /** How the token is given. */
  token: string
}

interface Sent {
  method?: string
  /** JSON. */
  body?: string
  /** For a stream of events: the ordinal of the last request that is known. */
  after?: number
  /** Milliseconds without a byte after which the server counts as silent; without it, any number. */
  timeout?: number
  signal?: AbortSignal
}

/** What answers an unknown address may be any program, also one that never says a word. */
const SILENCE = 10_000

/**
 * The way to a control plane over HTTP. The document of its server says where each operation is. Each call has a
 * connection of its own: one that waits for the next call is closed by the server after a while, perhaps just when it
 * comes.
 */
export class HttpTransport implements Transport {
  readonly #address: ControlAddress
  /** Method and path, by the id of the operation. */
  readonly #endpoints: ReadonlyMap<string, readonly [method: string, path: string]>
  /** Identifies the run of the server. */
  readonly instance: string
  /** The server's own document of its control plane. */
  readonly document: Json
  readonly stopping: AbortSignal
  readonly journalLimit = JOURNAL_LIMITS.entries
  newest = 0

  private constructor(address: ControlAddress, instance: string, document: Json, stopping: AbortSignal) {
    this.#address = address
    this.instance = instance
    this.document = document
    this.stopping = stopping
    this.#endpoints = new Map(
      Object.entries(document['paths'] as Json).flatMap(([path, methods]) =>
        Object.entries(methods as Json).flatMap(([method, operation]) =>
          isObject(operation) ? [[`${operation['operationId']}`, [method.toUpperCase(), path]] as const] : [],
        ),
      ),
    )
  }

  /** @throws ControlError if there is no control plane at the address */
  static async connect(address: ControlAddress, stopping: AbortSignal): Promise<HttpTransport> {
    const health = await send(address, '/health', { timeout: SILENCE })
    const body = await readBody(address, health)
    // The health needs no token, so a refusal is not one of the control plane.
    const alive = isObject(body) ? body['data'] : undefined
    if (!isObject(alive) || typeof alive['instance'] !== 'string') throw foreign(address, health)
    const answer = await send(address, '/openapi.json', { timeout: SILENCE })
    const document = answer.statusCode === 200 ? await readBody(address, answer) : await readData(address, answer)
    if (!isObject(document) || !isObject(document['paths'])) throw foreign(address, answer)
    return new HttpTransport(address, alive['instance'], document, stopping)
  }

  /** The base URL of the service that this control plane belongs to. @throws ControlError */
  async findBaseUrl(): Promise<string> {
    const origin = { ...this.#address, url: new URL(this.#address.url).origin }
    const answer = await send(origin, '/', { timeout: SILENCE })
    const data = await readData(origin, answer)
    if (!isObject(data) || typeof data['service'] !== 'string') throw foreign(this.#address, answer)
    return data['service']
  }

  async perform(operationId: string, { body, ...place }: ControlRequest): Promise<unknown> {
    const answer = await this.#send(operationId, place, body === undefined ? {} : { body: JSON.stringify(body) })
    const data = await readData(this.#address, answer)
    const requests = isObject(data) && Array.isArray(data['requests']) ? data['requests'] : []
    for (const { ordinal } of requests) this.newest = Math.max(this.newest, Number(ordinal) || 0)
    return data
  }

  /** A request may overtake the call that asks for events, so they begin after the newest one that is known. */
  events(account: string | undefined, { take, end }: RequestReader): () => void {
    const leaving = new AbortController()
    const { signal } = leaving
    const sent = { signal, after: this.newest }
    const read = async () => {
      const answer =
        account === undefined
          ? await this.#send('streamAllEvents', {}, sent)
          : await this.#send('streamEvents', { parameters: { account } }, sent)
      if (answer.statusCode !== 200) await readData(this.#address, answer)
      for await (const request of readEvents(this.#address, answer)) {
        this.newest = Math.max(this.newest, request.ordinal)
        take(request)
      }
    }
    read().then(
      () => end(),
      // The end of the server is the end of its events.
      (reason) => end(signal.aborted || (reason as ControlError).code === 'stopped' ? undefined : reason),
    )
    return () => leaving.abort()
  }

  async #send(id: string, { parameters = {}, query = {} }: ControlRequest, sent: Sent): Promise<IncomingMessage> {
    const [method, path] = this.#endpoints.get(id) ?? []
    if (method === undefined || path === undefined) {
      const { words, url } = this.#address
      const reason = `${words.server} has no ${id} at ${nameOf(url)}, so it is of another version`
      throw new ControlError('not_found', `${reason}; both sides need the same version of dmarc-understudy.`)
    }
    // A half of a character is replaced, as in a query.
    const place = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(Buffer.from(parameters[name] ?? '').toString()),
    )
    const search = new URLSearchParams(query)
    return send(this.#address, `${place}${search.size > 0 ? `?${search}` : ''}`, { ...sent, method })
  }
}

function send(address: ControlAddress, target: string, sent: Sent): Promise<IncomingMessage> {
  const { url, token } = address
  const { body, after, ...options } = sent
  const open = /^https:/i.test(url) ? openSecureRequest : openRequest
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(unreachable(address, error))
    try {
      const headers = {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(after !== undefined && { 'last-event-id': after }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      }
      // A URL would lose the segments `.` and `..`, and mean another path.
      const path = new URL(url).pathname.replace(/\/$/, '') + target
      const request = open(url, { agent: false, ...options, headers, path })
      request.on('error', fail)
      request.on('timeout', () => request.destroy(Object.assign(new Error('It is silent.'), { code: 'ETIMEDOUT' })))
      request.on('response', resolve)
      request.end(body)
    } catch (error) {
      fail(error)
    }
  })
}

/** The data of the server-sent events in a body. */
async function* readEvents(address: ControlAddress, body: IncomingMessage): AsyncGenerator<RequestReport> {
  let text = ''
  try {
    for await (const chunk of body.setEncoding('utf8')) {
      const events = (text + chunk).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const [, data] = /^data: (.*)$/m.exec(event) ?? []
        if (data !== undefined) yield JSON.parse(data)
      }
    }
  } catch (error) {
    throw unreachable(address, error)
  }
}

async function readBody(address: ControlAddress, body: IncomingMessage): Promise<unknown> {
  let text = ''
  try {
    for await (const chunk of body.setEncoding('utf8')) text += chunk
  } catch (error) {
    throw unreachable(address, error)
  }
  return readJson(text)
}

/** The data of a success response. @throws ControlError for any other response */
async function readData(address: ControlAddress, answer: IncomingMessage): Promise<unknown> {
  const content = await readBody(address, answer)
  if (!isObject(content)) throw foreign(address, answer)
  const { error } = content
  if (!isObject(error)) {
    if (content['success'] !== true) throw foreign(address, answer)
    return content['data']
  }
  const { code, message, problems } = error as { code: AdminCode; message: string; problems?: ControlProblem[] }
  throw new ControlError(code, code === 'unauthorized' ? `${message} ${address.words.token}` : message, problems)
}

/** The address for a message, without a password. */
function nameOf(url: string): string {
  return shorten(url.replace(/\/\/[^/@]*@/, '//'))
}

function unreachable({ url, words }: ControlAddress, error: unknown): ControlError {
  const { code, message } = error as NodeJS.ErrnoException
  const reason = `${words.server} does not answer at ${nameOf(url)} (${code ?? message})`
  return new ControlError('stopped', `${reason}: ${words.silence}.`)
}

function foreign({ url, words }: ControlAddress, { statusCode }: IncomingMessage): ControlError {
  const reason = `Something other than the control plane of dmarc-understudy answers at ${nameOf(url)} (${statusCode})`
  return new ControlError('unavailable', `${reason}; ${words.address}.`)
}
