import { chosenAccount, ROOT } from './address.ts'
import { FACTS } from './facts.ts'
import { isObject, readRefusal, Unreachable } from './refusals.ts'
import type { BodyOf, CallId, DataOf } from './responses.ts'
import { askForToken, readToken } from './token.tsx'

/** A parameter of the path. */
type Parameter = 'account' | 'domain' | 'fault' | 'group' | 'key' | 'request-id' | 'set' | 'snapshot'

export type Query = Readonly<Record<string, string | number>>

interface CallRequest<Body> {
  /** The account is the chosen one by default. */
  parameters?: Readonly<Partial<Record<Parameter, string>>>
  query?: Query
  body?: Body
  /** Aborts the call early. */
  signal?: AbortSignal
}

/**
 * Calls an operation and resolves to the data of its success response.
 *
 * @throws Refused if the control plane refuses the request, and Unreachable if it does not answer.
 */
export async function call<Id extends CallId>(id: Id, request?: CallRequest<BodyOf<Id>>): Promise<DataOf<Id>> {
  // The server validates each response against its document, so the type is certain.
  return readData(await send(id, request)) as Promise<DataOf<Id>>
}

/** The data of a success response. */
export async function readData(response: Response): Promise<unknown> {
  const answer: unknown = await response.json().catch(() => undefined)
  if (!isObject(answer)) throw new Unreachable('The response of the server is incomplete.')
  return answer['data']
}

/** Sends a request and resolves to a response with a success status. Asks the user for the token if one is needed. */
export async function send(id: string, request: CallRequest<unknown> = {}): Promise<Response> {
  const { body, query = {}, signal } = request
  const operation = FACTS.calls[id]
  if (operation === undefined) throw new Error(`This page does not know the operation ${id}.`)
  const [method, template] = operation
  const parameters: Readonly<Record<string, string>> = { account: chosenAccount.peek(), ...request.parameters }
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (value === undefined) throw new Error(`A call of ${id} needs the parameter ${name}.`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const url = ROOT + path + (search.size > 0 ? `?${search}` : '')
  for (;;) {
    const token = readToken()
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const content = { ...(body !== undefined && { body: JSON.stringify(body) }), ...(signal && { signal }) }
    const response = await fetch(url, { method, headers, ...content }).catch((error) => {
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
