import { signal } from '@preact/signals'
import { summary } from './account-data.ts'
import { chosenAccount } from './address.ts'
import { call, readData, send } from './client.ts'
import { Checkbox } from './controls/form.tsx'
import { BASE_URL, FACTS } from './facts.ts'
import { parseJson } from './formatting.ts'
import { isObject, type Problem, Refused, readRefusal, Unreachable } from './refusals.ts'
import type { CallId } from './responses.ts'

/** How long the page waits for a response of the service, in milliseconds. A fault rule can delay one for ever. */
const PATIENCE = 20_000
/** How many characters of a response that is not JSON are shown. */
const SHOWN = 120

/** Operations of the service → the equivalent operations of the control plane. */
const TWINS: Readonly<Record<string, CallId>> = {
  addDomains: 'addMonitoredDomains',
  deleteDomains: 'removeMonitoredDomains',
  createDomainGroup: 'createGroup',
  updateDomainGroup: 'updateGroup',
  deleteDomainGroup: 'deleteGroup',
}

export type Way = 'service' | 'control-plane'

/** A request to an operation of the service, as in the contract. */
export interface ServiceRequest {
  body?: object
  query?: Readonly<Record<string, string>>
  /** By default the chosen account. */
  account?: string
}

export interface ServiceAnswer {
  way: Way
  /** The id of the request in the journal; null if it is not there. */
  requestId: string | null
}

/** Whether the user wants calls through the control plane although the key is known. */
const avoidsService = signal(false)

/**
 * Sends a request to the API of the service with the key of the account. If the key is secret, or if the user wants it,
 * the equivalent operation of the control plane is called. `operation` is an operationId of the service.
 *
 * @throws Refused with the code and message of the service, and with advice about a used-up quota or an invalid key;
 * Unreachable if no response arrives in time or if it does not come from the service.
 */
export async function callService(operation: string, request: ServiceRequest = {}): Promise<ServiceAnswer> {
  const { account = chosenAccount.peek() } = request
  // The key is loaded each time, because it or the account may have changed since the last load.
  const { api_key: key } = await call('getAccount', { parameters: { account } })
  const twin = TWINS[operation]
  if (key !== null && !(avoidsService.peek() && twin !== undefined)) return callWithKey(operation, request, key)
  if (twin === undefined) {
    throw new Error(
      `The key of this account is secret, and only the service has the operation ${operation}. Send it with the key.`,
    )
  }
  return callTwin(twin, request, account)
}

/** Shows if a change goes to the service or to the control plane. The user may choose if both are possible. */
export function ServiceWay() {
  return (
    <div class="service-way">
      <p class="soft">{wayOfCalls()}</p>
      {summary.data.value?.api_key != null && (
        <Checkbox
          words="Send it through the control plane"
          checked={avoidsService.value}
          onChange={({ currentTarget }) => (avoidsService.value = currentTarget.checked)}
        />
      )}
    </div>
  )
}

/** Describes in one sentence which way `callService` takes for the chosen account. */
function wayOfCalls(): string {
  if (summary.data.value?.api_key == null) {
    return 'Sent through the control plane, because the key of this account is secret: it is not in the journal.'
  }
  if (avoidsService.value) return 'Sent through the control plane: it is not in the journal and costs no quota.'
  return "Sent to the service's API with the account's key, so it is in the journal and counts against the quota."
}

async function callWithKey(operation: string, request: ServiceRequest, key: string): Promise<ServiceAnswer> {
  const found = FACTS.operations.find(({ id }) => id === operation)
  if (found === undefined) throw new Error(`The service has no operation ${operation}.`)
  const { query = {}, body } = request
  const search = new URLSearchParams(query)
  const url = FACTS.basePath + found.path + (search.size > 0 ? `?${search}` : '')
  const { response, text } = await exchange(url, {
    method: found.method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const requestId = response.headers.get('x-request-id')
  const answer = parseJson(text)
  if (response.ok && isObject(answer) && answer['success'] === true) return { way: 'service', requestId }
  const refused = readRefusal(response.status, answer)
  if (refused === undefined) throw new Unreachable(describeStranger(response.status, text))
  throw await explainRefusal(refused, response, requestId)
}

/** Sends a request and reads the whole response within the time limit. */
async function exchange(url: string, init: RequestInit): Promise<{ response: Response; text: string }> {
  const impatience = new AbortController()
  const timer = setTimeout(() => impatience.abort(), PATIENCE)
  try {
    const response = await fetch(url, { ...init, signal: impatience.signal })
    return { response, text: await response.text() }
  } catch {
    throw new Unreachable(
      impatience.signal.aborted
        ? `The service has not answered for ${PATIENCE / 1000} seconds. A fault rule may hold the response back. The change may have been made.`
        : 'The response of the service did not arrive whole. A fault rule may have cut it off. The change may have been made.',
    )
  } finally {
    clearTimeout(timer)
  }
}

function describeStranger(status: number, text: string): string {
  const start = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  const content = start.trim() === '' ? 'an empty body' : `this, which is not what the service answers: ${start}`
  return `The service answered with the status ${status} and ${content}`
}

/** Adds advice, and all problems of the request with their fields. The service itself does not return them. */
async function explainRefusal(refused: Refused, response: Response, requestId: string | null): Promise<Refused> {
  const { status, code } = refused
  const message = [refused.message, adviceFor(refused, response)].filter(Boolean).join(' ')
  const isAboutRequest = status >= 400 && status < 500 && ![401, 403, 429].includes(status)
  const problems = isAboutRequest && requestId !== null ? await problemsOf(requestId) : []
  return new Refused(status, { code, message, problems }, requestId)
}

function adviceFor({ status, code }: Refused, response: Response): string {
  if (code === 'rate_limited') {
    const reset = Number(response.headers.get('x-ratelimit-reset') ?? '')
    const until =
      reset > 0 && reset < 1e11 ? ` until ${new Date(reset * 1000).toISOString().slice(11, 19)} UTC of its clock` : ''
    return `Wait${until}, refill the quota of the account, or send it through the control plane.`
  }
  if (status === 401 || status === 403) {
    return 'Look at the keys and the plan of the account, or send it through the control plane.'
  }
  return ''
}

async function problemsOf(requestId: string): Promise<readonly Problem[]> {
  try {
    return (await call('explainRequest', { parameters: { 'request-id': requestId } })).problems
  } catch {
    // The journal may no longer have the request. The message of the service is enough then.
    return []
  }
}

async function callTwin(
  twin: CallId,
  { body, query: { id: group = '' } = {} }: ServiceRequest,
  account: string,
): Promise<ServiceAnswer> {
  try {
    await readData(await send(twin, { parameters: { account, group }, ...(body && { body }) }))
    return { way: 'control-plane', requestId: null }
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'refused')) throw error
    // The control plane refuses on behalf of the service, so the refusal gets the code and message of the service.
    const { status, problems } = error
    const { code, message } = problems[0] ?? error
    throw new Refused(status, { code, message, problems })
  }
}

/** Quotes a text as one word of a POSIX shell. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A command that gets a path of the service with the key, or with a variable if the key is secret. */
export function curlOf(path: string, key: string | null): string {
  // The shell expands variables only in double quotes.
  const field = key === null ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${key}`)
  return `curl -sS -H ${field} ${BASE_URL}${path}`
}
