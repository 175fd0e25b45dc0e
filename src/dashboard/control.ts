import { FACTS } from './facts.ts'
import { chosenAccount, ROOT } from './place.tsx'
import { Refused, readRefusal, Unreachable } from './refusals.ts'
import type { BodyOf, CallId, DataOf } from './responses.ts'
import { ask } from './ui/forms.tsx'

/** How long the page waits for an answer, in seconds; for a change, which may have much to carry, longer. */
const PATIENCE = 10
const PATIENCE_OF_CHANGES = 60

interface CallRequest<Body> {
  /** The parameters of the path. The account is the chosen one by default. */
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | number>>
  body?: Body
}

/**
 * Calls an operation and resolves to the data of its success response.
 *
 * @throws Refused if the control plane refuses the request, and Unreachable if it does not answer within the time limit.
 */
export function call<Id extends CallId>(id: Id, request?: CallRequest<BodyOf<Id>>): Promise<DataOf<Id>> {
  // The server validates each response against its document, so the type is certain.
  return send(id, request, async (response) => (await response.json()).data)
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
  const [method, url] = addressOf(id, request)
  const patience = method === 'GET' ? PATIENCE : PATIENCE_OF_CHANGES
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), patience * 1_000)
  const sent = readToken()
  try {
    const headers = { 'content-type': 'application/json', ...(sent && { authorization: `Bearer ${sent}` }) }
    const body = request.body === undefined ? null : JSON.stringify(request.body)
    const response = await fetch(url, { method, headers, body, signal: limit.signal })
    if (response.ok) return await read(response)
    const refusal = readRefusal(response.status, await response.json().catch(() => undefined))
    if (response.status !== 401 || refusal instanceof Unreachable) throw refusal
  } catch (error) {
    if (error instanceof Refused || error instanceof Unreachable) throw error
    const doubt = method === 'GET' ? '' : ' The change may have been made.'
    throw new Unreachable(
      limit.signal.aborted
        ? `The server did not answer within ${patience} seconds.${doubt}`
        : 'The server does not answer.',
    )
  } finally {
    clearTimeout(timer)
  }
  // Another request may have asked for the token in the meantime.
  if (sent === readToken()) await askForToken(sent !== null)
  return send(id, request, read)
}

function addressOf(id: string, { query = {}, parameters: given }: CallRequest<unknown>): [method: string, url: string] {
  const operation = FACTS.control.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`This server does not know the operation ${id}.`)
  const parameters: Readonly<Record<string, string>> = { account: chosenAccount.peek(), ...given }
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return [operation.method, ROOT + path + (search.size > 0 ? `?${search}` : '')]
}

let asking: Promise<unknown> | undefined
/** The token if the browser does not let the page store it. It is lost when the page is reloaded. */
let unstored: string | null = null

/** The token of the control plane, if the user gave it in this browser tab. Other tabs do not have it. */
export function readToken(): string | null {
  try {
    return unstored ?? sessionStorage.getItem('token')
  } catch {
    return null
  }
}

/** Asks for the token once for all waiting requests. The dialog stays open until the user gives a token. */
function askForToken(wrong: boolean): Promise<unknown> {
  asking ??= ask('The control plane requires a token', {
    about: wrong ? 'This token is wrong.' : 'It is the value of --admin-token. Only this tab of the browser keeps it.',
    fields: [{ name: 'token', label: 'Token', type: 'password', required: true, pattern: '[!-~]+' }],
    ...{ submit: 'Continue', lasting: true },
    work({ token }: { token: string }) {
      try {
        sessionStorage.setItem('token', token)
      } catch {
        unstored = token
      }
    },
  }).finally(() => {
    asking = undefined
  })
  return asking
}
