import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NextFunction, Request, Response, Router } from 'express'
import type { Operation } from '../contract/api.ts'
import { ClientGone, createBodyReader } from '../contract/body.ts'
import { errorEnvelope } from '../contract/reply.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { ServerArrival } from '../exchanges/server-arrival.ts'
import { nearestName } from '../ground/edit-distance.ts'
import type { Log } from '../ground/log.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { queryOf, readParameters, readTarget, splitTarget } from '../ground/target.ts'
import { namePathInLog } from '../journal/redaction/secrets.ts'
import { isAway, isReported } from '../store/store-error.ts'
import { describeAbout } from './about.ts'
import { placeOf, urlsFor } from './address.ts'
import type { Control } from './control.ts'
import { streamEvents } from './events.ts'
import { createGuard } from './guard.ts'
import type { ControlDeps } from './handler.ts'
import { getHealth, getReadiness } from './health.ts'
import { type Page, readPage } from './page.ts'
import { ADMIN_PATH, FORMER_PAGES, PAGE_PATHS, UNIFORM_HEADERS } from './paths.ts'
import { describeRefusal, unknownAccount } from './refusals.ts'

export interface AdminDeps extends Pick<ControlDeps, 'instance' | 'urls' | 'readiness'> {
  control: () => Promise<Control>
  /** Without a token, only programs of this machine can use the control plane. */
  token: string | undefined
  host: string
  log: Log
  stopping: AbortSignal
}

const STREAMS: ReadonlySet<string> = new Set(['streamAllEvents', 'streamEvents'])
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Answers requests to the control plane, of which the first loads it. The promise resolves with the answer. */
export function createAdmin(deps: AdminDeps): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const routerOf = memoizeWeakly((control: Control) => createRouter(control, deps))

  return async function serveAdmin(request, response) {
    if (answerAtOnce(request, response, deps)) return
    try {
      const router = await routerOf(await deps.control())
      if (response.closed) return
      const answered = new Promise((resolve) => response.once('close', resolve))
      router(request as Request, response as Response, (error) => fail(error, request, response, deps.log))
      await answered
    } catch (error) {
      fail(error, request, response, deps.log)
    }
  }
}

/** Clients and balancers ask for health and readiness every second, and anybody for the root: nothing is loaded for them. */
function answerAtOnce(request: IncomingMessage, response: ServerResponse, deps: AdminDeps): boolean {
  const { method, url = '' } = request
  if (splitTarget(url).path === '/') {
    welcome(request, response, deps.urls())
    return true
  }
  if (method !== 'GET' && method !== 'HEAD') return false
  const outcome =
    url === `${ADMIN_PATH}/health` ? getHealth(deps) : url === `${ADMIN_PATH}/ready` ? getReadiness(deps) : undefined
  if (outcome?.ok !== true) return false
  send(response, 200, JSON_TYPE, JSON.stringify({ success: true, data: outcome.data }))
  return true
}

/** Leads a browser to the dashboard, and tells any other client the URLs. */
function welcome(request: IncomingMessage, response: ServerResponse, own: ServerUrls): void {
  const place = placeOf(request)
  if (request.headers.accept?.includes('text/html')) {
    send(response, 302, { Location: `${place.mount}${ADMIN_PATH}/` })
    return
  }
  const { baseUrl, adminUrl } = urlsFor(place, own)
  const data = {
    service: baseUrl,
    control_plane: adminUrl,
    control_plane_document: `${adminUrl}/openapi.json`,
    dashboard: `${adminUrl}/`,
  }
  send(response, 200, JSON_TYPE, JSON.stringify({ success: true, data }))
}

