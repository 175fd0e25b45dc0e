import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { ADMIN_CODES } from '../../src/admin/codes.ts'
import { loadControlApi } from '../../src/admin/document.ts'
import type { Api, Operation } from '../../src/contract/api.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { startUnderstudy, type Understudy } from '../../src/start/server.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { START, violationsOf } from './service.ts'

export const CONTROL_DOCUMENT = fileURLToPath(new URL('../../src/admin/openapi.yaml', import.meta.url))
export { ADMIN_CODES }

/** The control plane's document, held to OpenAPI 3.1 and with every schema compiled. */
export const controlApi: Api = await loadControlApi({ validated: false })

export interface ControlResponse {
  status: number
  headers: Record<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies whose shape the document has just validated
  body: any
  /** The `data` of a success. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  data: any
  /** The `error` of a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  error: any
}

export type SentHeaders = Record<string, string | null>

export interface ControlPlane {
  understudy: Understudy
  store: Store
  adminUrl: string
  /** Asks the control plane; `body` is sent as JSON, or as it is when it is a string. `path` as after `/__admin`. */
  send(method: string, path: string, body?: unknown, headers?: SentHeaders): Promise<ControlResponse>
  get(path: string): Promise<ControlResponse>
  post(path: string, body?: unknown): Promise<ControlResponse>
  put(path: string, body: unknown): Promise<ControlResponse>
  patch(path: string, body: unknown): Promise<ControlResponse>
  delete(path: string): Promise<ControlResponse>
  /** Asks the service with a key; the answer is held to the service's contract. */
  ask(key: string, method: string, path: string, body?: unknown): Promise<ControlResponse>
  /** Creates an account, and returns its id and its key. */
  create(body?: object): Promise<{ id: string; key: string }>
  /** Moves the machine's clock forward, in milliseconds. */
  advance(milliseconds: number): void
  stop(): Promise<void>
}

/** Starts a stand-in on a free port with a clock that moves only by `advance`; it ends with the test. */
export async function startControlPlane(options: ServerOptions = {}): Promise<ControlPlane> {
  let time = START
  const store = options.store ?? (options.data === undefined ? openMemoryStore() : undefined)
  const understudy = await startUnderstudy({
    fixture: 'empty',
    clock: () => time,
    ...(store !== undefined && { store }),
    ...options,
  })
  const { baseUrl, contract, adminUrl = '' } = understudy
  const stop = () => understudy.stop()
  onTestFinished(stop)
  const token = options.adminToken

  const send: ControlPlane['send'] = async (method, path, body, headers = {}) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const received = await exchange(adminUrl + path, method, body, { ...authorization, ...headers })
    expectDocumented(method, path, received)
    return received
  }

  return {
    understudy,
    store: store as Store,
    adminUrl,
    send,
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
    delete: (path) => send('DELETE', path),
    async ask(key, method, path, body) {
      const received = await exchange(baseUrl + path, method, body, { authorization: `Bearer ${key}` })
      expect(violationsOf(contract, method, path, received), `${method} ${path} → ${received.text}`).toEqual([])
      return received
    },
    async create(body = {}) {
      const { data } = await send('POST', '/accounts', body)
      return { id: data.account.id, key: data.api_key }
    },
    advance: (milliseconds) => {
      time += milliseconds
    },
    stop,
  }
}

async function exchange(url: string, method: string, body: unknown, headers: SentHeaders): Promise<ControlResponse> {
  const sent = new Headers()
  if (body !== undefined) sent.set('content-type', 'application/json')
  for (const [name, value] of Object.entries(headers)) value === null ? sent.delete(name) : sent.set(name, value)
  const payload =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method,
    headers: sent,
    ...(payload !== undefined && { body: payload as string }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  const parsed = isJson && text !== '' ? JSON.parse(text) : undefined
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    body: parsed,
    data: parsed?.data,
    error: parsed?.error,
  }
}

/** Holds an answer of the control plane to its document. */
export function expectDocumented(method: string, path: string, received: ControlResponse): void {
  const departures = departuresOf(method, path, received)
  expect(departures, `${method} ${path} → ${received.status} ${received.text.slice(0, 300)}`).toEqual([])
}

/** Where an answer departs from the document; the router of the server under test is not asked. */
function departuresOf(method: string, path: string, { status, headers, body }: ControlResponse): readonly unknown[] {
  const operation = controlOperationAt(method, path)
  if (headers['cache-control'] !== 'no-store') return ['An answer may be kept by nobody.']
  if (operation === undefined) return method === 'HEAD' ? [] : controlApi.checkFailure(body)
  const response = operation.responses.get(status)
  if (response === undefined) return [`${operation.id} documents no ${status}`]
  const type = response.schema['type'] === undefined || status >= 400 ? [] : headers['content-type']
  return [
    ...(type === undefined ? ['The answer has no type.'] : []),
    ...response.checkHeaders(headers),
    ...(method === 'HEAD' || body === undefined ? [] : response.check(body)),
  ]
}

/** The operation of a path below `/__admin`. */
export function controlOperationAt(method: string, path: string): Operation | undefined {
  const verb = method === 'HEAD' ? 'GET' : method
  const given = (path.split('?')[0] || '/').split('/')
  return controlApi.operations.find((operation) => {
    const steps = operation.path.split('/')
    return (
      operation.method === verb &&
      steps.length === given.length &&
      steps.every((step, index) => (step.startsWith('{') ? given[index] !== '' : step === given[index]))
    )
  })
}
