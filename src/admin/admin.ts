import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReceivedRequest } from '../behaviour/conformity.ts'
import type { Operation } from '../contract/api.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { writeJson } from '../ground/json-writer.ts'
import { reportViolation } from '../ground/schema.ts'
import { Semaphore } from '../ground/semaphore.ts'
import { Turns } from '../ground/turns.ts'
import { runInTurns } from '../ground/work.ts'
import { type BodyReader, type BodySettings, createBodyReader } from '../http/body.ts'
import type { ServerRequest } from '../http/engine/node-internals.ts'
import { errorEnvelope } from '../http/envelope.ts'
import { isHostMalformed } from '../http/host-field.ts'
import type { Log } from '../http/log.ts'
import { ClientGone } from '../http/reception.ts'
import { createRouter } from '../http/router.ts'
import { queryOf, readParameters, readTarget, splitTarget } from '../http/target.ts'
import { namePathInLog } from '../journal/redaction/key-shapes.ts'
import type { Readiness } from '../store/readiness.ts'
import { isAway, isReported } from '../store/store-error.ts'
import { urlsFor } from './address.ts'
import type { AdminRefusal } from './codes.ts'
import type { Control } from './control.ts'
import type { EventFeed } from './event-feed.ts'
import { createGuard } from './guard.ts'
import { sendParts, writeList } from './list-writer.ts'
import { nearestRoute } from './nearest-route.ts'
import { describeHealth, describeReadiness, PAGES, type PlainResponse, writeUnavailable } from './pages.ts'
import { describeRefusal, refusalFor } from './refusals.ts'

/** The path of the control plane. All of its paths are below it. */
export const ADMIN_PATH = '/__admin'

export interface AdminDeps {
  control: () => Promise<Control>
  /** Without a token, only programs of this machine can use the control plane. */
  token: string | undefined
  host: string
  /** Identifies this run of the server. */
  instance: string
  /** Known as soon as the server listens. */
  urls(): ServerUrls
  log: Log
  stopping: AbortSignal
  readiness: Readiness
}

/** The objects that routed requests need. */
interface Routing {
  control: Control
  bodies: BodyReader
  route: ReturnType<typeof createRouter>
}

/** The settings for request bodies. The document of the control plane has the size limit. */
const BODIES: Omit<BodySettings, 'bodyLimit'> = {
  contentType: 'required',
  requestCharset: 'utf-8',
  byteOrderMark: 'refused',
  duplicateFields: 'last',
  unreadBodies: 'ignored',
}

interface EnvelopedAnswer {
  status: number
  headers?: Record<string, string>
  body: unknown
}

interface AdminRequest extends Pick<Routing, 'control' | 'bodies'> {
  operation: Operation
  parameters: Readonly<Record<string, string>>
  query: ReturnType<typeof readTarget>['query']
}

/**
 * A body with more bytes is large, and this many requests with a large body are processed at a time. The objects made
 * of a body take many times its memory. So the other requests wait, and their bodies are not even read.
 */
export const LARGE = 256 << 10
export const LARGE_AT_ONCE = 2

const JSON_TYPE = 'application/json'
/** The header fields of every response. */
const UNIFORM_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

// These are written here, because loading the document with the other messages may be what failed.
const failure = { code: 'internal_error', message: 'The server failed to answer; its log has the reason.' }
const FAILED = JSON.stringify(errorEnvelope({ ...failure, problems: [{ ...failure, field: null }] }))

