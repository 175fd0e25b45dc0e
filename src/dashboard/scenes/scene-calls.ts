import { send } from '../client.ts'
import { FACTS } from '../facts.ts'
import { messageOf, Refused } from '../refusals.ts'
import type { SceneCall } from '../responses.ts'
import { callService, type Way } from '../service-calls.tsx'

export interface Outcome {
  call: SceneCall
  /** Whether the answer is the one that the scene expects. */
  expected: boolean
  text: string
  /** The id of the request in the journal; null if it is not there. */
  requestId: string | null
}

/** Explains why the control plane accepts a call that the service may refuse. */
const WAY_AROUND =
  'The key of the account is secret, so it was sent through the control plane, on which neither faults nor quotas act.'

/** Sends a call of a scene for an account, and describes the answer. A refusal does not end the story. */
export async function sendCall(call: SceneCall, account: string): Promise<Outcome> {
  const { expect } = call
  try {
    const { way, requestId } = await sendToOwner(call, account)
    if (expect === undefined) return { call, expected: true, text: 'Done.', requestId }
    const reason = way === 'control-plane' ? ` ${WAY_AROUND}` : ''
    const text = `It was accepted, although the scene expects the refusal ${expect}.${reason}`
    return { call, expected: false, text, requestId }
  } catch (error) {
    if (!(error instanceof Refused)) return { call, expected: false, text: messageOf(error), requestId: null }
    const { status, code, message, requestId } = error
    const expected = code === expect
    const words = expected ? 'Refused, as expected' : 'Refused, which the scene does not expect'
    return { call, expected, text: `${words}: ${status} ${code}. ${message}`, requestId }
  }
}

export function describeCall({ operation, parameters = {}, query }: SceneCall): string {
  const own = FACTS.operations.find(({ id }) => id === operation)
  const [method, template] = own === undefined ? (FACTS.calls[operation] ?? ['', operation]) : [own.method, own.path]
  const path = template
    .replace('/accounts/{account}', '…')
    .replace(/\{([^}]+)\}/g, (_, name: string) => parameters[name] ?? name)
  return `${method} ${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`.trim()
}

/** Resolves to the way of the call to the service, and to the id of its request in the journal. */
async function sendToOwner(
  { operation, parameters, query, body }: SceneCall,
  account: string,
): Promise<{ way?: Way; requestId: string | null }> {
  if (FACTS.operations.some(({ id }) => id === operation)) {
    return callService(operation, { account, ...(body && { body }), ...(query && { query }) })
  }
  await send(operation, { parameters: { ...parameters, account }, ...(body && { body }) })
  return { requestId: null }
}
