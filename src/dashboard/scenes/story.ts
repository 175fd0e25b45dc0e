import { effect, signal } from '@preact/signals'
import { SCENE_SNAPSHOT } from '../account-data.ts'
import { chosenAccount, go, OFFERED_TABS } from '../address.ts'
import { call, send } from '../client.ts'
import { storyIsTold } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { isNotFound, isObject, messageOf, Refused } from '../refusals.ts'
import { refreshShown } from '../resource.ts'
import type { Scene, SceneCall, Story } from '../responses.ts'
import { callService, type Way } from '../service-calls.tsx'

interface Outcome {
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
async function sendCall(call: SceneCall, account: string): Promise<Outcome> {
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

export interface Telling {
  account: string
  story: Story
  step: number
  /** The snapshot of the account before the story. */
  snapshot: string
  outcomes: readonly Outcome[]
  /** The reason why the story cannot continue. The account stays as it is then. */
  end: string | undefined
}

export const telling = signal<Telling | undefined>(undefined)

export const moving = signal(false)

effect(() => {
  storyIsTold.value = telling.value !== undefined
})

/**
 * Takes a snapshot of the chosen account and begins its story with one of the scenes.
 *
 * @throws Refused if the snapshot is refused, for example because there are too many.
 */
export async function beginStory(story: Story, step: number): Promise<void> {
  const account = chosenAccount.peek()
  const snapshot = SCENE_SNAPSHOT + drawName()
  await work(async () => {
    await call('takeSnapshot', { parameters: { account }, body: { name: snapshot } })
    telling.value = { account, story, step, snapshot, outcomes: [], end: undefined }
    await playScene()
  })
}

/** Ends the scene and begins another one, after it has restored the account to its state before the story. */
export async function goTo(step: number): Promise<void> {
  await work(async (told) => {
    if (told === undefined || told.end !== undefined || told.story.scenes[step] === undefined) return
    if (!(await restore(told))) return
    telling.value = { ...told, step, outcomes: [] }
    await playScene()
  })
}

/** Restores the account to its state before the story, and deletes the snapshot. */
export async function endStory(): Promise<void> {
  await work(async (told) => {
    if (told === undefined) return
    if (told.end === undefined) {
      if (!(await restore(told))) return
      const { account, snapshot } = told
      await call('deleteSnapshot', { parameters: { account, snapshot } })
      showNote('The account is as it was before the story.')
    }
    telling.value = undefined
    go({ tab: 'scenes' })
    await refreshShown()
  })
}

export function lookAgain(): void {
  const told = telling.peek()
  if (told === undefined) return
  go({ account: told.account })
  const look = told.story.scenes[told.step]?.look_at
  if (look !== undefined) showLook(look, told)
}

/** Runs one step at a time. A further step during that time is ignored, for example after a double key press. */
async function work(step: (told: Telling | undefined) => Promise<void>): Promise<void> {
  if (moving.peek()) return
  moving.value = true
  try {
    await step(telling.peek())
  } finally {
    moving.value = false
  }
}

async function playScene(): Promise<void> {
  const told = telling.peek()
  const scene = told?.story.scenes[told.step]
  if (told === undefined || scene === undefined) return
  go({ account: told.account })
  // The subject may exist only after the calls. Until then, only its tab is open.
  const { look_at: look, calls = [] } = scene
  if (look !== undefined) showLook(calls.length > 0 ? { tab: look.tab } : look)
  for (const each of calls) {
    const outcome = await sendCall(each, told.account)
    const present = telling.peek()
    if (present === undefined) return
    telling.value = { ...present, outcomes: [...present.outcomes, outcome] }
  }
  const refreshed = refreshShown()
  if (look === undefined || calls.length === 0) return
  await refreshed
  showLook(look, telling.peek())
}

/**
 * Shows the subject of a scene. In the tab of the requests, it is the last request of the scene. A tab that this page
 * does not have is ignored.
 */
function showLook({ tab, domain, group, search }: NonNullable<Scene['look_at']>, told?: Telling): void {
  const sent = told?.outcomes.findLast(({ requestId }) => requestId !== null)?.requestId
  const request = tab === 'requests' ? (sent ?? undefined) : undefined
  go({
    tab: OFFERED_TABS.find((each) => each === tab),
    subject: request ?? domain ?? group,
    parameters: search === undefined ? {} : { search },
  })
}

/** Restores the account to its state before the story. If that is impossible, the story says why. */
async function restore(told: Telling): Promise<boolean> {
  const { account, snapshot } = told
  try {
    await call('restoreSnapshot', { parameters: { account, snapshot } })
    return true
  } catch (error) {
    if (!isNotFound(error)) throw error
    telling.value = { ...told, end: await explainLoss(account) }
    return false
  }
}

async function explainLoss(account: string): Promise<string> {
  try {
    await call('getAccount', { parameters: { account } })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return `The account ${account} does not exist any more, and its story has ended with it.`
  }
  return (
    'The snapshot of the account before the story is gone: the server was started again, or the snapshot was deleted. ' +
    'So the account stays as it is now, with what the scene has changed. A reset in the tab “Account” sets it back to ' +
    'its creation.'
  )
}

/** Eight random hexadecimal digits, so that pages do not choose the same name. */
function drawName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function isForStory({ target, altKey, ctrlKey, metaKey, shiftKey, isComposing }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey || isComposing) return false
  if (document.querySelector('dialog:modal') !== null) return false
  return !(isObject(target) && target instanceof Element && target.closest(USES_KEYS) !== null)
}

/** Elements that use letters or arrow keys themselves. */
const USES_KEYS =
  'input, select, textarea, [contenteditable], summary, [role=tab], [role=slider], [role=grid], [role=listbox], [role=menu], [role=row]'

/** Highlights the subject of the scene in any view. A style sheet also applies to rows that are rendered later. */
export function followScene(): void {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  effect(() => {
    const told = telling.value
    const { domain, group } = told?.story.scenes[told.step]?.look_at ?? {}
    const places = [
      ...(domain === undefined ? [] : [`[data-domain=${CSS.escape(domain)}]`]),
      ...(group === undefined ? [] : [`[data-group=${CSS.escape(group)}]`]),
    ]
    sheet.replaceSync(
      places.length === 0
        ? ''
        : `@media not print { ${places.join(', ')} { background: var(--accent-ground); box-shadow: inset 4px 0 0 var(--accent); } }`,
    )
  })
}