/** A request handler for the control plane. It checks the access, routes, validates, and answers. */
export function createAdmin(deps: AdminDeps): (request: ServerRequest, response: ServerResponse) => Promise<void> {
  const guard = createGuard(deps.token, deps.host)
  let routing: Promise<Routing> | undefined
  let feed: EventFeed | undefined
  const turns = new Semaphore(LARGE_AT_ONCE)

  async function load() {
    const control = await deps.control()
    const bodies = createBodyReader({ ...BODIES, bodyLimit: control.limits.bodyLimit })
    return { control, bodies, route: createRouter(control.api, { pathMatching: 'exact', head: 'get' }) }
  }

  return async function serveAdmin(request, response) {
    const { method = '', url = '' } = request
    // Clients and balancers request these every second, so nothing is loaded for them.
    if (method === 'GET' || method === 'HEAD') {
      if (url === `${ADMIN_PATH}/health`) return sendPage(request, response, describeHealth(deps.instance))
      if (url === `${ADMIN_PATH}/ready`) {
        return sendPage(request, response, describeReadiness(deps.instance, deps.readiness))
      }
    }
    if (splitTarget(url).path === '/') {
      sendWelcome(request, response, urlsFor(request.headers.host, deps.urls()))
      return
    }
    try {
      routing ??= load().catch((error) => {
        routing = undefined
        throw error
      })
      await serve(request, response, await routing)
    } catch (error) {
      if (error instanceof ClientGone) return
      if (!isReported(error)) {
        const path = namePathInLog(splitTarget(url).path)
        deps.log.error({ method, path, err: error }, 'The control plane failed to answer.')
      }
      if (response.headersSent) response.destroy()
      else if (isAway(error))
        send(request, response, 503, { 'Content-Type': JSON_TYPE }, writeUnavailable(error.message))
      else send(request, response, 500, { 'Content-Type': JSON_TYPE }, FAILED)
    }
  }

  async function serve(
    request: ServerRequest,
    response: ServerResponse,
    { control, bodies, route }: Routing,
  ): Promise<void> {
    const { path, query } = readTarget(request.url ?? '')
    const rejected = isOpen(path, deps.token !== undefined) ? undefined : (guard(request) ?? refuseHost(request))
    if (rejected) return sendAnswer(request, response, answerRefusal(control, undefined, rejected))
    const routed = route(request.method ?? '', path === ADMIN_PATH ? `${ADMIN_PATH}/` : path)
    if (!routed.ok) {
      const refusal = routed.allow === undefined ? nothingAt(path, control) : routed
      return sendAnswer(request, response, answerRefusal(control, undefined, refusal, routed.allow))
    }
    const { operation, parameters } = routed
    const repeated = findRepeated(request.url ?? '')
    if (repeated !== undefined) return sendAnswer(request, response, answerRefusal(control, operation, repeated))
    const perform = () => answer(request, response, { control, bodies, operation, parameters, query })
    await (mayBeLarge(request) ? turns.run(perform) : perform())
  }

  async function answer(
    request: ServerRequest,
    response: ServerResponse,
    { control, bodies, operation, parameters, query }: AdminRequest,
  ): Promise<void> {
    const received = await receive(request, bodies, operation)
    if ('refusal' in received) return sendAnswer(request, response, answerRefusal(control, operation, received.refusal))
    // Parsing a large body takes a whole turn, so other requests go first.
    if (mayBeLarge(request)) await new Turns().next()
    const conforming = control.conform({ operation, query, body: received.body })
    if (!conforming.ok) return sendAnswer(request, response, answerRefusal(control, operation, conforming))
    const page = PAGES[operation.id]
    if (page !== undefined) return sendPage(request, response, await page(control))
    if (operation.id === 'streamAllEvents') return stream(request, response, control, undefined, operation)
    if (operation.id === 'streamEvents') {
      const { account = '' } = parameters
      if (await control.deps.store.has(account)) return stream(request, response, control, account, operation)
      return sendAnswer(request, response, answerRefusal(control, operation, control.unknownAccount(account)))
    }
    const { host } = request.headers
    const outcome = await control.run(operation, { parameters, query: conforming.query, body: conforming.body, host })
    if (!outcome.ok) return sendAnswer(request, response, answerRefusal(control, operation, outcome))
    const { status } = operation.success
    const check = (data: unknown) => validated(operation, { status, body: { success: true, data } })
    const headers = { 'Content-Type': JSON_TYPE }
    if ('data' in outcome) {
      const text = await runInTurns(writeJson(check(outcome.data).body))
      return send(request, response, status, headers, text)
    }
    await sendParts(request, response, writeList(outcome.list, check), {
      head: () => void response.writeHead(status, { ...headers, ...UNIFORM_HEADERS }),
      send: (text) => send(request, response, status, headers, text),
    })
  }

  async function stream(
    request: ServerRequest,
    response: ServerResponse,
    control: Control,
    account: string | undefined,
    operation: Operation,
  ): Promise<void> {
    // A stream of events has no end, so HEAD is answered without opening one.
    if (request.method === 'HEAD') return sendPage(request, response, { type: 'text/event-stream', text: '' })
    const { EventFeed } = await import('./event-feed.ts')
    const { streamEntries } = await import('./event-stream.ts')
    const { exchanges } = control.deps
    const { journal } = exchanges
    const { catalogue } = control.deps.contract
    feed ??= new EventFeed(journal, catalogue)
    if (feed.size >= control.limits.eventStreams) {
      const expected = `There are ${feed.size} streams of events, which is the maximum`
      const refusal = refuse({ code: 'insufficient_storage', about: { expected } })
      return sendAnswer(request, response, answerRefusal(control, operation, refusal))
    }
    // A client that reconnects may have seen later events from another process.
    await exchanges.caughtUp()
    streamEntries(request, response, { feed, journal, catalogue, account }, deps.stopping)
  }
}

