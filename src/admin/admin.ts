import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ConformitySettings, conform } from '../behaviour/conformity.ts'
import type { Operation } from '../contract/api.ts'
import type { Refusal } from '../domain/errors.ts'
import { reportViolation } from '../ground/schema.ts'
import { type BodySettings, ClientGone, readBody } from '../http/body.ts'
import type { Log } from '../http/log.ts'
import { createRouter } from '../http/router.ts'
import { readTarget, splitTarget } from '../http/target.ts'
import { isReported } from '../store/store-error.ts'
import type { Control } from './control.ts'
import { createGuard } from './guard.ts'
import { describeRefusal } from './refusal.ts'
import type { ControlDeps } from './verb.ts'

/** The path below which the control plane lives, beside the service's own. */
export const ADMIN_PATH = '/__admin'

export interface AdminDeps {
  control: () => Promise<Control>
  /** Without one, only this machine may use the control plane. */
  token: string | undefined
  host: string
  log: Log
  stopping: AbortSignal
}

const HEALTHY = Buffer.from(JSON.stringify({ success: true, data: { status: 'ok' } }))

// Of what failed it could be the document that is asked for the words of every other refusal.
const message = 'The server failed to answer; its log has the reason.'
const failure = { code: 'internal_error', message }
const FAILED = Buffer.from(
  JSON.stringify({ success: false, error: { ...failure, problems: [{ ...failure, field: null }] } }),
)

/** An answer that is no envelope. */
interface Page {
  type: string
  text: string
  headers?: Readonly<Record<string, string>>
}

type Answer = { status: number; headers?: Record<string, string>; body: unknown } | Page | undefined

/** Loads the control plane; not before somebody asks for it, because a start should not wait for it. */
export function createControl(deps: ControlDeps): () => Promise<Control> {
  let control: Promise<Control> | undefined
  async function load(): Promise<Control> {
    const { Control, loadControlApi } = await import('./control.ts')
    return new Control(await loadControlApi(), deps)
  }
  return () => {
    control ??= load().catch((error) => {
      // What kept it from being loaded, such as too many open files, may go.
      control = undefined
      throw error
    })
    return control
  }
}

