import { CALLS, type CallId, type RequestOf } from './calls.ts'
import { isObject, readRefusal, Unreachable } from './refusals.ts'
import type { ResponseData } from './responses.ts'
import { chosenAccount } from './selection.ts'
import { askForToken, readToken } from './token.tsx'

const ROOT = location.pathname.replace(/\/+$/, '')

type DataOf<Id extends CallId> = Id extends keyof ResponseData ? ResponseData[Id] : unknown
/** The request is optional if all of its parts are. */
type ArgumentOf<Id extends CallId> = object extends RequestOf<Id> ? [request?: RequestOf<Id>] : [request: RequestOf<Id>]

interface Request {
  parameters?: Readonly<Record<string, string>>
  body?: object
  query?: object
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

/**
 * Calls an operation and resolves to the data of its success response. The account is the chosen one by default.
 *
 * @throws Refused if the control plane refuses the request, and Unreachable if it does not answer.
 */
export function call<Id extends CallId>(id: Id, ...request: ArgumentOf<Id>): Promise<DataOf<Id>>
// A type assertion is safe here: the server validates each response against its document, and a test compares the
// types.
export async function call(id: CallId, request?: Request): Promise<unknown> {
  return readData(await send(id, request))
}

/** The data of a success response. */
export async function readData(response: Response): Promise<unknown> {
  const answer: unknown = await response.json().catch(() => undefined)
  if (!isObject(answer)) throw new Unreachable('The response of the server is incomplete.')
  return answer['data']
}

/** Sends a request and resolves to a response with a success status. Asks the user for the token if one is needed. */
export async function send(id: CallId, request: Request = {}): Promise<Response> {
  const { body, query, headers, signal } = request
  const [method, template] = CALLS[id]
  const parameters: Readonly<Record<string, string>> = { account: chosenAccount.peek(), ...request.parameters }
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))
  const search = new URLSearchParams(Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]))
  const url = ROOT + path + (search.size > 0 ? `?${search}` : '')
  for (;;) {
    const token = readToken()
    const fields = {
      ...headers,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    const content = { ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) }
    const response = await fetch(url, { method, headers: fields, ...content }).catch((error) => {
      throw signal?.aborted ? error : new Unreachable('The server does not answer.')
    })
    if (response.ok) return response
    const refused = readRefusal(response.status, await response.json().catch(() => undefined))
    if (refused === undefined) {
      throw new Unreachable(`Something other than the control plane answered, with the status ${response.status}.`)
    }
    if (response.status !== 401) throw refused
    // Another request may have asked for the token in the meantime.
    if (token === readToken()) await askForToken(token !== null)
  }
}
