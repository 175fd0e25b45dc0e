import { FACTS } from './facts.ts'
import { chosenAccount, ROOT } from './place.tsx'
import { isObject, type Refused, readRefusal, Unreachable } from './refusals.ts'
import type { BodyOf, CallId, DataOf } from './responses.ts'
import { askForToken, readToken } from './token.tsx'

/** A parameter of the path. */
type Parameter = 'account' | 'domain' | 'fault' | 'group' | 'key' | 'request-id' | 'set' | 'snapshot'

/** How long the page waits for an answer, in milliseconds; for a change, which may have much to carry, longer. */
const PATIENCE = 10_000
const PATIENCE_OF_CHANGES = 60_000

export type Query = Readonly<Record<string, string | number>>

interface CallRequest<Body> {
  /** The account is the chosen one by default. */
  parameters?: Readonly<Partial<Record<Parameter, string>>>
  query?: Query
  body?: Body
}

/**
 * Calls an operation and resolves to the data of its success response.
 *
 * @throws Refused if the control plane refuses the request, and Unreachable if it does not answer within the time limit.
 */
export async function call<Id extends CallId>(id: Id, request?: CallRequest<BodyOf<Id>>): Promise<DataOf<Id>> {
  // The server validates each response against its document, so the type is certain.
  return send(id, request, readData) as Promise<DataOf<Id>>
}

/** The data of a success response. */
export async function readData(response: Response): Promise<unknown> {
  const answer: unknown = await response.json().catch(() => undefined)
  if (!isObject(answer)) throw new Unreachable('The response of the server is incomplete.')
  return answer['data']
}

/**
 * Sends a request and resolves to what `read` takes from a response with a success status, within the time limit of its
 * method. Without `read`, the time limit ends when the response begins. Asks the user for the token if one is needed.
 */
export async function send<Answer = Response>(
  id: string,
  request: CallRequest<unknown> = {},
  read: (response: Response) => Promise<Answer> = async (response) => response as Answer,
): Promise<Answer> {
  const { body } = request
  const [method, url] = addressOf(id, request)
  for (;;) {
    const token = readToken()
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const outcome = await answerInTime(url, init, read)
    if ('answer' in outcome) return outcome.answer
    const { refused, status } = outcome
    if (refused === undefined) {
      throw new Unreachable(`Something other than the control plane answered, with the status ${status}.`)
    }
    if (status !== 401) throw refused
    // Another request may have asked for the token in the meantime.
    if (token === readToken()) await askForToken(token !== null)
  }
}

type Outcome<Answer> = { answer: Answer } | { refused: Refused | undefined; status: number }

/** Exchanges a request with the server, but not longer than the time limit of its method. */
async function answerInTime<Answer>(
  url: string,
  init: RequestInit,
  read: (response: Response) => Promise<Answer>,
): Promise<Outcome<Answer>> {
  const isChange = init.method !== 'GET'
  const milliseconds = isChange ? PATIENCE_OF_CHANGES : PATIENCE
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), milliseconds)
  try {
    const response = await fetch(url, { ...init, signal: limit.signal }).catch(() => {
      throw new Unreachable('The server does not answer.')
    })
    if (response.ok) return { answer: await read(response) }
    const { status } = response
    return { refused: readRefusal(status, await response.json().catch(() => undefined)), status }
  } catch (error) {
    if (!limit.signal.aborted) throw error
    const doubt = isChange ? ' The change may have been made.' : ''
    throw new Unreachable(`The server did not answer within ${milliseconds / 1_000} seconds.${doubt}`)
  } finally {
    clearTimeout(timer)
  }
}

/** The method and the URL of a call. */
function addressOf(id: string, { query = {}, parameters: given }: CallRequest<unknown>): [method: string, url: string] {
  const operation = FACTS.calls[id]
  if (operation === undefined) throw new Error(`This page does not know the operation ${id}.`)
  const [method, template] = operation
  const parameters: Readonly<Record<string, string>> = { account: chosenAccount.peek(), ...given }
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (value === undefined) throw new Error(`A call of ${id} needs the parameter ${name}.`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return [method, ROOT + path + (search.size > 0 ? `?${search}` : '')]
}