/** Answers what is asked of the control plane, except whether it is up, through its own document. */
export function createAdmin(deps: AdminDeps): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const guard = createGuard(deps.token, deps.host)
  let routing: Promise<{ control: Control; route: ReturnType<typeof createRouter> }> | undefined

  async function load() {
    const control = await deps.control()
    return { control, route: createRouter(control.api, { pathMatching: 'exact', head: 'get' }) }
  }

  return async function serveAdmin(request, response) {
    const { method = '', url = '' } = request
    // Asked every second by those who wait for a start: no need to load anything for it.
    if (url === `${ADMIN_PATH}/health` && (method === 'GET' || method === 'HEAD')) {
      send(request, response, 200, { 'Content-Type': 'application/json' }, HEALTHY)
      return
    }
    try {
      routing ??= load().catch((error) => {
        routing = undefined
        throw error
      })
      const { control, route } = await routing
      const answer = await decide(request, response, control, route)
      if (answer === undefined) return
      if ('type' in answer) {
        const headers = { 'Content-Type': answer.type, ...answer.headers }
        send(request, response, 200, headers, Buffer.from(answer.text))
      } else {
        const headers = { 'Content-Type': 'application/json', ...answer.headers }
        send(request, response, answer.status, headers, Buffer.from(JSON.stringify(answer.body)))
      }
    } catch (error) {
      if (error instanceof ClientGone) return
      if (!isReported(error))
        deps.log.error({ method, path: splitTarget(url).path, err: error }, 'The control plane failed to answer.')
      if (response.headersSent) response.destroy()
      else send(request, response, 500, { 'Content-Type': 'application/json' }, FAILED)
    }
  }

  async function decide(
    request: IncomingMessage,
    response: ServerResponse,
    control: Control,
    route: ReturnType<typeof createRouter>,
  ): Promise<Answer> {
    const { path, query } = readTarget(request.url ?? '')
    // Whether it is up is no secret. A browser that opens the page can send no token; the page itself asks for it, and
    // shows nothing without.
    const isPage = path === ADMIN_PATH || path === `${ADMIN_PATH}/`
    const open = path === `${ADMIN_PATH}/health` || (deps.token !== undefined && isPage)
    const barred = open ? undefined : guard(request)
    if (barred) return refuse(control, undefined, barred)
    const routed = route(request.method ?? '', path === ADMIN_PATH ? `${ADMIN_PATH}/` : path)
    if (!routed.ok) return refuse(control, undefined, routed, routed.allow)
    const { operation, parameters } = routed
    const settings: BodySettings & ConformitySettings = {
      bodyLimit: control.limits.bodyLimit,
      contentType: 'required',
      nullFields: 'wrong-type',
      unknownQueryParameters: 'refused',
    }
    const body = await readBody(request, operation, settings)
    const conforming = conform({ operation, query, body }, settings, control.api.catalogue)
    if (!conforming.ok) return refuse(control, operation, conforming)
    const page = await serveOther(request, response, operation, parameters, control)
    if (page !== 'none') return page
    const outcome = await control.run(operation, { parameters, query: conforming.query, body: conforming.body })
    if (!outcome.ok) return refuse(control, operation, outcome)
    return prove(operation, operation.success.status, { success: true, data: outcome.data })
  }

  /** What answers with something else than the envelope. */
  async function serveOther(
    request: IncomingMessage,
    response: ServerResponse,
    operation: Operation,
    { account }: Readonly<Record<string, string>>,
    control: Control,
  ): Promise<Answer | 'none'> {
    const { worlds, store, contract } = control.deps
    async function stream(of: string | undefined): Promise<Answer> {
      // Without a body there is nothing to wait for.
      if (request.method === 'HEAD') return { type: 'text/event-stream', text: '' }
      const { streamEntries } = await import('./events.ts')
      streamEntries(request, response, worlds.journal, of, contract.catalogue, deps.stopping)
      return undefined
    }
    switch (operation.id) {
      case 'getHealth':
        return { type: 'application/json', text: HEALTHY.toString() }
      case 'getDocument':
        return { type: 'application/json', text: JSON.stringify(control.api.document.source) }
      case 'getMetrics': {
        const { writeMetrics } = await import('./metrics.ts')
        return writeMetrics(control.deps)
      }
      case 'getDashboard': {
        const { readDashboard } = await import('./dashboard.ts')
        return { type: 'text/html; charset=utf-8', ...(await readDashboard(contract, control.api)) }
      }
      case 'streamEvents':
        if (account === undefined || !(await store.has(account))) {
          const problem = { code: 'not_found', value: account, about: { what: 'account' } }
          return refuse(control, operation, { ok: false, problems: [problem] })
        }
        return stream(account)
      case 'streamAllEvents':
        return stream(undefined)
      default:
        return 'none'
    }
  }
}

/** The refusal in the envelope, with every problem; the catalogue says which of them is answered. */
function refuse(
  { api }: Control,
  operation: Operation | undefined,
  { problems }: Refusal<string>,
  allow?: string,
): Answer {
  const { status, body } = describeRefusal(api.catalogue, problems)
  const headers = {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(allow !== undefined && { Allow: allow }),
  }
  return { ...prove(operation, status, body), headers }
}

/** Holds an answer to the document; one that departs from it is a bug. */
function prove(operation: Operation | undefined, status: number, body: unknown): { status: number; body: unknown } {
  const check = operation?.responses.get(status)?.check
  const violations = check?.(body) ?? []
  if (operation !== undefined && check === undefined) throw new Error(`${operation.id} documents no ${status}.`)
  if (violations.length > 0) {
    throw new Error(
      `The ${status} of ${operation?.id} violates the document: ${violations.map((violation) => reportViolation(violation).message).join(' ')}`,
    )
  }
  return { status, body }
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: Buffer,
): void {
  response.writeHead(status, {
    ...headers,
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
