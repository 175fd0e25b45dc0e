import type { AdminCode } from '../admin/codes.ts'
import type { ControlRequest } from '../admin/control.ts'
import { isObject, type Json, readJson, valueAt } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import type { RequestReport } from '../journal/description.ts'
import { type CallId, type ControlClient, checkRequest, type DataOf } from './control-client.ts'
import { ControlError, type ControlProblem } from './control-error.ts'

/** Where the control plane of a server is. */
export interface ControlAddress {
  url: string
  /** The token that the server asks for, if it asks for one. */
  token: string | undefined
}

interface Endpoint {
  method: string
  path: string
}

// A test may replace the global function by its own.
const { fetch } = globalThis

/** Calls the control plane of a server over HTTP. The document of that server says where each operation is. */
export class RemoteClient implements ControlClient {
  readonly #address: ControlAddress
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #pageLimit: number
  /** Identifies the run of the server. */
  readonly instance: string
  readonly stopping: AbortSignal

  private constructor(address: ControlAddress, instance: string, document: Json, stopping: AbortSignal) {
    this.#address = address
    this.instance = instance
    this.#endpoints = endpointsIn(document)
    this.#pageLimit = Number(valueAt(document, PAGE_LIMIT))
    this.stopping = stopping
  }

  /** @throws ControlError if there is no control plane at the address */
  static async connect(address: ControlAddress, stopping: AbortSignal): Promise<RemoteClient> {
    const health = await send(address, '/health')
    const alive = await readData(address, health)
    if (!isObject(alive) || typeof alive['instance'] !== 'string') throw foreign(address, health)
    const response = await send(address, '/openapi.json')
    const document = response.ok ? await readAnswer(response) : await readData(address, response)
    if (!isObject(document) || valueAt(document, PAGE_LIMIT) === undefined) throw foreign(address, response)
    return new RemoteClient(address, alive['instance'], document, stopping)
  }

  async limits(): Promise<{ pageLimit: number }> {
    return { pageLimit: this.#pageLimit }
  }

  async call<Id extends CallId>(operationId: Id, request: ControlRequest = {}): Promise<DataOf<Id>> {
    const { body, ...place } = checkRequest(request, this.stopping)
    const response = await this.#send(operationId, place, {
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    // The server validates each response against its document, so the type is certain.
    return (await readData(this.#address, response)) as DataOf<Id>
  }

  /** The requests of an account, or of all accounts, after the one with this ordinal, as they are answered. */
  async *stream(account: string | undefined, after: number, signal: AbortSignal): AsyncGenerator<RequestReport> {
    const place = account === undefined ? {} : { parameters: { account } }
    const id = account === undefined ? 'streamAllEvents' : 'streamEvents'
    const response = await this.#send(id, place, { headers: { 'last-event-id': `${after}` }, signal })
    if (!response.ok || response.body === null) await readData(this.#address, response)
    let text = ''
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const events = (text + chunk).split('\n\n')
        text = events.pop() ?? ''
        for (const event of events) {
          const [, data] = /^data: (.*)$/m.exec(event) ?? []
          if (data !== undefined) yield JSON.parse(data)
        }
      }
    } catch (error) {
      throw signal.aborted ? error : unreachable(this.#address, error)
    }
  }

  #send(id: string, { parameters = {}, query = {} }: ControlRequest, init: RequestInit): Promise<Response> {
    const endpoint = this.#endpoints.get(id)
    if (endpoint === undefined) {
      const reason = `The stand-in of this run has no ${id} at ${this.#address.url}`
      throw new ControlError('not_found', `${reason}, so it is of another version; ${SAME_VERSION}.`, [])
    }
    const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))
    const search = new URLSearchParams(query)
    return send(this.#address, `${path}${search.size > 0 ? `?${search}` : ''}`, { ...init, method: endpoint.method })
  }
}

/** The place of this setting in the document of the control plane. */
const PAGE_LIMIT = '/x-settings/page-limit/value'

const SAME_VERSION = 'the tests and the command need the same version of dmarc-understudy'

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

async function send(address: ControlAddress, path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
  const { url, token } = address
  try {
    return await fetch(url + path, {
      ...init,
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    })
  } catch (error) {
    throw init.signal?.aborted ? error : unreachable(address, error)
  }
}

async function readAnswer(response: Response): Promise<unknown> {
  return readJson(await response.text().catch(() => ''))
}

/** The data of a success response. @throws ControlError for any other response */
async function readData(address: ControlAddress, response: Response): Promise<unknown> {
  const answer = await readAnswer(response)
  if (!isObject(answer)) throw foreign(address, response)
  const { error } = answer
  if (!isObject(error)) {
    if (answer['success'] !== true) throw foreign(address, response)
    return answer['data']
  }
  const { code, message, problems } = error as { code: AdminCode; message: string; problems: ControlProblem[] }
  const said = code === 'unauthorized' ? `${message} Give it as the option adminToken.` : message
  throw new ControlError(code, said, problems ?? [])
}

function unreachable({ url }: ControlAddress, error: unknown): ControlError {
  const cause = error instanceof Error ? error.cause : undefined
  const reason = isObject(cause) && typeof cause['code'] === 'string' ? cause['code'] : String(error)
  const remedy = 'the run has ended, or UNDERSTUDY_ADMIN_URL is wrong'
  return new ControlError('stopped', `The stand-in of the run does not answer at ${url} (${reason}): ${remedy}.`, [])
}

function foreign({ url }: ControlAddress, { status }: Response): ControlError {
  const reason = `Something other than the control plane of dmarc-understudy answers at ${shorten(url)} (${status})`
  return new ControlError('unavailable', `${reason}; UNDERSTUDY_ADMIN_URL must be that of the run.`, [])
}
