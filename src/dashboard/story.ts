import { signal } from '@preact/signals'
import { call, send } from './control.ts'
import { refreshShown } from './data.ts'
import { FACTS } from './facts.ts'
import { parseJson } from './formatting.ts'
import { chosenAccount, go, TABS } from './place.tsx'
import { isNotFound, isObject, messageOf, Refused, readRefusal } from './refusals.ts'
import type { Schemas } from './responses.ts'
import { showNote } from './ui/elements.tsx'

type Scene = Schemas['Story']['scenes'][number]
type SceneCall = NonNullable<Scene['calls']>[number]

export const BEFORE = 'before-the-story'
/** How long the page waits for a response of the service, in milliseconds. A fault rule can delay one for ever. */
const PATIENCE = 20_000

interface Outcome {
  call: SceneCall
  expected: boolean
  text: string
}

interface Telling {
  account: string
  scenes: readonly Scene[]
  step: number
  outcomes: readonly Outcome[]
}

export const telling = signal<Telling | undefined>(undefined)
export const moving = signal(false)
export const presenting = signal(false)

/** Keeps the account as it is in a snapshot, and tells one of its scenes. */
export function begin({ scenes }: Schemas['Story'], step: number): Promise<void> {
  const account = chosenAccount.peek()
  return work(async () => {
    await call('takeSnapshot', { parameters: { account }, body: { name: BEFORE } })
    await tell({ account, scenes, step, outcomes: [] })
  })
}

/** Tells another scene, after it has set the account back to its state before the story. */
export function goTo(step: number): Promise<void> {
  return work(async () => {
    const told = telling.peek()
    if (told?.scenes[step] === undefined) return
    await call('restoreSnapshot', { parameters: { account: told.account, snapshot: BEFORE } })
    await tell({ ...told, step, outcomes: [] })
  })
}

export function endStory(account: string): Promise<void> {
  return work(async () => {
    const parameters = { account, snapshot: BEFORE }
    try {
      await call('restoreSnapshot', { parameters })
      await call('deleteSnapshot', { parameters })
      showNote('The account is as it was before the story.')
    } catch (error) {
      if (!isNotFound(error)) throw error
      showNote('The account stays as it is, because its state before the story is not kept any more.')
    }
    telling.value = undefined
    presenting.value = false
    await refreshShown()
  })
}

/** Runs one step at a time. A further step during that time is ignored, for example after a double key press. */
async function work(step: () => Promise<void>): Promise<void> {
  if (moving.peek()) return
  moving.value = true
  try {
    await step()
  } finally {
    moving.value = false
  }
}

/** Opens what a scene looks at, and sends its calls one after the other. */
async function tell(told: Telling): Promise<void> {
  const { account, scenes, step } = told
  const { look_at: look, calls = [] } = scenes[step] ?? {}
  // A view that this page does not have is ignored.
  const view = TABS.find((each) => each === look?.tab)
  const query = { search: look?.search }
  telling.value = told
  // The subject may exist only after the calls.
  go({ account, view, query, ...(calls.length === 0 && { subject: look?.domain ?? look?.group }) })
  let request: string | null = null
  for (const each of calls) {
    const { requestId, ...outcome } = await sendCall(each, account)
    request = requestId ?? request
    telling.value = { ...told, outcomes: [...(telling.peek()?.outcomes ?? []), { call: each, ...outcome }] }
  }
  // The account was restored, or the calls have changed it.
  await refreshShown()
  const subject = (look?.tab === 'requests' && request) || (look?.domain ?? look?.group)
  if (calls.length > 0) go({ account, view, query, subject }, 'replace')
}

export function describeCall({ operation, parameters = {}, query }: SceneCall): string {
  const known = [...FACTS.operations, ...FACTS.control].find(({ id }) => id === operation)
  const path = (known?.path ?? operation)
    .replace('/accounts/{account}', '…')
    .replace(/\{([^}]+)\}/g, (_, name: string) => parameters[name] ?? name)
  return `${known?.method ?? ''} ${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`.trim()
}

/** Sends a call of a scene, and describes the answer. A refusal does not end the story. */
async function sendCall(call: SceneCall, account: string) {
  let requestId: string | null = null
  try {
    if (FACTS.operations.some(({ id }) => id === call.operation)) {
      const response = await sendToService(call, account)
      requestId = response.headers.get('x-request-id')
      const answer = parseJson(await response.text())
      if (!isObject(answer) || answer['success'] !== true) throw readRefusal(response.status, answer)
    } else {
      const { operation, parameters, body } = call
      await send(operation, { parameters: { ...parameters, account }, body })
    }
    const text = `It was accepted, although the scene expects the refusal ${call.expect}.`
    return call.expect === undefined
      ? { requestId, expected: true, text: 'Done.' }
      : { requestId, expected: false, text }
  } catch (error) {
    if (!(error instanceof Refused)) return { requestId, expected: false, text: messageOf(error) }
    const expected = error.code === call.expect
    const words = expected ? 'Refused, as expected' : 'Refused, which the scene does not expect'
    return { requestId, expected, text: `${words}: ${error.status} ${error.code}. ${error.message}` }
  }
}

/** Sends a request as a client of the account does, with its key if the key is not secret. */
async function sendToService({ operation, query, body }: SceneCall, account: string): Promise<Response> {
  const { method, path } = FACTS.operations.find(({ id }) => id === operation) ?? { method: '', path: '' }
  const { api_key: key } = await call('getAccount', { parameters: { account } })
  if (key === null) throw new Error(`The key of this account is secret, so the page cannot send ${operation}.`)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const init = { method, headers, signal: AbortSignal.timeout(PATIENCE), body: body ? JSON.stringify(body) : null }
  const url = `${FACTS.base_path}${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`
  return await fetch(url, init).catch(() => {
    throw new Error('No response arrived. A fault rule may hold it back or cut it off. The change may have been made.')
  })
}