/** The control plane as a router of Express: the access, the page, the operations of the document, and what is neither. */
async function createRouter(control: Control, { token, host, stopping, log }: AdminDeps): Promise<Router> {
  const { api, limits } = control
  const { default: express } = await import('express')
  const router = express.Router({ caseSensitive: true, strict: true })
  const bodies = createBodyReader({ contentType: 'required', bodyLimit: limits.bodyLimit })
  const guard = createGuard(token, host)
  const streams = new Set<ServerResponse>()

  router.use((request, response, next) => {
    const refusal = guard(request)
    if (refusal === undefined) next()
    else deny(response, refusal)
  })
  let page: Page | undefined
  router.get(PAGE_PATHS, (_request, response) => {
    page ??= readPage(describeAbout({ ...control.deps, api }))
    send(response, 200, { 'Content-Type': 'text/html; charset=utf-8', ...page.headers }, page.text)
  })
  for (const operation of api.operations) {
    const method = operation.method.toLowerCase() as 'get'
    router[method](routeOf(operation.path), (request, response) => answer(operation, request, response))
  }
  for (const [path, methods] of api.routes) {
    const allowed = [...methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', ')
    router.all(routeOf(path), ({ method, url }, response) => {
      const about = { method, path: splitTarget(url).path, allowed }
      deny(response, refuse({ code: 'not_found', reason: 'method', value: method, about }), { Allow: allowed })
    })
  }
  router.get(FORMER_PAGES, (request, response) => {
    const moved = request.url.replace('/accounts/', '/page/')
    send(response, 302, { Location: placeOf(request).mount + moved })
  })
  router.use((request, response) => deny(response, nothingAt(request.url, api.routes.keys())))
  router.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    // Of a path that cannot be decoded.
    if (error instanceof URIError) deny(response, nothingAt(request.url, api.routes.keys()))
    else fail(error, request, response, log)
  })
  return router

  async function answer(operation: Operation, request: Request, response: Response): Promise<void> {
    const received = new ServerArrival(request)
    const repeated = findRepeated(request.url)
    const body = await bodies.read(received, operation)
    const conforming = repeated ?? control.conform({ operation, query: readTarget(request.url).query, body })
    if (!conforming.ok) return deny(response, conforming)
    if (operation.id === 'getDocument') return send(response, 200, JSON_TYPE, JSON.stringify(api.document.source))
    if (STREAMS.has(operation.id)) return stream(request, response)
    const call = { ...conforming, parameters: request.params as Record<string, string>, place: placeOf(request) }
    const outcome = await control.run(operation, call)
    if (!outcome.ok) return deny(response, outcome)
    const data = outcome.write?.() ?? JSON.stringify(outcome.data)
    send(response, operation.success.status, JSON_TYPE, `{"success":true,"data":${data}}`)
  }

  async function stream(request: Request, response: Response): Promise<void> {
    const { account } = request.params as { account?: string }
    const { exchanges, contract, store, worlds } = control.deps
    if (account !== undefined && (await store.find('id', account)) === undefined) {
      return deny(response, unknownAccount(worlds, account))
    }
    // A stream of events has no end, so HEAD is answered without opening one.
    if (request.method === 'HEAD') return send(response, 200, { 'Content-Type': 'text/event-stream' })
    if (streams.size >= limits.eventStreams) {
      const expected = `There are ${streams.size} streams of events, which is the maximum`
      return deny(response, refuse({ code: 'insufficient_storage', about: { expected } }))
    }
    streams.add(response)
    response.once('close', () => streams.delete(response))
    // A client that reconnects may have seen later events from another process.
    await exchanges.caughtUp()
    streamEvents(request, response, { journal: exchanges.journal, catalogue: contract.catalogue, account, stopping })
  }

  function deny(response: ServerResponse, { problems }: Refusal<string>, headers: Record<string, string> = {}): void {
    const { status, body } = describeRefusal(api.catalogue, problems)
    const challenge = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}
    send(response, status, { ...JSON_TYPE, ...challenge, ...headers }, JSON.stringify(body))
  }
}

/** The path of the document as Express writes it. A name in it may have a dash. */
function routeOf(path: string): string {
  return ADMIN_PATH + path.replaceAll(/\{([^}]+)\}/g, ':"$1"')
}

/** The refusal of a query with a repeated parameter, because only one of its values would count. */
function findRepeated(url: string): Refusal<string> | undefined {
  const names = readParameters(queryOf(url)).map(([name]) => name)
  const field = names.find((name, index) => names.indexOf(name) < index)
  return field === undefined ? undefined : refuse({ code: 'invalid_value', reason: 'repeated', field })
}

/** The refusal of a path that the control plane does not have, with the nearest one. */
function nothingAt(url: string, routes: Iterable<string>): Refusal<string> {
  const { path } = splitTarget(url)
  const nearest = nearestRoute(path.slice(ADMIN_PATH.length), routes)
  if (nearest === undefined) return refuse({ code: 'not_found', reason: 'path', about: { path } })
  return refuse({ code: 'not_found', reason: 'near-path', about: { path, nearest: ADMIN_PATH + nearest } })
}

/** The route that a path probably means. The account may be what it lacks. */
function nearestRoute(path: string, routes: Iterable<string>): string | undefined {
  const given = path.split('/')
  const fill = (route: string) => {
    const steps = route.split('/').map((step, index) => (step.startsWith('{') ? (given[index] ?? step) : step))
    return steps.join('/')
  }
  const all = [...routes]
  const short = all.map((route) => [fill(route.replace('/accounts/{account}/', '/')), route] as const)
  const meant = new Map([...short, ...all.map((route) => [fill(route), route] as const)])
  return meant.get(nearestName(path, meant.keys()) ?? '')
}

/** Answers a request that could not be answered. It uses no document, because that may not be loaded. */
function fail(error: unknown, { method, url = '' }: IncomingMessage, response: ServerResponse, log: Log): void {
  if (error instanceof ClientGone) return
  if (!isReported(error)) {
    log.error({ method, path: namePathInLog(splitTarget(url).path), err: error }, 'The control plane failed to answer.')
  }
  if (response.headersSent) return void response.destroy()
  const [status, code, message] = isAway(error)
    ? ([503, 'unavailable', `${error.message}.`] as const)
    : ([500, 'internal_error', 'The server failed to answer; its log has the reason.'] as const)
  const envelope = errorEnvelope({ code, message, problems: [{ code, message, field: null }] })
  send(response, status, JSON_TYPE, JSON.stringify(envelope))
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, text = ''): void {
  const body = Buffer.from(text)
  response.writeHead(status, { ...headers, 'Content-Length': body.length, ...UNIFORM_HEADERS })
  response.end(body)
}
