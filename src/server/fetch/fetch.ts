import { METHODS, maxHeaderSize } from 'node:http'
import type { Problem } from '../../domain/errors.ts'
import type { Arrival } from '../../ground/arrival.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import type { Delivery, Loss } from '../../ground/delivery.ts'
import type { Log } from '../../ground/log.ts'
import { clearTimeout, setTimeout } from '../../ground/timers.ts'
import { waitUntil } from '../../ground/waiting.ts'
import type { MalformedRefusal } from '../../service/malformed-response.ts'
import { arrivalOf } from '../direct-arrival.ts'
import type { RequestHandler } from '../http-server.ts'
import { type AskControl, openControlConnections } from './control-connection.ts'
import { closed, fetchFailed, invalidField, reset, stopped } from './failure.ts'
import { type Fetch, fieldsOf, readRequest, targetOf } from './request.ts'
import { type FetchedBody, openBody, type RestOfBody } from './request-body.ts'
import { inOnePiece, partsOf, responseOf } from './response.ts'

/** The control plane, and the requests that it answers in place of the service. */
export interface ControlService {
  serve: RequestHandler
  owns(request: Pick<Arrival, 'method' | 'url' | 'headers'>): boolean
}

export interface FetchDeps {
  answer(arrival: Arrival): Awaitable<Delivery | undefined>
  refuseMalformed: MalformedRefusal
  /** Absent if it is not served. */
  control: ControlService | undefined
  baseUrl: string
  stopping: AbortSignal
  log: Log
}

export interface FetchDoor {
  readonly fetch: Fetch
  /** Resolves when no request is under way. Those that take longer than the milliseconds are ended. */
  close(patience: number): Promise<void>
}

/** A request that is under way. */
interface Visit {
  request: Request
  /** Aborted when the client leaves, with the error that it gets. */
  leaving: AbortController
}

/**
 * The way in for a program that has a web-standard `Request`. The service and the control plane answer it as on a
 * connection, but no port is needed. Only the path and the query of its URL count.
 */
export function openFetch({ answer, refuseMalformed, control, baseUrl, stopping, log }: FetchDeps): FetchDoor {
  const { host } = new URL(baseUrl)
  const askControl: AskControl | undefined = control && openControlConnections(control.serve)
  const underWay = new Set<Visit>()
  let isEmpty = () => {}

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = readRequest(input, init, `${baseUrl}/domains`)
    if (stopping.aborted) throw fetchFailed(stopped())
    const { signal } = request
    signal.throwIfAborted()
    const visit = { request, leaving: new AbortController() }
    // It holds the request, without which its signal may be forgotten.
    signal.addEventListener('abort', () => visit.leaving.abort(request.signal.reason), { once: true })
    underWay.add(visit)
    try {
      return await untilLeft(visit, serve(visit))
    } finally {
      underWay.delete(visit)
      if (underWay.size === 0) isEmpty()
    }
  }

  async function serve(visit: Visit): Promise<Response> {
    const { request, leaving } = visit
    const body = await openBody(request, leaving.signal).catch((error) => {
      throw fetchFailed(error)
    })
    const { rest } = body
    // The error of a body that breaks off ends the request, also while nobody reads the body.
    rest?.once('error', (error) => leaving.abort(fetchFailed(error)))
    leaving.signal.addEventListener('abort', () => rest?.destroy(), { once: true })
    try {
      return await carry(visit, body)
    } finally {
      // Nobody reads what is left of the body.
      rest?.destroy()
    }
  }

  async function carry(visit: Visit, { whole, rest, framing }: FetchedBody): Promise<Response> {
    const { request, leaving } = visit
    const { method } = request
    const target = targetOf(request)
    const malformation = findMalformation(request, target)
    if (malformation !== undefined) return refuse(visit, malformation, target)
    const fields = [...fieldsOf(request), ...framing]
    refuseUnsendable(fields)
    // An application may have received the request from another machine, so its Host counts for the control plane.
    const named = request.headers.get('host') ?? host
    if (askControl !== undefined && control?.owns({ method, url: target, headers: { host: named } })) {
      return askControl({ method, target, headers: ['host', named, ...fields], body: rest ?? whole }, visit)
    }
    const headers = ['host', host, ...fields]
    const arrival = arrivalOf({ method, target, headers, body: rest ?? whole, leaving: leaving.signal })
    return serveDirectly(visit, arrival, rest)
  }

  /** Refuses what Node's server would not take from a connection. */
  function refuse({ request, leaving }: Visit, problem: Problem, target: string): Response {
    const refused = refuseMalformed(problem, { method: request.method, target })
    if (refused === undefined) throw fetchFailed(closed())
    const { status, headers, body } = refused
    return responseOf({ status, fields: Object.entries(headers).flat(), pieces: inOnePiece(body) }, request, leaving)
  }

  async function serveDirectly(visit: Visit, arrival: Arrival, rest: RestOfBody | undefined): Promise<Response> {
    const { request, leaving } = visit
    const delivery = await answer(arrival)
    if (delivery === undefined) throw fetchFailed(rest?.errored ?? closed())
    if ('lost' in delivery) return lose(delivery, leaving.signal)
    try {
      return responseOf(
        partsOf(delivery, (between) => arrival.wait(between, stopping)),
        request,
        leaving,
      )
    } catch (err) {
      log.error({ err }, 'The response could not be sent.')
      throw fetchFailed(closed())
    }
  }

  /** Rejects as `fetch` does when the connection ends without a response. */
  async function lose({ lost }: Loss, leaving: AbortSignal): Promise<never> {
    if (lost === 'hang') await waitUntil(undefined, stopping, leaving)
    throw fetchFailed(lost === 'reset' ? reset() : closed())
  }

  async function close(patience: number): Promise<void> {
    if (underWay.size === 0) return
    const empty = new Promise<void>((resolve) => {
      isEmpty = resolve
    })
    const deadline = setTimeout(() => {
      for (const { leaving } of underWay) leaving.abort(fetchFailed(closed()))
    }, patience)
    await empty
    clearTimeout(deadline)
  }

  return { fetch, close }
}

/** Why Node's server would not hand on a request. */
function findMalformation({ method, headers }: Request, target: string): Problem | undefined {
  if (!METHODS.includes(method)) return { code: 'invalid_request_body', reason: 'malformed' }
  let size = target.length
  for (const [name, value] of headers) size += name.length + value.length
  return size > maxHeaderSize ? { code: 'request_too_large', reason: 'large-header' } : undefined
}

/** Refuses fields that `fetch` does not send, although a `Request` may have them. */
function refuseUnsendable(fields: readonly string[]): void {
  for (let index = 0; index < fields.length; index += 2) {
    const name = `${fields[index]}`
    if (UNSENDABLE.test(`${fields[index + 1]}`)) throw fetchFailed(invalidField(name))
  }
}

/** What a field may not have: control characters except the tab (RFC 9110 §5.5). */
const UNSENDABLE = /[^\t -~\x80-\xff]/

/** The response, unless the client leaves before. */
function untilLeft({ leaving: { signal } }: Visit, response: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    response.then(resolve, reject)
  })
}
