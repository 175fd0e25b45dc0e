import { batch, computed, effect, signal } from '@preact/signals'
import { SCENE_SNAPSHOT } from '../account-data.ts'
import { chosenAccount, createParameter, go, keptParameters, OFFERED_TABS, openTab, type Place } from '../address.ts'
import { call } from '../client.ts'
import { storyIsTold } from '../controls/dialog.tsx'
import { awaitedAnswers } from '../controls/loaded.tsx'
import { showNote } from '../controls/notices.tsx'
import { isNotFound } from '../refusals.ts'
import { refreshShown, settleShown } from '../resource.ts'
import type { Scene, Story } from '../responses.ts'
import { type Outcome, sendCall } from './scene-calls.ts'

/** The longest wait for the figures that a scene looks at, in milliseconds. */
const PATIENCE = 15_000
const MILLISECONDS_BETWEEN_LOOKS = 50
const MOST_LOOKS = PATIENCE / MILLISECONDS_BETWEEN_LOOKS

/** What a presentation shows of a scene, one after the other. Without a presentation, all of it is shown at once. */
export type Stage = 'words' | 'calls' | 'look'

export interface Telling {
  account: string
  story: Story
  step: number
  /** The snapshot of the account before the story. */
  snapshot: string
  /** How far the scene is played. */
  stage: Stage
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

export function stagesOf({ calls = [], look_at }: Scene): readonly Stage[] {
  return ['words', ...(calls.length > 0 ? (['calls'] as const) : []), ...(look_at ? (['look'] as const) : [])]
}

function lastStageOf(scene: Scene): Stage {
  return stagesOf(scene).at(-1) ?? 'words'
}

/** Whether all of the told scene was shown. */
export function isPlayed(told: Telling): boolean {
  const scene = sceneOf(told)
  return scene === undefined || told.stage === lastStageOf(scene)
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
  const snapshot = SCENE_SNAPSHOT + drawName()
  await work(async () => {
    await call('takeSnapshot', { parameters: { account }, body: { name: snapshot } })
    telling.value = { account, story, step, snapshot, stage: 'words', outcomes: [], end: undefined }
    await playScene(history, !presenting.peek())
  })
}

interface SceneEntry {
  history?: History
  /** Whether the whole scene is shown at once. */
  isWhole?: boolean
}

/** Ends the scene and begins another one, after it has restored the account to its state before the story. */
export async function goTo(
  step: number,
  { history = 'push', isWhole = !presenting.peek() }: SceneEntry = {},
): Promise<void> {
  await work(async (told) => {
    if (told === undefined || told.end !== undefined || told.story.scenes[step] === undefined) return
    if (!(await restore(told))) return
    telling.value = { ...told, step, stage: 'words', outcomes: [] }
    await playScene(history, isWhole)
  })
}

/** Goes on by one stage, or to the words of the next scene. */
export async function goOn(): Promise<void> {
  const told = telling.peek()
  const next = stageBeside(told, 1)
  if (next === undefined) await goTo((told?.step ?? 0) + 1)
  else await work(() => showStage(next))
}

/** Goes back by one stage, or to the end of the scene before. */
export async function goBack(): Promise<void> {
  const told = telling.peek()
  const previous = stageBeside(told, -1)
  if (previous === undefined) await goTo((told?.step ?? 0) - 1, { isWhole: true })
  else if (!moving.peek()) update({ stage: previous })
}

function stageBeside(told: Telling | undefined, by: 1 | -1): Stage | undefined {
  const scene = sceneOf(told)
  if (told === undefined || scene === undefined) return undefined
  const stages = stagesOf(scene)
  const index = stages.indexOf(told.stage) + by
  return index < 0 ? undefined : stages[index]
}

/** Shows all of the scene, as it is shown without a presentation. */
export async function playRest(): Promise<void> {
  await work(async (told) => {
    const scene = sceneOf(told)
    if (scene !== undefined) await showStage(lastStageOf(scene))
  })
}

/** Presents the story. If none is told, the address begins the first scene. */
export function present(): void {
  // Between the two, the scene would be one that was not played to its end.
  batch(() => {
    update({ stage: 'words' })
    presents.value = 'yes'
  })
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

async function playScene(history: History, isWhole: boolean): Promise<void> {
  const told = telling.peek()
  const scene = sceneOf(told)
  if (told === undefined || scene === undefined) return
  const { look_at: look, calls = [] } = scene
  // The subject may exist only after the calls. Until then, only its tab is open.
  const place = placeOf(calls.length > 0 && look ? { tab: look.tab } : look)
  go({ account: told.account, ...place, parameters: { ...place.parameters, scene: String(told.step + 1) } }, history)
  // The account was restored.
  if (calls.length === 0 || !isWhole) void refreshShown()
  if (isWhole) await showStage(lastStageOf(scene))
}

async function showStage(stage: Stage): Promise<void> {
  const scene = sceneOf(telling.peek())
  if (scene === undefined) return
  if (scene.calls?.length && stage !== 'words') {
    // A room sees the calls go.
    update({ stage: 'calls' })
    await sendCalls(scene)
  }
  if (stage !== 'words') showLook(scene)
  if (stage === 'look' && presenting.peek()) await settleView()
  update({ stage })
}

/** Sends those calls of the scene that were not sent yet. */
async function sendCalls({ calls = [] }: Scene): Promise<void> {
  const told = telling.peek()
  if (told === undefined || told.outcomes.length === calls.length) return
  for (const each of calls.slice(told.outcomes.length)) {
    const outcome = await sendCall(each, told.account)
    update({ outcomes: [...(telling.peek()?.outcomes ?? []), outcome] })
  }
  await refreshShown()
}

function showLook({ look_at: look }: Scene): void {
  if (look !== undefined) go(placeOf(look, telling.peek()?.outcomes), 'replace')
}

/** Waits until the view has what it shows, but not for ever. */
async function settleView(): Promise<void> {
  await Promise.race([settleAll(), pauseFor(PATIENCE)])
}

async function settleAll(): Promise<void> {
  for (let looks = 0; looks === 0 || (awaitedAnswers.peek() > 0 && looks < MOST_LOOKS); looks++) {
    await settleShown()
    // What has been loaded may show something that loads more.
    await pauseFor(MILLISECONDS_BETWEEN_LOOKS)
  }
}

function pauseFor(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
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

/** Eight random hexadecimal digits, so that pages do not choose the same name. */
function drawName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
