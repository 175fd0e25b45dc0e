import { computed, effect, signal } from '@preact/signals'
import { nameForStory } from '../account-data.ts'
import { chosenAccount, createParameter, go, keptParameters, OFFERED_TABS, openTab, type Place } from '../address.ts'
import { call } from '../client.ts'
import { storyIsTold } from '../controls/dialog.tsx'
import { showNote } from '../controls/notices.tsx'
import { isNotFound } from '../refusals.ts'
import { refreshShown } from '../resource.ts'
import type { Scene, Story } from '../responses.ts'
import { type Outcome, sendCall } from './scene-calls.ts'

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

/** The number of the told scene, in the address of whatever the page shows meanwhile. */
export const sceneNumber = createParameter({
  name: 'scene',
  lasting: true,
  accepts: (text): text is string => /^[1-9]\d?$/.test(text),
})

type Presents = 'yes' | ''
/** Whether the page presents the story in large type. */
export const presents = createParameter<Presents>({
  name: 'present',
  lasting: true,
  accepts: (text): text is Presents => text === 'yes',
})
export const presenting = computed(() => presents.value === 'yes' && telling.value !== undefined)

effect(() => {
  storyIsTold.value = telling.value !== undefined
})

export function sceneOf(told: Telling | undefined): Scene | undefined {
  return told?.story.scenes[told.step]
}

/** Whether a scene adds an entry to the history of the browser, or is told for the entry that the browser shows. */
type History = 'push' | 'replace'

/**
 * Takes a snapshot of the chosen account and begins its story with one of the scenes.
 *
 * @throws Refused if the snapshot is refused, for example because there are too many.
 */
export async function beginStory(story: Story, step: number, history: History = 'push'): Promise<void> {
  const account = chosenAccount.peek()
  const snapshot = nameForStory()
  await work(async () => {
    await call('takeSnapshot', { parameters: { account }, body: { name: snapshot } })
    telling.value = { account, story, step, snapshot, outcomes: [], end: undefined }
    await playScene(history)
  })
}

/** Ends the scene and begins another one, after it has restored the account to its state before the story. */
export async function goTo(step: number, history: History = 'push'): Promise<void> {
  await work(async (told) => {
    if (told === undefined || told.end !== undefined || told.story.scenes[step] === undefined) return
    if (!(await restore(told))) return
    telling.value = { ...told, step, outcomes: [] }
    await playScene(history)
  })
}

/** Presents the story in large type, or no longer. If none is told, the address begins the first scene. */
export function togglePresentation(): void {
  presents.value = presenting.peek() ? '' : 'yes'
}

export function stopPresenting(): void {
  presents.value = ''
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
    go({ tab: 'scenes', parameters: { scene: '', present: '' } })
    await refreshShown()
  })
}

export function lookAgain(history: History = 'push'): void {
  const told = telling.peek()
  if (told !== undefined) go({ account: told.account, ...placeOf(sceneOf(told)?.look_at, told.outcomes) }, history)
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

function update(change: Partial<Telling>): void {
  const told = telling.peek()
  if (told !== undefined) telling.value = { ...told, ...change }
}

/** Opens what the scene looks at, and sends its calls one after the other. */
async function playScene(history: History): Promise<void> {
  const told = telling.peek()
  const scene = sceneOf(told)
  if (told === undefined || scene === undefined) return
  const { look_at: look, calls = [] } = scene
  // The subject may exist only after the calls. Until then, only its tab is open.
  const place = placeOf(calls.length > 0 && look ? { tab: look.tab } : look)
  go({ account: told.account, ...place, parameters: { ...place.parameters, scene: String(told.step + 1) } }, history)
  for (const each of calls) {
    const outcome = await sendCall(each, told.account)
    update({ outcomes: [...(telling.peek()?.outcomes ?? []), outcome] })
  }
  // The account was restored, or the calls have changed it.
  const refreshed = refreshShown()
  if (calls.length === 0) return
  await refreshed
  if (look !== undefined) go(placeOf(look, telling.peek()?.outcomes), 'replace')
}

/**
 * The place of what a scene looks at. In the tab of the requests, it is the last request of the scene. A tab that this
 * page does not have is ignored.
 */
function placeOf(look: Scene['look_at'], outcomes: readonly Outcome[] = []): Place {
  const open = openTab.peek()
  if (look === undefined) return open === undefined ? {} : { parameters: keptParameters(open) }
  const { tab, domain, group, search } = look
  const sent = outcomes.findLast(({ requestId }) => requestId !== null)?.requestId
  const request = tab === 'requests' ? (sent ?? undefined) : undefined
  return {
    tab: OFFERED_TABS.find((each) => each === tab),
    subject: request ?? domain ?? group,
    parameters: search === undefined ? {} : { search },
  }
}

/** Restores the account to its state before the story. If that is impossible, the story says why. */
async function restore(told: Telling): Promise<boolean> {
  const { account, snapshot } = told
  try {
    await call('restoreSnapshot', { parameters: { account, snapshot } })
    return true
  } catch (error) {
    if (!isNotFound(error)) throw error
    update({ end: await explainLoss(account) })
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
