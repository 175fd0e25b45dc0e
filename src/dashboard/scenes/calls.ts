import { call as callControlPlane, send } from '../client.ts'
import { FACTS } from '../facts.ts'
import { parseJson } from '../formatting.ts'
import { isObject, messageOf, Refused, readRefusal, Unreachable } from '../refusals.ts'
import type { SceneCall } from '../responses.ts'

/** How long the page waits for a response of the service, in milliseconds. A fault rule can delay one for ever. */
const PATIENCE = 20_000

export interface Outcome {
  call: SceneCall
  /** Whether the answer is the one that the scene expects. */
  expected: boolean
  text: string
  /** The id of the request in the journal; null if it is not there. */
  requestId: string | null
}

/** The answer to a call that has arrived. */
interface Answer {
  requestId: string | null
  refused?: Refused | undefined
}

/** Sends a call of a scene for an account, and describes the answer. A refusal does not end the story. */
export async function sendCall(call: SceneCall, account: string): Promise<Outcome> {
  const { expect } = call
  try {
    const { requestId, refused } = await sendToOwner(call, account)
    if (refused !== undefined) return { call, ...describeRefusal(refused, expect), requestId }
    if (expect === undefined) return { call, expected: true, text: 'Done.', requestId }
    const text = `It was accepted, although the scene expects the refusal ${expect}.`
    return { call, expected: false, text, requestId }
  } catch (error) {
    if (error instanceof Refused) return { call, ...describeRefusal(error, expect), requestId: null }
    return { call, expected: false, text: messageOf(error), requestId: null }
  }
}

function describeRefusal({ status, code, message }: Refused, expect: string | undefined) {
  const expected = code === expect
  const words = expected ? 'Refused, as expected' : 'Refused, which the scene does not expect'
  return { expected, text: `${words}: ${status} ${code}. ${message}` }
}

export function describeCall({ operation, parameters = {}, query }: SceneCall): string {
  const own = FACTS.operations.find(({ id }) => id === operation)
  const [method, template] = own === undefined ? (FACTS.calls[operation] ?? ['', operation]) : [own.method, own.path]
  const path = template
    .replace('/accounts/{account}', '…')
    .replace(/\{([^}]+)\}/g, (_, name: string) => parameters[name] ?? name)
  return `${method} ${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`.trim()
}

/** Sends an operation of the control plane to it, and one of the service to the service with the key of the account. */
async function sendToOwner(call: SceneCall, account: string): Promise<Answer> {
  const { operation, parameters, body } = call
  if (!FACTS.operations.some(({ id }) => id === operation)) {
    await send(operation, { parameters: { ...parameters, account }, ...(body && { body }) })
    return { requestId: null }
  }
  // The key is loaded each time, because it or the account may have changed since the last load.
  const { api_key: key } = await callControlPlane('getAccount', { parameters: { account } })
  if (key !== null) return sendWithKey(call, key)
  throw new Error(`The key of this account is secret, so the page cannot send ${operation} to the service.`)
}

/** @throws Unreachable if no response arrives in time or if it does not come from the service */
async function sendWithKey({ operation, query, body }: SceneCall, key: string): Promise<Answer> {
  const { method, path } = FACTS.operations.find(({ id }) => id === operation) ?? { method: '', path: '' }
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
  const signal = AbortSignal.timeout(PATIENCE)
  try {
    const response = await fetch(FACTS.basePath + path + search, {
      ...{ method, signal },
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = parseJson(await response.text())
    const requestId = response.headers.get('x-request-id')
    if (response.ok && isObject(answer) && answer['success'] === true) return { requestId }
    const refused = readRefusal(response.status, answer)
    if (refused !== undefined) return { requestId, refused }
    throw new Unreachable(`The answer has the status ${response.status}, and is not what the service answers.`)
  } catch (error) {
    if (error instanceof Unreachable) throw error
    throw new Unreachable(
      signal.aborted
        ? `The service has not answered for ${PATIENCE / 1000} seconds. A fault rule may hold the response back. The change may have been made.`
        : 'The response of the service did not arrive whole. A fault rule may have cut it off. The change may have been made.',
    )
  }
}
