import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api, Operation } from '../contract/api.ts'
import { createBodyReader } from '../contract/body.ts'
import { ClientGone } from '../contract/reception.ts'
import { createRouter } from '../contract/router.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { ServerArrival } from '../exchanges/server-arrival.ts'
import { isHostMalformed } from '../ground/host-field.ts'
import type { Log } from '../ground/log.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { reportViolation } from '../ground/schema.ts'
import { Semaphore } from '../ground/semaphore.ts'
import { queryOf, readParameters, readTarget, splitTarget } from '../ground/target.ts'
import { namePathInLog } from '../journal/redaction/key-shapes.ts'
import { isAway, isReported } from '../store/store-error.ts'
import { placeOf, urlsFor } from './address.ts'
import type { AdminRefusal } from './codes.ts'
import type { Control } from './control.ts'
import { streamEvents } from './events.ts'
import { createGuard } from './guard.ts'
import type { ControlCall, ControlDeps } from './handler.ts'
import { nearestRoute } from './nearest-route.ts'
import {
  describeData,
  describeHealth,
  describeReadiness,
  describeUnavailable,
  JSON_TYPE,
  openDashboard,
  PAGES,
  type PlainResponse,
  UNIFORM_HEADERS,
  writeFailure,
} from './pages.ts'
import { ADMIN_PATH, isPageAddress } from './paths.ts'
import { describeRefusal } from './refusals.ts'

export interface AdminDeps extends Pick<ControlDeps, 'instance' | 'urls' | 'readiness'> {
  control: () => Promise<Control>
  /** Without a token, only programs of this machine can use the control plane. */
  token: string | undefined
  host: string
  log: Log
  stopping: AbortSignal
}

/** The operations that answer with a stream of events. */
const STREAMS: ReadonlySet<string> = new Set(['streamAllEvents', 'streamEvents'])

interface RoutedCall extends Pick<ControlCall, 'parameters' | 'query'> {
  request: IncomingMessage
  response: ServerResponse
  control: Control
  operation: Operation
}

/**
 * A body with more bytes is large, and this many requests with a large body are processed at a time. The objects made
 * of a body take many times its memory. So the other requests wait, and their bodies are not even read.
 */
const LARGE = 256 << 10
const LARGE_AT_ONCE = 2

// This is written here, because loading the document with the other messages may be what failed.
const FAILED = writeFailure('internal_error', 'The server failed to answer; its log has the reason.')

/** A request handler for the control plane. It checks the access, routes, validates, and answers. */
export function createAdmin(deps: AdminDeps): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const guard = createGuard(deps.token, deps.host)
  const readersFor = memoizeWeakly(createReaders)
  const streams = new Set<ServerResponse>()
  const turns = new Semaphore(LARGE_AT_ONCE)

  return async function serveAdmin(request, response) {
    const { method = '', url = '' } = request
    const known = answerAtOnce(request, deps)
    if (known !== undefined) return send(request, response, known)
    try {
      const answered = await route(request, response, await deps.control())
      if (answered !== undefined) send(request, response, answered)
    } catch (error) {
      if (error instanceof ClientGone) return
      if (!isReported(error)) {
        const path = namePathInLog(splitTarget(url).path)
        deps.log.error({ method, path, err: error }, 'The control plane failed to answer.')
      }
      if (response.headersSent) response.destroy()
      else if (isAway(error)) send(request, response, describeUnavailable(error.message))
      else send(request, response, { type: JSON_TYPE, status: 500, text: FAILED })
    }
  }

  /** Returns the response, or `undefined` if it is sent in parts. The next steps do the same. */
  async function route(
    request: IncomingMessage,
    response: ServerResponse,
    control: Control,
  ): Promise<PlainResponse | undefined> {
    const { path, query } = readTarget(request.url ?? '')
    const isPage = isPageAddress(path) && ['GET', 'HEAD'].includes(request.method ?? '')
    // A browser cannot send the token when it opens the page. The page holds no data and asks for the token.
    const isOpen = isPublic(path) || (deps.token !== undefined && isPage)
    const rejected = isOpen ? undefined : (guard(request) ?? refuseHost(request))
    if (rejected) return describe(rejected, control)
    if (isPage) return openDashboard(control)
    const routed = readersFor(control).route(request.method ?? '', path === ADMIN_PATH ? `${ADMIN_PATH}/` : path)
    if (!routed.ok) {
      const refusal = routed.allow === undefined ? nothingAt(path, control) : routed
      return describe(refusal, control, undefined, routed.allow)
    }
    const { operation, parameters } = routed
    const repeated = findRepeated(request.url ?? '')
    if (repeated !== undefined) return describe(repeated, control, operation)
    const call = { request, response, control, operation, parameters, query }
    return mayBeLarge(request) ? turns.run(() => validate(call)) : validate(call)
  }

  async function validate(call: RoutedCall): Promise<PlainResponse | undefined> {
    const { request, control, operation, query } = call
    const body = await readersFor(control).bodies.read(new ServerArrival(request), operation)
    const conforming = control.conform({ operation, query, body })
    if (!conforming.ok) return describe(conforming, control, operation)
    const page = PAGES[operation.id]
    if (page !== undefined) return page(control)
    if (STREAMS.has(operation.id)) return stream(call, streams, deps.stopping)
    return run(call, conforming)
  }
}

