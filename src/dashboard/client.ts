import { chosenAccount, ROOT } from './address.ts'
import { FACTS } from './facts.ts'
import { isObject, readRefusal, Unreachable } from './refusals.ts'
import type { BodyOf, CallId, DataOf } from './responses.ts'
import { askForToken, readToken } from './token.tsx'

/** A parameter of the path. */
type Parameter = 'account' | 'domain' | 'fault' | 'group' | 'key' | 'request-id' | 'set' | 'snapshot'

/** How long the page waits for an answer, in milliseconds. */
const PATIENCE = 10_000
/** The same for a call that has much to carry, or for which the page cannot wait as long. */
const SPECIAL_PATIENCE: Partial<Readonly<Record<string, number>>> = {
  // The header must not show an old verdict for long.
  getVerdict: 4_000,
  ...Object.fromEntries(
    [
      ...['createAccount', 'resetAccount', 'importState', 'exportState', 'rewindAccount'],
      ...['takeSnapshot', 'restoreSnapshot', 'addMonitoredDomains', 'removeMonitoredDomains'],
    ].map((id) => [id, 60_000]),
  ),
}

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
 * Sends a request and resolves to what `read` takes from a response with a success status, within the time limit of the
 * operation. Without `read`, the time limit ends when the response begins. Asks the user for the token if one is needed.
 */
export async function send<Answer = Response>(
  id: string,
  request: CallRequest<unknown> = {},
  read: (response: Response) => Promise<Answer> = async (response) => response as Answer,
): Promise<Answer> {
  const { body, signal } = request
  const [method, url] = addressOf(id, request)
  for (;;) {
    const token = readToken()
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const outcome = await answerInTime(id, method, signal, async (signal) => {
      const response = await fetch(url, { ...init, signal }).catch(() => {
        throw new Unreachable('The server does not answer.')
      })
      if (response.ok) return { answer: await read(response) }
      return { refused: readRefusal(response.status, await response.json().catch(() => undefined)) ?? response.status }
    })
    if ('answer' in outcome) return outcome.answer
    const { refused } = outcome
    if (typeof refused === 'number') {
      throw new Unreachable(`Something other than the control plane answered, with the status ${refused}.`)
    }
    if (refused.status !== 401) throw refused
    // Another request may have asked for the token in the meantime.
    if (token === readToken()) await askForToken(token !== null)
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

/** Runs one exchange with the server, and ends it at the time limit of the operation or by the signal of the caller. */
async function answerInTime<Answer>(
  id: string,
  method: string,
  given: AbortSignal | undefined,
  exchange: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const milliseconds = SPECIAL_PATIENCE[id] ?? PATIENCE
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), milliseconds)
  try {
    return await exchange(given === undefined ? limit.signal : AbortSignal.any([given, limit.signal]))
  } catch (error) {
    if (given?.aborted) throw given.reason
    if (!limit.signal.aborted) throw error
    const doubt = method === 'GET' ? '' : ' The change may have been made.'
    throw new Unreachable(`The server did not answer within ${milliseconds / 1_000} seconds.${doubt}`)
  } finally {
    clearTimeout(timer)
  }
}
