import { effect, untracked } from '@preact/signals'
import { readAll, snapshots } from '../account-data.ts'
import { chosenAccount, go, keptParameters, openTab, subject } from '../address.ts'
import { call } from '../client.ts'
import { showFailure, showNote } from '../controls/notices.tsx'
import { isOffered } from '../facts.ts'
import { isNotFound } from '../refusals.ts'
import { goTo, lookAgain, moving, presents, sceneNumber, type Telling, telling } from './story.ts'
import { begin, isReturning } from './unfinished.tsx'

/** Where this tab of the browser keeps its story while the page is loaded again. */
const KEPT = 'story'

type KeptStory = Omit<Telling, 'story' | 'end'> & {
  /** Whether the scene was about to change, so that it must be told again. */
  isTorn: boolean
}

/**
 * Tells the scene that the address names. So a story has Back and Forward, and continues after a reload. A page that
 * tells no story begins one only at its start, or where the address is that of a scene: after the end of a story, Back
 * leads to its views and does not begin it again.
 */
export async function followStory(): Promise<void> {
  if (!isOffered('listScenes')) return
  addEventListener('pagehide', keepStory)
  // A page that the browser has kept goes on by itself.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) takeStory()
  })
  await returnToStory()
  let isStart = true
  effect(() => {
    void [sceneNumber.value, presents.value, openTab.value, subject.value]
    void [moving.value, telling.value, chosenAccount.value]
    untracked(() => {
      follow(isStart)
      isStart = false
    })
  })
}

let isFollowing = false

function follow(isStart: boolean): void {
  if (isFollowing || moving.peek()) return
  const task = findTask(isStart)
  if (task === undefined) return
  isFollowing = true
  Promise.resolve(task())
    .catch(showFailure)
    .finally(() => {
      matchAddress()
      isFollowing = false
      follow(false)
    })
}

/** The number of a scene in the address of the view of the scenes. It may be any text. */
function namedScene(): string | undefined {
  return openTab.peek() === 'scenes' ? subject.peek() : undefined
}

/** What must be done so that the page tells what the address names. */
function findTask(isStart: boolean): (() => unknown) | undefined {
  const told = telling.peek()
  const named = namedScene()
  const number = named ?? sceneNumber.peek()
  if (told === undefined) {
    if (named !== undefined || (isStart && number !== '')) return () => tell(number)
    if (number !== '') return matchAddress
    return presents.peek() === 'yes' ? () => tell('1') : undefined
  }
  if (told.end !== undefined || told.account !== chosenAccount.peek()) return undefined
  if (number !== '' && Number(number) !== told.step + 1) return () => goTo(Number(number) - 1, 'replace')
  return named === undefined ? undefined : () => lookAgain('replace')
}

async function tell(number: string): Promise<void> {
  const story = await call('listScenes')
  const step = Number(number) - 1
  if (story.scenes[step] === undefined) return showNote(`The story of this account has no scene ${number}.`)
  // They tell if another page tells a story.
  await snapshots.refresh()
  await begin(story, step, 'replace')
}

/** Makes the address that of the told scene, for example where the story has no such scene. */
function matchAddress(): void {
  const told = telling.peek()
  const isScene = namedScene() !== undefined
  if (told === undefined) {
    if (isScene || sceneNumber.peek() !== '' || presents.peek() !== '') writeScene({ scene: '', present: '' }, isScene)
  } else if (told.account === chosenAccount.peek() && sceneNumber.peek() !== String(told.step + 1)) {
    writeScene({ scene: String(told.step + 1) }, isScene)
  }
}

/** Changes the scene in the address without a new entry in the history. The rest of the place stays. */
function writeScene(parameters: Readonly<Record<string, string>>, isScene: boolean): void {
  const view = openTab.peek()
  const kept = view === undefined ? {} : keptParameters(view)
  go({ subject: isScene ? undefined : subject.peek(), parameters: { ...kept, ...parameters } }, 'replace')
}

/** A copy of this browser tab has no story, because the story is kept only while the page is loaded again. */
function keepStory(): void {
  const told = telling.peek()
  if (told === undefined || told.end !== undefined) return
  const { account, step, snapshot, outcomes } = told
  const kept: KeptStory = { account, step, snapshot, outcomes, isTorn: moving.peek() }
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept))
  } catch {
    // The next page offers the way back to the state before the story.
  }
}

function takeStory(): KeptStory | undefined {
  try {
    const text = sessionStorage.getItem(KEPT)
    sessionStorage.removeItem(KEPT)
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Continues the story that this page told before it was loaded again, unless its snapshot is gone. */
async function returnToStory(): Promise<void> {
  const kept = takeStory()
  if (kept === undefined) return
  isReturning.value = true
  const { isTorn, ...rest } = kept
  const parameters = { account: kept.account }
  try {
    const [story, taken] = await Promise.all([
      call('listScenes', { parameters }),
      readAll('snapshots', (query) => call('listSnapshots', { parameters, query })),
    ])
    if (story.scenes[kept.step] === undefined || !taken.some(({ name }) => name === kept.snapshot)) return
    telling.value = { ...rest, story, end: undefined }
    if (isTorn) await goTo(kept.step, 'replace')
  } catch (error) {
    if (!isNotFound(error)) showFailure(error)
  } finally {
    isReturning.value = false
  }
}
