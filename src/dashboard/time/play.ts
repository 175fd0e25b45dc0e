import { computed, signal } from '@preact/signals'
import { accounts } from '../account-data.ts'
import { chosenAccount, go } from '../address.ts'
import { call } from '../client.ts'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { isNotFound, Refused } from '../refusals.ts'
import { refreshShown } from '../resource.ts'
import { describeDays } from './play-events.ts'

const DAY = 86_400_000
/** For how many days from the time of the request the control plane lists events. */
const DAYS_OF_EVENTS = 90
/** How often another id is tried, because another page plays the same account. */
const TRIES = 5
const PLAYED = /^(.+)-play-(\d+)$/

/** A play: an account whose days pass in seconds. */
export interface Play {
  account: string
  original: string
  /** The time of its clock and the end of the play, in milliseconds since the Unix epoch. */
  now: number
  end: number
}

export const play = signal<Play | undefined>(undefined)
export const isPlaying = signal(false)
/** The reason for the pause, if the user did not cause it. */
export const playTrouble = signal<unknown>(undefined)
export const speed = signal(1)

interface Stage {
  events: ReadonlyMap<string, readonly string[]>
  /** How many domains the events cover, and how many exist. */
  shown: number
  count: number
  /** The last day with known events, in milliseconds. */
  until: number
}

export const stage = signal<Stage | undefined>(undefined)

/** Identifies the current run. A pause and a restart begin another run. */
let run: object | undefined

/** The original of an account that was made for a play; `undefined` for any other account. */
export function originalOf(account: string): string | undefined {
  return PLAYED.exec(account)?.[1]
}

/** The existing accounts that were made to play the chosen account, or its original. */
export const leftBehind = computed(() => {
  const prefix = nameFor(originalOf(chosenAccount.value) ?? chosenAccount.value)
  return (accounts.data.value?.ids ?? []).filter((id) => originalOf(id) === prefix)
})

/** Creates an account like the chosen one, and plays it from `start` (RFC 3339) to `end` (milliseconds). */
export async function startPlay(start: string, end: number): Promise<void> {
  const original = chosenAccount.peek()
  if (play.peek() !== undefined) await endPlay()
  const { account, now } = await createPlay(original, start)
  play.value = { account, original, now: Date.parse(now), end }
  go({ account })
  await loadStage(account)
  continuePlay()
}

async function createPlay(original: string, now: string): Promise<{ account: string; now: string }> {
  await accounts.refresh()
  const numbers = leftBehind.peek().map((id) => Number(PLAYED.exec(id)?.[2]))
  const first = Math.max(0, ...numbers) + 1
  for (let number = first; ; number++) {
    const id = `${nameFor(original)}-play-${number}`
    try {
      const { account } = await call('createAccount', { body: { id, like: original, now, frozen: true } })
      return { account: account.id, now: account.now }
    } catch (error) {
      if (!(error instanceof Refused && error.code === 'taken' && number < first + TRIES)) throw error
    }
  }
}

/** The id of a sandbox may contain characters that other ids may not contain. An id has at most 100 characters. */
function nameFor(original: string): string {
  return original.replaceAll(/[^A-Za-z0-9._~-]/g, '_').slice(0, 80)
}

/** Continues a play of the chosen account from another page or an earlier visit. */
export async function adoptPlay(): Promise<void> {
  const account = chosenAccount.peek()
  const original = originalOf(account)
  if (original === undefined) return
  const [{ account: model }, { account: played }] = await Promise.all([
    call('getAccount', { parameters: { account: original } }),
    call('getAccount', { parameters: { account } }),
  ])
  play.value = { account, original, now: Date.parse(played.now), end: Date.parse(model.now) }
  await loadStage(account)
  continuePlay()
}

/** Lets the days pass. Each day waits for the answer of the previous one. */
export function continuePlay(): void {
  const mine = {}
  run = mine
  isPlaying.value = true
  playTrouble.value = undefined
  void keepPlaying(mine)
}

async function keepPlaying(mine: object): Promise<void> {
  while (run === mine) {
    const pause = wait(1000 / speed.peek())
    await stepPlay().catch((error) => {
      if (run === mine) playTrouble.value = error
      pausePlay(mine)
    })
    const playing = play.peek()
    if (playing === undefined || playing.now >= playing.end) pausePlay(mine)
    await pause
  }
}

/** Pauses the play, or only the given run. */
export function pausePlay(mine = run): void {
  if (run !== mine) return
  run = undefined
  isPlaying.value = false
}

export async function stepOnce(): Promise<void> {
  pausePlay()
  playTrouble.value = undefined
  await stepPlay()
}

/** Moves the played account to its next refresh, but not past the end. */
async function stepPlay(): Promise<void> {
  const playing = play.peek()
  if (playing === undefined || playing.now >= playing.end) return
  const { account, now, end } = playing
  // After the first step, the refreshes are one day apart.
  const body = now + DAY > end ? { now: new Date(end).toISOString() } : ({ to: 'refresh' } as const)
  try {
    const clock = await call('updateClock', { parameters: { account }, body })
    if (play.peek()?.account !== account) return
    play.value = { ...playing, now: Date.parse(clock.now) }
    if (Date.parse(clock.now) > (stage.peek()?.until ?? 0)) await loadStage(account)
  } catch (error) {
    if (play.peek()?.account !== account) return
    if (!isNotFound(error)) throw error
    leaveLostPlay(playing)
    return
  }
  if (chosenAccount.peek() === account) await refreshShown()
}

/** Shows the original again and deletes the played account. */
export async function endPlay(): Promise<void> {
  const playing = play.peek()
  if (playing === undefined) return
  pausePlay()
  play.value = undefined
  stage.value = undefined
  playTrouble.value = undefined
  if (chosenAccount.peek() === playing.account) go({ account: playing.original }, 'replace')
  await deletePlayed(playing.account)
}

/** Deletes an account that was made for a play, if it still exists. */
export async function deletePlayed(account: string): Promise<void> {
  await call('deleteAccount', { parameters: { account } }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
  await accounts.refresh()
}

function leaveLostPlay({ account, original }: Play): void {
  pausePlay()
  play.value = undefined
  stage.value = undefined
  showNote(`The account ${account} was deleted, so its play is over.`)
  if (chosenAccount.peek() === account) go({ account: original }, 'replace')
}

async function loadStage(account: string): Promise<void> {
  const query = { limit: FACTS.pageLimit }
  const { domains, count } = await call('listMonitoredDomains', { parameters: { account }, query })
  const playing = play.peek()
  if (playing?.account !== account) return
  const until = playing.now + DAYS_OF_EVENTS * DAY
  stage.value = { events: describeDays(domains), shown: domains.length, count, until }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
