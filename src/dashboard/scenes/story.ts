import { effect, signal } from '@preact/signals'
import { SCENE_SNAPSHOT } from '../account/snapshots.ts'
import { call } from '../client.ts'
import { storyIsTold } from '../controls/modal.tsx'
import { showNote } from '../controls/notices.tsx'
import { isObject, Refused } from '../refusals.ts'
import { closeRequest } from '../requests/open-request.ts'
import { refreshShown } from '../resource.ts'
import type { Scene, Story } from '../responses.ts'
import { chosenAccount, OFFERED_TABS } from '../selection.ts'
import { show } from '../view.ts'
import { sendCall } from './calls-of-scenes.ts'
import { type Telling, telling } from './telling.ts'

/** Whether a scene is starting or ending. */
export const moving = signal(false)

effect(() => {
  storyIsTold.value = telling.value !== undefined
})

/**
 * Takes a snapshot of the chosen account and begins its story with one of the scenes.
 *
 * @throws Refused if the snapshot is refused, for example because there are too many.
 */
export async function beginStory(story: Story, step = 0): Promise<void> {
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
    show({ tab: 'scenes' })
    await refreshShown()
  })
}

/** Shows the subject of the scene again. */
export function lookAgain(): void {
  const told = telling.peek()
  if (told === undefined) return
  chosenAccount.value = told.account
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
  chosenAccount.value = told.account
  closeRequest()
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
function showLook({ tab, ...what }: NonNullable<Scene['look_at']>, told?: Telling): void {
  const sent = told?.outcomes.findLast(({ requestId }) => requestId !== null)?.requestId
  const request = tab === 'requests' && sent != null ? { request: sent } : {}
  show({ ...what, ...request, tab: OFFERED_TABS.find((each) => each === tab) })
}

/** Restores the account to its state before the story. If that is impossible, the story says why. */
async function restore(told: Telling): Promise<boolean> {
  const { account, snapshot } = told
  try {
    await call('restoreSnapshot', { parameters: { account, snapshot } })
    return true
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error
    telling.value = { ...told, end: await explainLoss(account) }
    return false
  }
}

async function explainLoss(account: string): Promise<string> {
  try {
    await call('getAccount', { parameters: { account } })
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error
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

/** Whether a key press is for the story. */
export function isForStory({ target, altKey, ctrlKey, metaKey, shiftKey, isComposing }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey || isComposing) return false
  if (document.querySelector('dialog:modal') !== null) return false
  return !(isObject(target) && target instanceof Element && target.closest(USES_KEYS) !== null)
}

/** Elements that use letters or arrow keys themselves. */
const USES_KEYS =
  'input, select, textarea, [contenteditable], summary, [role=tab], [role=slider], [role=grid], [role=listbox], [role=menu], [role=row]'
