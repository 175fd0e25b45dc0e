import { batch, computed, effect, signal, untracked } from '@preact/signals'
import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { chosenAccount, go, openView, type Place, parameter, subject, TABS } from '../place.tsx'
import { isNotFound } from '../refusals.ts'
import type { Scene, Snapshot, Story } from '../responses.ts'
import { readAll } from '../sources.ts'
import { confirmed } from '../ui/dialog.tsx'
import { showFailure, showNote } from '../ui/notices.tsx'
import { type Outcome, sendCall } from './calls.ts'

export interface Telling {
  account: string
  story: Story
  step: number
  /** Names the snapshot of the account before the story. */
  id: string
  outcomes: readonly Outcome[]
  /** The reason why the story cannot continue. The account stays as it is then. */
  end: string | undefined
}

export const telling = signal<Telling | undefined>(undefined)
/** Whether a step of the story is under way. */
export const moving = signal(false)

// The story stands in the address of whatever the page shows: its id, the number of the scene, and whether it is presented
// in large type. So Back and Forward lead through its scenes, and a page that is loaded again continues it.
const storyId = parameter('story')
const sceneNumber = parameter('scene')
const presents = parameter('present')

export const presenting = computed(() => presents.value === 'yes' && telling.value !== undefined)

/** Whether a scene adds an entry to the history of the browser, or is told for the entry that the browser shows. */
type History = 'push' | 'replace'

const PREFIX = 'before-the-story-'
const OF_STORY = new RegExp(`^${PREFIX}[0-9a-f]{8}$`)

/** Whether a story has taken the snapshot, on this page, on another page or on a closed page. */
function isOfStory({ name }: Snapshot): boolean {
  return OF_STORY.test(name)
}

/** Whether a snapshot is of a story that another page tells, or that was not ended. */
export function isOfOther(snapshot: Snapshot): boolean {
  return isOfStory(snapshot) && snapshot.name !== PREFIX + (telling.value?.id ?? storyId.value)
}

export function sceneOf(told: Telling | undefined): Scene | undefined {
  return told?.story.scenes[told.step]
}

/** Tells what the address names. After the end of a story, Back leads to its views and does not begin it again. */
export function followStory(): void {
  effect(() => {
    void [storyId.value, sceneNumber.value, presents.value, openView.value, subject.value]
    void [moving.value, telling.value, chosenAccount.value]
    void untracked(() => findTask()?.().catch(showFailure))
  })
}

/** What must be done so that the page tells what the address names. */
function findTask(): (() => Promise<void>) | undefined {
  if (moving.peek()) return undefined
  const told = telling.peek()
  const named = openView.peek() === 'scenes' ? subject.peek() : undefined
  const [id, number] = [storyId.peek(), sceneNumber.peek()]
  if (told === undefined) {
    if (id !== '') return () => resume(id, Number(number) - 1)
    if (named !== undefined) return () => begin(Number(named) - 1, 'replace')
    return presents.peek() === 'yes' ? () => begin(0, 'replace') : undefined
  }
  if (told.end !== undefined || told.account !== chosenAccount.peek()) return undefined
  if (named !== undefined) return () => goTo(Number(named) - 1, 'replace')
  if (id === told.id && Number(number) !== told.step + 1) return () => goTo(Number(number) - 1, 'replace')
  return id === told.id ? undefined : async () => matchAddress()
}

/** Makes the address that of the told scene, without a new entry in the history. */
function matchAddress(): void {
  const told = telling.peek()
  const [story, scene] = told === undefined ? ['', ''] : [told.id, String(told.step + 1)]
  // In the view of the scenes, the subject is a scene to tell.
  const about = openView.peek() === 'scenes' ? undefined : subject.peek()
  const query = { story, scene, ...(told === undefined && { present: '' }) }
  go({ subject: about, query }, 'replace')
}

/** Takes a snapshot of the chosen account and begins its story with one of the scenes. Beside another one, it asks first. */
export async function begin(step: number, history: History = 'push'): Promise<void> {
  const account = chosenAccount.peek()
  await work(async () => {
    const [story, taken] = await readStory(account)
    if (story.scenes[step] === undefined) return
    const text =
      'Another page tells a story in this account, or was closed while it did. Each story sets the account back, also for the other page.'
    if (taken.some(isOfStory) && !(await confirmed('Begin beside another story?', text, 'Begin'))) return
    const id = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    await call('takeSnapshot', { parameters: { account }, body: { name: PREFIX + id } })
    await play({ account, story, step, id, outcomes: [], end: undefined }, history)
  })
}