/**
 * Whether any client may read the path. The health of the server is public. The dashboard page is open if there is a
 * token, because a browser cannot send one when it opens the page. The page holds no data and asks for the token.
 */
function isOpen(path: string, hasToken: boolean): boolean {
  const isDashboard = path === ADMIN_PATH || path === `${ADMIN_PATH}/`
  return path === `${ADMIN_PATH}/health` || path === `${ADMIN_PATH}/ready` || (hasToken && isDashboard)
}

/** Reads the body of a request. Returns a refusal if there is no room for the body. */
async function receive(
  request: ServerRequest,
  bodies: BodyReader,
  operation: Operation,
): Promise<{ body: ReceivedRequest['body'] } | { refusal: AdminRefusal }> {
  try {
    return { body: await bodies.read(request, operation) }
  } catch (error) {
    return { refusal: refusalFor(error, undefined) }
  }
}

/** Whether a request has a large body or a body of unknown size. */
function mayBeLarge({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > LARGE || headers['transfer-encoding'] !== undefined
}

function refuseHost(request: ServerRequest): AdminRefusal | undefined {
  return isHostMalformed(request) ? refuse({ code: 'invalid_request_body', reason: 'malformed' }) : undefined
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

function answerRefusal(
  { api }: Control,
  operation: Operation | undefined,
  { problems }: Refusal<string>,
  allow?: string,
): EnvelopedAnswer {
  const { status, body } = describeRefusal(api.catalogue, problems)
  const headers = {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(allow !== undefined && { Allow: allow }),
  }
  return { ...validated(operation, { status, body }), headers }
}

/** The answer, if the document permits it. @throws Error for any other answer, which is a bug */
function validated(operation: Operation | undefined, answer: EnvelopedAnswer): EnvelopedAnswer {
  if (operation === undefined) return answer
  const response = operation.responses.get(answer.status)
  if (response === undefined) throw new Error(`${operation.id} documents no ${answer.status}.`)
  const violations = response.check(answer.body).map(reportViolation)
  if (violations.length === 0) return answer
  const messages = violations.map(({ message }) => message).join(' ')
  throw new Error(`The ${answer.status} of ${operation.id} violates the document: ${messages}`)
}

function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: EnvelopedAnswer,
): void {
  send(request, response, status, { 'Content-Type': JSON_TYPE, ...headers }, JSON.stringify(body))
}

/** Redirects a browser to the dashboard, and sends the URLs to any other client. */
function sendWelcome(request: IncomingMessage, response: ServerResponse, { baseUrl, adminUrl }: ServerUrls): void {
  if (/\btext\/html\b/.test(request.headers.accept ?? '')) {
    send(request, response, 302, { Location: `${ADMIN_PATH}/` }, '')
    return
  }
  const data = {
    service: baseUrl,
    control_plane: adminUrl,
    control_plane_document: `${adminUrl}/openapi.json`,
    dashboard: `${adminUrl}/`,
  }
  sendAnswer(request, response, { status: 200, body: { success: true, data } })
}

function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { type, text, status = 200, headers }: PlainResponse,
): void {
  send(request, response, status, { 'Content-Type': type, ...headers }, text)
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  text: string,
): void {
  const body = Buffer.from(text)
  response.writeHead(status, { ...headers, 'Content-Length': body.length, ...UNIFORM_HEADERS })
  response.end(request.method === 'HEAD' ? undefined : body)
}
