import { Agent, type IncomingMessage, request as openRequest } from 'node:http'
import { request as openSecureRequest, Agent as SecureAgent } from 'node:https'
import type { ControlRequest } from '../admin/control.ts'
import type { AdminCode } from '../contract/control-api.ts'
import { isObject, type Json, readJson, valueAt } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import type { RequestReport } from '../journal/description.ts'
import { JOURNAL_LIMITS } from '../journal/journal.ts'
import { type CallId, type ControlClient, checkRequest, type DataOf, type RequestReader } from './control-client.ts'
import { ControlError, type ControlProblem } from './control-error.ts'

/** Where the control plane of a server is. */
export interface ControlAddress {
  url: string
  /** The token that the server asks for, if it asks for one. */
  token: string | undefined
  /** The words of errors for the one who gave the address; by default those for the tests of a command. */
  words?: AddressWords
}

/** Parts of the sentences about an address that cannot be used. */
interface AddressWords {
  /** What should answer there: the beginning of a sentence. */
  server: string
  /** Why nothing answers. */
  silence: string
  /** What the address must be. */
  address: string
  /** How the token is given. */
  token: string
  /** How to get a server of this version. */
  version: string
}

const OF_TRIAL: AddressWords = {
  server: 'The stand-in of the run',
  silence: 'the run has ended, or UNDERSTUDY_ADMIN_URL is wrong',
  address: 'UNDERSTUDY_ADMIN_URL must be that of the run',
  token: 'Give it as the option adminToken.',
  version: 'the tests and the command need the same version of dmarc-understudy',
}

interface Endpoint {
  method: string
  path: string
}

/** A response whose body is still to be read. */
interface Received {
  status: number
  body: IncomingMessage
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

/** Calls the control plane of a server over HTTP. The document of that server says where each operation is. */
export class RemoteClient implements ControlClient {
  readonly #address: ControlAddress
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #pageLimit: number
  /** Identifies the run of the server. */
  readonly instance: string
  /** The server's own document of its control plane. */
  readonly document: Json
  readonly stopping: AbortSignal
  readonly journalLimit = JOURNAL_LIMITS.entries
  /** As of the last call of `look`. */
  newest = 0

  private constructor(address: ControlAddress, instance: string, document: Json, stopping: AbortSignal) {
    this.#address = address
    this.instance = instance
    this.document = document
    this.#endpoints = endpointsIn(document)
    this.#pageLimit = Number(valueAt(document, PAGE_LIMIT))
    this.stopping = stopping
  }

  /** @throws ControlError if there is no control plane at the address */
  static async connect(address: ControlAddress, stopping: AbortSignal): Promise<RemoteClient> {
    const health = await send(address, '/health', { timeout: SILENCE })
    const body = await readBody(address, health)
    // The health needs no token, so a refusal is not one of the control plane.
    const alive = isObject(body) ? body['data'] : undefined
    if (!isObject(alive) || typeof alive['instance'] !== 'string') throw foreign(address, health)
    const answer = await send(address, '/openapi.json', { timeout: SILENCE })
    const document = answer.status === 200 ? await readBody(address, answer) : await readData(address, answer)
    if (!isObject(document) || valueAt(document, PAGE_LIMIT) === undefined) throw foreign(address, answer)
    return new RemoteClient(address, alive['instance'], document, stopping)
  }

  /** Learns which request is the newest. @throws ControlError */
  async look(): Promise<void> {
    const { requests } = await this.call('listAllRequests', { query: { limit: '1' } })
    this.newest = requests[0]?.ordinal ?? 0
  }

