import { expect, onTestFinished } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { Api, Operation } from '../../src/contract/api.ts'
import { loadControlApi } from '../../src/contract/control-api.ts'
import type { FaultReport } from '../../src/contract/control-plane.ts'
import type { FaultRule } from '../../src/domain/faults.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import { openUnderstudy } from '../../src/server/understudy.ts'
import type { Store } from '../../src/store/store.ts'
import { headerViolations } from './header-check.ts'
import { type Received, type SentHeaders, sendRequest } from './request.ts'
import { expectLawful, type ServiceOptions, START, withStore } from './service.ts'

/** The control plane's document, held to OpenAPI 3.1 and with every schema compiled. */
export const controlApi: Api = await loadControlApi()

export interface ControlResponse extends Received {
  /** The `data` of a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into data whose shape the document has just validated
  data: any
  /** The `error` of a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  error: any
}

/** Any server: what is known of it is where its service answers. */
export type Served = { readonly baseUrl: string }

/**
 * Asks the control plane, and holds the answer to its document. `path` is what follows `/__admin`; `body` is sent as
 * JSON, or as it is when it is text.
 */
export async function askControl(
  { baseUrl }: Served,
  method: string,
  path: string,
  body?: unknown,
  headers?: SentHeaders,
): Promise<ControlResponse> {
  const received = await sendRequest(method, `${new URL(baseUrl).origin}/__admin${path}`, body, headers)
  const response = { ...received, data: received.body?.data, error: received.body?.error }
  expectDocumented(method, path, response)
  return response
}

/** Holds an answer of the control plane to its document. */
export function expectDocumented(method: string, path: string, received: Received): void {
  const departures = departuresOf(method, path, received)
  if (departures.length === 0) return
  expect(departures, `${method} ${path} → ${received.status} ${received.text.slice(0, 300)}`).toEqual([])
}

/** Where an answer departs from the document; the router of the server under test is not asked. */
function departuresOf(method: string, path: string, { status, headers, body }: Received): readonly unknown[] {
  const operation = controlOperationAt(method, path)
  if (headers['cache-control'] !== 'no-store') return ['An answer may be kept by nobody.']
  if (operation === undefined) return method === 'HEAD' ? [] : controlApi.checkFailure(body)
  if (status >= 400) return method === 'HEAD' ? [] : controlApi.checkFailure(body)
  const response = operation.responses.get(status)
  if (response === undefined) return [`${operation.id} documents no ${status}`]
  const type = response.schema['type'] === undefined ? [] : headers['content-type']
  return [
    ...(type === undefined ? ['The answer has no type.'] : []),
    ...headerViolations(response, headers),
    ...(method === 'HEAD' || body === undefined ? [] : response.check(body)),
  ]
}

/** The operation of a path below `/__admin`. */
function controlOperationAt(method: string, path: string): Operation | undefined {
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

/** Adds a rule to an account and expects it to be accepted. */
export async function addFault(service: Served, rule: FaultRule, account = 'default'): Promise<FaultReport> {
  const { status, data, error } = await askControl(service, 'POST', `/accounts/${account}/faults`, rule)
  expect(error).toBeUndefined()
  expect(status).toBe(201)
  return data.fault
}

export async function faultsOf(service: Served, account = 'default'): Promise<FaultReport[]> {
  return (await readPages<FaultReport>(service, `/accounts/${account}/faults`)).flat()
}

/** The journal of an account, from the oldest to the newest; `query` begins with a question mark and has no `limit`. */
export async function journalOf(service: Served, account = 'default', query = ''): Promise<RequestReport[]> {
  return (await readPages<RequestReport>(service, `/accounts/${account}/requests${query}`)).reverse().flat()
}

/**
 * Reads all pages of a list, as a client does: `next` of a page leads to the next one. `path` has the query that they
 * share. `beforeEach` is called before each page.
 */
export async function readPages<Item>(
  service: Served,
  path: string,
  beforeEach: () => unknown = () => {},
): Promise<Item[][]> {
  const [route = '', query] = path.split('?')
  const parameters = new URLSearchParams(query)
  const pages: Item[][] = []
  for (;;) {
    await beforeEach()
    const { status, text, data } = await askControl(service, 'GET', `${route}?${parameters}`)
    expect(status, text).toBe(200)
    const { count: _, next, ...list } = data
    pages.push(...(Object.values(list) as Item[][]))
    if (next === null) return pages
    parameters.set(route.endsWith('/requests') ? 'before' : 'after', next)
  }
}

export type ControlPlane = Awaited<ReturnType<typeof openControlPlane>>

/** Starts a stand-in on a free port with a clock that moves only by `advance`; it ends with the test. */
export async function startControlPlane(options: ServiceOptions = {}): Promise<ControlPlane> {
  const plane = await openControlPlane(options)
  onTestFinished(plane.stop)
  return plane
}

/** The same for several tests, which stop it after the last. */
export async function openControlPlane(options: ServiceOptions = {}) {
  let time = START
  const { given, store } = withStore(options, () => time)
  const defaults = { fixture: 'empty', clock: () => time }
  // A busy machine is no store that is away.
  const understudy = await openUnderstudy({ ...defaults, ...given }, OPERATIONS, { patience: () => 25, store })
  const { baseUrl, contract, adminUrl = '' } = understudy
  const stop = () => understudy.stop()
  const authorization = options.adminToken === undefined ? {} : { authorization: `Bearer ${options.adminToken}` }

  /** Asks the control plane, with the token where it wants one. */
  const send = (method: string, path: string, body?: unknown, headers?: SentHeaders) =>
    askControl(understudy, method, path, body, { ...authorization, ...headers })

  return {
    understudy,
    store: store as Store,
    adminUrl,
    /** The key of the account `default`. */
    key: understudy.apiKey ?? '',
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body?: unknown) => send('POST', path, body),
    put: (path: string, body: unknown) => send('PUT', path, body),
    patch: (path: string, body: unknown) => send('PATCH', path, body),
    delete: (path: string) => send('DELETE', path),
    /** Asks the service with a key; the answer is held to the service's contract. */
    async ask(key: string, method: string, path: string, body?: unknown): Promise<Received> {
      const received = await sendRequest(method, baseUrl + path, body, { authorization: `Bearer ${key}` })
      expectLawful(contract, method, path, received)
      return received
    },
    /** Creates an account, and returns its id and its key. */
    async create(body: object = {}): Promise<{ id: string; key: string }> {
      const { data } = await send('POST', '/accounts', body)
      return { id: data.account.id, key: data.api_key }
    },
    /** Moves the machine's clock forward, in milliseconds. */
    advance: (milliseconds: number) => {
      time += milliseconds
    },
    stop,
  }
}
