import { computed, signal } from '@preact/signals'
import { accounts } from '../account/accounts.ts'
import { call } from '../client.ts'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { Refused } from '../refusals.ts'
import { refreshShown } from '../resource.ts'
import { chosenAccount } from '../selection.ts'
import { describeDays } from './play-events.ts'

const DAY = 86_400_000
/** For how many days after the instant at which they are asked for the control plane lists events. */
const DAYS_OF_EVENTS = 90
/** How often another id is tried, because somebody else plays the same account. */
const TRIES = 5
/** The id of an account that was made to play another one. */
const PLAYED = /^(.+)-play-(\d+)$/

/** An account whose days pass in seconds. */
export interface Play {
  account: string
  /** The account that it is like. */
  original: string
  /** What its clock shows, and where it stops, in milliseconds since the Unix epoch. */
  now: number
  end: number
}

/** What is played, if anything is. */
export const play = signal<Play | undefined>(undefined)
/** Whether the days pass by themselves. */
export const isPlaying = signal(false)
/** Why the play has been paused, if it was not the user. */
export const playTrouble = signal<unknown>(undefined)
/** How many days pass in a second. */
export const speed = signal(1)

interface Stage {
  /** What happens, by day. */
  events: ReadonlyMap<string, readonly string[]>
  /** Of how many domains, and how many there are. */
  shown: number
  count: number
  /** The last day for which the events are known, in milliseconds. */
  until: number
}

/** What happens to the domains of the account that is played. */
export const stage = signal<Stage | undefined>(undefined)

/** Names what is playing now; something else does after a pause. */
let run: object | undefined

/** The original of an account that was made to play it; `undefined` for any other account. */
export function originalOf(account: string): string | undefined {
  return PLAYED.exec(account)?.[1]
}

/** Accounts that were made to play the chosen one, or the one that the chosen one plays, and that are still there. */
export const leftBehind = computed(() => {
  const prefix = nameFor(originalOf(chosenAccount.value) ?? chosenAccount.value)
  return (accounts.data.value?.ids ?? []).filter((id) => originalOf(id) === prefix)
})

/** Makes an account that is like the chosen one, and plays it from `start` to `end`, RFC 3339 and in milliseconds. */
export async function startPlay(start: string, end: number): Promise<void> {
  const original = chosenAccount.peek()
  if (play.peek() !== undefined) await endPlay()
  const { account, now } = await createPlay(original, start)
  play.value = { account, original, now: Date.parse(now), end }
  chosenAccount.value = account
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

/** The id of a sandbox may have signs that the id of another account may not have, and an id has at most 100. */
function nameFor(original: string): string {
  return original.replaceAll(/[^A-Za-z0-9._~-]/g, '_').slice(0, 80)
}

/** Takes up again the play of the chosen account, which another page or an earlier visit has begun. */
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

/** Lets the days pass, each after the answer of the day before. */
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

/** Pauses the play, or only the given run of it. */
export function pausePlay(mine = run): void {
  if (run !== mine) return
  run = undefined
  isPlaying.value = false
}

/** Moves the account that is played on to its next refresh, but not past the end. */
export async function stepPlay(): Promise<void> {
  const playing = play.peek()
  if (playing === undefined || playing.now >= playing.end) return
  const { account, now, end } = playing
  // After the first step, the refreshes are days apart.
  const body = now + DAY > end ? { now: new Date(end).toISOString() } : ({ to: 'refresh' } as const)
  try {
    const clock = await call('updateClock', { parameters: { account }, body })
    if (play.peek()?.account !== account) return
    play.value = { ...playing, now: Date.parse(clock.now) }
    if (Date.parse(clock.now) > (stage.peek()?.until ?? 0)) await loadStage(account)
  } catch (error) {
    if (play.peek()?.account !== account) return
    if (!(error instanceof Refused && error.status === 404)) throw error
    leaveLostPlay(playing)
    return
  }
  if (chosenAccount.peek() === account) await refreshShown()
}

/** Shows the original again and deletes the account that was played. */
export async function endPlay(): Promise<void> {
  const playing = play.peek()
  if (playing === undefined) return
  pausePlay()
  play.value = undefined
  stage.value = undefined
  playTrouble.value = undefined
  if (chosenAccount.peek() === playing.account) chosenAccount.value = playing.original
  await deletePlayed(playing.account)
}

/** Deletes an account that was made to play another one, if it is still there. */
export async function deletePlayed(account: string): Promise<void> {
  await call('deleteAccount', { parameters: { account } }).catch((error) => {
    if (!(error instanceof Refused && error.status === 404)) throw error
  })
  await accounts.refresh()
}

function leaveLostPlay({ account, original }: Play): void {
  pausePlay()
  play.value = undefined
  stage.value = undefined
  showNote(`The account ${account} was deleted, so its play is over.`)
  if (chosenAccount.peek() === account) chosenAccount.value = original
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