  /** The base URL of the service that this control plane belongs to. @throws ControlError */
  async findBaseUrl(): Promise<string> {
    const origin = { ...this.#address, url: new URL(this.#address.url).origin }
    const answer = await send(origin, '/', { timeout: SILENCE })
    const data = await readData(origin, answer)
    if (!isObject(data) || typeof data['service'] !== 'string') throw foreign(this.#address, answer)
    return data['service']
  }

  async limits(): Promise<{ pageLimit: number }> {
    return { pageLimit: this.#pageLimit }
  }

  async call<Id extends CallId>(operationId: Id, request: ControlRequest = {}): Promise<DataOf<Id>> {
    const { body, ...place } = checkRequest(request, this.stopping)
    const content = body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }
    const answer = await this.#send(operationId, place, content || {})
    // The server validates each response against its document, so the type is certain.
    return (await readData(this.#address, answer)) as DataOf<Id>
  }

  events(account: string | undefined, after: number, { take, end }: RequestReader): () => void {
    const leaving = new AbortController()
    const { signal } = leaving
    const read = async () => {
      for await (const request of this.#stream(account, after, signal)) take(request)
    }
    read().then(
      () => end(),
      // The end of the server is the end of its events.
      (reason) => end(signal.aborted || (reason as ControlError).code === 'stopped' ? undefined : reason),
    )
    return () => leaving.abort()
  }

  async *#stream(account: string | undefined, after: number, signal: AbortSignal): AsyncGenerator<RequestReport> {
    const place = account === undefined ? {} : { parameters: { account } }
    const id = account === undefined ? 'streamAllEvents' : 'streamEvents'
    const answer = await this.#send(id, place, { signal, after })
    if (answer.status !== 200) await readData(this.#address, answer)
    yield* readEvents(this.#address, answer)
  }

  async #send(id: string, { parameters = {}, query = {} }: ControlRequest, sent: Sent): Promise<Received> {
    const endpoint = this.#endpoints.get(id)
    if (endpoint === undefined) {
      const { server, version } = wordsFor(this.#address)
      const reason = `${server} has no ${id} at ${nameOf(this.#address.url)}`
      throw new ControlError('not_found', `${reason}, so it is of another version; ${version}.`, [])
    }
    const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => segmentOf(parameters[name] ?? ''))
    const search = new URLSearchParams(query)
    const target = `${path}${search.size > 0 ? `?${search}` : ''}`
    return send(this.#address, target, { ...sent, method: endpoint.method })
  }
}

/** A value as one segment of a path. A half of a character is replaced, as in a query. */
function segmentOf(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString())
}

/** The place of this setting in the document of the control plane. */
const PAGE_LIMIT = '/x-settings/page-limit/value'

function endpointsIn(document: Json): Map<string, Endpoint> {
  const paths = Object.entries(isObject(document['paths']) ? document['paths'] : {})
  return new Map(
    paths.flatMap(([path, methods]) =>
      Object.entries(isObject(methods) ? methods : {}).flatMap(([method, operation]): [string, Endpoint][] =>
        isObject(operation) ? [[String(operation['operationId']), { method: method.toUpperCase(), path }]] : [],
      ),
    ),
  )
}

const plain = { open: openRequest, agent: new Agent({ keepAlive: true }) }
const secure = { open: openSecureRequest, agent: new SecureAgent({ keepAlive: true }) }

function send(address: ControlAddress, target: string, { body, after, ...sent }: Sent = {}): Promise<Received> {
  const { url, token } = address
  const { open, agent } = /^https:/i.test(url) ? secure : plain
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
      const request = open(url, { agent, ...sent, headers, path })
      request.on('error', fail)
      request.on('timeout', () => request.destroy(Object.assign(new Error('It is silent.'), { code: 'ETIMEDOUT' })))
      request.on('response', (response) => resolve({ status: response.statusCode ?? 0, body: response }))
      request.end(body)
    } catch (error) {
      fail(error)
    }
  })
}

/** The data of the server-sent events in a body. */
async function* readEvents(address: ControlAddress, { body }: Received): AsyncGenerator<RequestReport> {
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

async function readBody(address: ControlAddress, { body }: Received): Promise<unknown> {
  let text = ''
  try {
    for await (const chunk of body.setEncoding('utf8')) text += chunk
  } catch (error) {
    throw unreachable(address, error)
  }
  return readJson(text)
}

/** The data of a success response. @throws ControlError for any other response */
async function readData(address: ControlAddress, answer: Received): Promise<unknown> {
  const content = await readBody(address, answer)
  if (!isObject(content)) throw foreign(address, answer)
  const { error } = content
  if (!isObject(error)) {
    if (content['success'] !== true) throw foreign(address, answer)
    return content['data']
  }
  const { code, message, problems } = error as { code: AdminCode; message: string; problems?: ControlProblem[] }
  const said = code === 'unauthorized' ? `${message} ${wordsFor(address).token}` : message
  throw new ControlError(code, said, problems ?? [])
}

/** The address for a message, without a password. */
function nameOf(url: string): string {
  return shorten(url.replace(/\/\/[^/@]*@/, '//'))
}

function wordsFor({ words = OF_TRIAL }: ControlAddress): AddressWords {
  return words
}

function unreachable(address: ControlAddress, error: unknown): ControlError {
  const { code, message } = error as NodeJS.ErrnoException
  const { server, silence } = wordsFor(address)
  return new ControlError(
    'stopped',
    `${server} does not answer at ${nameOf(address.url)} (${code ?? message}): ${silence}.`,
    [],
  )
}

function foreign(address: ControlAddress, { status }: Received): ControlError {
  const reason = `Something other than the control plane of dmarc-understudy answers at ${nameOf(address.url)} (${status})`
  return new ControlError('unavailable', `${reason}; ${wordsFor(address).address}.`, [])
}