/** Continues the story of the address, whose page was loaded again, unless it has ended. */
async function resume(id: string, step: number): Promise<void> {
  const account = chosenAccount.peek()
  await work(async () => {
    const [story, taken] = await readStory(account)
    if (story.scenes[step] === undefined || !taken.some(({ name }) => name === PREFIX + id)) return
    await restoreAndPlay({ account, story, step, id, outcomes: [], end: undefined }, 'replace')
  })
}

async function readStory(account: string): Promise<[Story, Snapshot[]]> {
  const parameters = { account }
  const taken = readAll('snapshots', (query) => call('listSnapshots', { parameters, query }))
  return [await call('listScenes', { parameters }), await taken]
}

/** Ends the scene and begins another one, after it has restored the account to its state before the story. */
export async function goTo(step: number, history: History = 'push'): Promise<void> {
  await work(async (told) => {
    if (told === undefined || told.end !== undefined || told.story.scenes[step] === undefined) return
    await restoreAndPlay({ ...told, step, outcomes: [] }, history)
  })
}

/** Presents the story in large type, or no longer. If none is told, the address begins the first scene. */
export function togglePresentation(): void {
  go({ subject: subject.peek(), query: { present: presenting.peek() ? '' : 'yes' } }, 'replace')
}

/** Restores the account to its state before the story, and deletes the snapshot. */
export async function endStory(): Promise<void> {
  await work(async (told) => {
    if (told === undefined) return
    if (told.end === undefined) {
      const end = await restore(told)
      if (end !== undefined) {
        telling.value = { ...told, end }
        return
      }
      await call('deleteSnapshot', { parameters: { account: told.account, snapshot: PREFIX + told.id } })
      showNote('The account is as it was before the story.')
    }
    batch(() => {
      telling.value = undefined
      go({ view: 'scenes', query: { story: '', scene: '', present: '' } })
    })
    await refreshShown()
  })
}

/** Opens again what the scene looks at. */
export function lookAgain(): void {
  const told = telling.peek()
  if (told !== undefined) go({ account: told.account, ...placeOf(told) })
}

/** Runs one step at a time. A further step during that time is ignored, for example after a double key press. */
async function work(step: (told: Telling | undefined) => Promise<void>): Promise<void> {
  if (moving.peek()) return
  moving.value = true
  try {
    await step(telling.peek())
  } finally {
    // Otherwise, what could not be told would be tried again and again.
    batch(() => {
      matchAddress()
      moving.value = false
    })
  }
}

async function restoreAndPlay(next: Telling, history: History): Promise<void> {
  const end = await restore(next)
  if (end === undefined) await play(next, history)
  else telling.value = { ...next, end }
}

/** Opens what the scene looks at, and sends its calls one after the other. */
async function play(told: Telling, history: History): Promise<void> {
  const { account } = told
  const { look_at: look, calls = [] } = sceneOf(told) ?? {}
  // The subject may exist only after the calls. Until then, only its view is open.
  const place = placeOf(told, calls.length > 0 && look ? { tab: look.tab } : look)
  batch(() => {
    telling.value = told
    go({ account, ...place, query: { ...place.query, story: told.id, scene: String(told.step + 1) } }, history)
  })
  let done = told
  for (const each of calls) {
    done = { ...done, outcomes: [...done.outcomes, await sendCall(each, account)] }
    telling.value = done
  }
  // The account was restored, or the calls have changed it.
  await refreshShown()
  if (calls.length > 0 && look !== undefined) go(placeOf(done), 'replace')
}

/** The place of what a scene looks at. In the view of the requests, it is the last request of the scene. */
function placeOf(told: Telling, look: Scene['look_at'] = sceneOf(told)?.look_at): Place {
  if (look === undefined) return { subject: openView.peek() === 'scenes' ? undefined : subject.peek() }
  const { tab, domain, group, search } = look
  const sent = told.outcomes.findLast(({ requestId }) => requestId !== null)?.requestId
  const request = tab === 'requests' ? (sent ?? undefined) : undefined
  // A view that this page does not have is ignored.
  const view = TABS.find((each) => each === tab)
  return { view, subject: request ?? domain ?? group, query: { search } }
}

/** Restores the account to its state before the story. Resolves to the reason if that is impossible. */
async function restore({ account, id }: Telling): Promise<string | undefined> {
  const parameters = { account, snapshot: PREFIX + id }
  try {
    await call('restoreSnapshot', { parameters })
    return undefined
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  const isGone = await call('getAccount', { parameters: { account } }).then(() => false, isNotFound)
  if (isGone) return `The account ${account} does not exist any more, and its story has ended with it.`
  return (
    'The snapshot of the account before the story is gone: the server was started again, or the snapshot was deleted. ' +
    'So the account stays as it is now, with what the scene has changed. A reset sets it back to its creation.'
  )
}