/** Clients and balancers request health and readiness every second, so nothing is loaded for them. */
function answerAtOnce(request: IncomingMessage, { instance, readiness, urls }: AdminDeps): PlainResponse | undefined {
  const { method, url = '' } = request
  if (method === 'GET' || method === 'HEAD') {
    if (url === `${ADMIN_PATH}/health`) return describeHealth(instance)
    if (url === `${ADMIN_PATH}/ready`) return describeReadiness(instance, readiness)
  }
  return splitTarget(url).path === '/' ? welcome(request, urls()) : undefined
}

async function run(
  { request, control, operation, parameters }: RoutedCall,
  { query, body }: Pick<ControlCall, 'query' | 'body'>,
): Promise<PlainResponse> {
  const outcome = await control.run(operation, { parameters, query, body, place: placeOf(request) })
  if (!outcome.ok) return describe(outcome, control, operation)
  const { status } = operation.success
  const answer = validated(control.api, operation, status, { success: true, data: outcome.data })
  const text = outcome.write === undefined ? JSON.stringify(answer) : `{"success":true,"data":${outcome.write()}}`
  return { type: JSON_TYPE, status, text }
}

async function stream(
  { request, response, control, operation, parameters: { account } }: RoutedCall,
  streams: Set<ServerResponse>,
  stopping: AbortSignal,
): Promise<PlainResponse | undefined> {
  if (account !== undefined && (await control.deps.store.find('id', account)) === undefined) {
    return describe(control.unknownAccount(account), control, operation)
  }
  // A stream of events has no end, so HEAD is answered without opening one.
  if (request.method === 'HEAD') return { type: 'text/event-stream', text: '' }
  if (streams.size >= control.limits.eventStreams) {
    const expected = `There are ${streams.size} streams of events, which is the maximum`
    return describe(refuse({ code: 'insufficient_storage', about: { expected } }), control, operation)
  }
  const { exchanges, contract } = control.deps
  streams.add(response)
  response.once('close', () => streams.delete(response))
  // A client that reconnects may have seen later events from another process.
  await exchanges.caughtUp()
  streamEvents(request, response, { journal: exchanges.journal, catalogue: contract.catalogue, account, stopping })
  return undefined
}

/** What reads the requests of a control plane. */
function createReaders({ api, limits }: Control) {
  const bodies = createBodyReader({ contentType: 'required', bodyLimit: limits.bodyLimit })
  return { bodies, route: createRouter(api, { pathMatching: 'exact' }) }
}

/** Whether any client may read the path. The health of the server is public. */
function isPublic(path: string): boolean {
  return path === `${ADMIN_PATH}/health` || path === `${ADMIN_PATH}/ready`
}

/** Whether a request has a large body or a body of unknown size. */
function mayBeLarge({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > LARGE || headers['transfer-encoding'] !== undefined
}

function refuseHost(request: IncomingMessage): AdminRefusal | undefined {
  return isHostMalformed(new ServerArrival(request))
    ? refuse({ code: 'invalid_value', reason: 'host', field: 'Host' })
    : undefined
}

/** The refusal of a path that the control plane does not have. */
function nothingAt(path: string, { api }: Control): Refusal<string> {
  const nearest = nearestRoute(path.slice(ADMIN_PATH.length), api.routes.keys())
  if (nearest === undefined) return refuse({ code: 'not_found', reason: 'path', about: { path } })
  return refuse({ code: 'not_found', reason: 'near-path', about: { path, nearest: ADMIN_PATH + nearest } })
}

/** The refusal of a query with a repeated parameter, because only one of its values would count. */
function findRepeated(url: string): Refusal<string> | undefined {
  const names = readParameters(queryOf(url)).map(([name]) => name)
  const field = names.find((name, index) => names.indexOf(name) < index)
  return field === undefined ? undefined : refuse({ code: 'invalid_value', reason: 'repeated', field })
}

/** The response to a refused request. */
function describe(
  { problems }: Refusal<string>,
  { api }: Control,
  operation?: Operation,
  allow?: string,
): PlainResponse {
  const { status, body } = describeRefusal(api.catalogue, problems)
  const headers = {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(allow !== undefined && { Allow: allow }),
  }
  return { type: JSON_TYPE, status, text: JSON.stringify(validated(api, operation, status, body)), headers }
}

/** The body of an answer, if the document permits it. @throws Error for any other body, which is a bug */
function validated({ checkFailure }: Api, operation: Operation | undefined, status: number, body: unknown): unknown {
  if (operation === undefined) return body
  const { check } = status < 400 ? operation.success : { check: checkFailure }
  const violations = check(body).map(reportViolation)
  if (violations.length === 0) return body
  const messages = violations.map(({ message }) => message).join(' ')
  throw new Error(`The ${status} of ${operation.id} violates the document: ${messages}`)
}

/** Redirects a browser to the dashboard, and tells any other client the URLs. */
function welcome(request: IncomingMessage, own: ServerUrls): PlainResponse {
  const place = placeOf(request)
  if (request.headers.accept?.includes('text/html')) {
    return { status: 302, headers: { Location: `${place.mount}${ADMIN_PATH}/` }, text: '' }
  }
  const { baseUrl, adminUrl } = urlsFor(place, own)
  return describeData({
    service: baseUrl,
    control_plane: adminUrl,
    control_plane_document: `${adminUrl}/openapi.json`,
    dashboard: `${adminUrl}/`,
  })
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { type, text, status = 200, headers }: PlainResponse,
): void {
  const body = Buffer.from(text)
  const fields = { ...(type !== undefined && { 'Content-Type': type }), ...headers, 'Content-Length': body.length }
  response.writeHead(status, { ...fields, ...UNIFORM_HEADERS })
  response.end(request.method === 'HEAD' ? undefined : body)
}
