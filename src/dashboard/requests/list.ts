import { batch, computed, effect, signal } from '@preact/signals'
import { chosenAccount } from '../address.ts'
import type { Query } from '../client.ts'
import { restartStream } from '../exchanges.ts'
import { FACTS } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import type { JournalEntry } from '../responses.ts'
import { ask, before, conditions, followWords, hasTooManyWords, scope, searched } from './selection.ts'

/** How many requests are shown at most. The journal has the others. */
const MOST_REQUESTS = 300
/** How many rows are highlighted at once. A user cannot follow more. */
const MOST_HIGHLIGHTED = 20
/** The least time between two looks into the journal, and while words are looked for, which takes the server longer. */
const REST = { usual: 250, search: 2_000 }

/** A row of the list. */
export interface ListedRequest extends JournalEntry {
  /** Whether it is highlighted when it is drawn. */
  isFresh?: boolean
}

/** The rendered requests, with the newest first. */
export const shown = signal<readonly ListedRequest[]>([])
/** How many requests in the journal meet the conditions, with and without the words; `undefined` until it is known. */
export const total = signal<number | undefined>(undefined)
const found = signal<number | undefined>(undefined)
/** Whether the journal has requests before the loaded ones. */
const hasOlder = signal(false)
export const isPaused = signal(false)
const waiting = signal(0)
/** How many requests have arrived since this selection was loaded. */
export const arrivals = signal(0)

/** The ordinal before which the next page of older requests begins; `undefined` if there are none. */
export const olderBefore = computed(() => {
  const list = shown.value
  const isCut = before.value === '' ? list.length < (found.value ?? 0) : hasOlder.value
  return isCut ? list.at(-1)?.ordinal : undefined
})

/** How many requests are shown, and how many exist. */
export function sayHowMany(): string {
  const [all, match, number] = [total.value, found.value, shown.value.length]
  const isSearch = searched.value.length > 0
  if (all === undefined || match === undefined) return isSearch ? 'Searching…' : 'Loading…'
  const part = before.value === '' ? 'latest' : 'older'
  const isCut = number < match
  const parts = [
    isCut && `${part} ${formatNumber(number)} of ${formatCount(match, isSearch ? 'match' : 'request')}`,
    isSearch
      ? `${formatNumber(match)} of ${formatCount(all, 'request')} ${match === 1 ? 'contains' : 'contain'} these words`
      : !isCut && formatCount(all, 'request'),
    hasTooManyWords() &&
      `only the first ${FACTS.search.words} words, up to ${FACTS.search.characters} characters, are looked for`,
    isPaused.value && `paused, ${formatCount(waiting.value, 'new request')}`,
  ]
  return parts.filter(Boolean).join(' · ')
}

/** Why the list is empty although the journal has requests; `undefined` if it has none. */
export function sayNothingFound(): string | undefined {
  const all = total.value ?? 0
  if (all === 0) return undefined
  if (searched.value.length > 0) {
    return all === 1
      ? 'The 1 request does not contain these words.'
      : `None of the ${formatCount(all, 'request')} contains these words.`
  }
  return 'The journal has no older requests.'
}

/** The ordinal of the newest request that the journal was seen to have; 0 for none. */
let newest = 0
/** How many requests have come since the last look into the journal. */
let came = 0
let isLooking = false
/** The number of the current selection. Responses for an earlier selection are dropped. */
let choice = 0

/** The interface of the list for the stream: how to load it, and which requests it takes. */
export const requestList = {
  stream: (): 'streamEvents' | 'streamAllEvents' => (scope.peek() === 'account' ? 'streamEvents' : 'streamAllEvents'),

  async load(signal: AbortSignal): Promise<void> {
    const wanted = choice
    const start = before.peek()
    const whole = searched.peek().length > 0 ? ask({ limit: 1 }, { signal, words: false }) : undefined
    // It is awaited only after the list.
    whole?.catch(() => undefined)
    const loaded: JournalEntry[] = []
    let count = 0
    let isCut = false
    let query: Query = { limit: MOST_REQUESTS, ...(start !== '' && { before: start }) }
    // A page can be short if bodies are long.
    for (let next: number | null = 0; next !== null && loaded.length < MOST_REQUESTS; ) {
      const page = await ask(query, { signal })
      if (wanted !== choice) return
      loaded.push(...page.requests.toReversed())
      count = page.count
      next = page.next
      isCut = next !== null
      if (next !== null) query = { limit: MOST_REQUESTS - loaded.length, before: next }
    }
    const all = (await whole)?.count ?? count
    if (wanted !== choice) return
    batch(() => {
      total.value = all
      found.value = count
      hasOlder.value = isCut
      if (isPaused.peek()) waiting.value += loaded.filter(({ ordinal }) => ordinal > newest).length
      else shown.value = loaded
    })
    newest = loaded[0]?.ordinal ?? 0
  },

  take(entry: JournalEntry): void {
    if (scope.peek() === 'none' && entry.account !== null) return
    came++
    arrivals.value++
    lookSoon()
  },
}

/** Clears and reloads the list when the account, the scope or the conditions change. */
export function followScope(): void {
  followWords()
  effect(() => {
    void [chosenAccount.value, scope.value, conditions.value, searched.value, before.value]
    choice++
    batch(() => {
      shown.value = []
      total.value = undefined
      found.value = undefined
      isPaused.value = false
      waiting.value = 0
    })
    reload()
  })
}

/** Pauses the list, or continues with the newest requests. */
export function pause(paused: boolean): void {
  isPaused.value = paused
  waiting.value = 0
  if (!paused) restartStream()
}

/** Begins anew, such as after the journal was cleared. */
export function reload(): void {
  arrivals.value = 0
  newest = 0
  came = 0
  restartStream()
}

/** Looks into the journal at once, but after a rest where it has just looked, because requests can arrive faster. */
function lookSoon(): void {
  if (isLooking) return
  isLooking = true
  const rest = searched.peek().length > 0 ? REST.search : REST.usual
  // An error can be ignored: the stream reports a lost server.
  void Promise.allSettled([look(), new Promise((resolve) => setTimeout(resolve, rest))]).then(() => {
    isLooking = false
    if (came > 0) lookSoon()
  })
}

/**
 * Adds the new requests of the selection, which the server decides, to the list. If it differs from the journal after
 * that, it is loaded again. Older requests stay as they are.
 */
async function look(): Promise<void> {
  const wanted = choice
  const isOfNewest = before.peek() === ''
  const limit = isOfNewest ? Math.min(came, MOST_REQUESTS) : 1
  came = 0
  const [page, whole] = await Promise.all([
    ask({ limit }),
    searched.peek().length > 0 ? ask({ limit: 1 }, { words: false }) : undefined,
  ])
  if (wanted !== choice) return
  const added = page.requests.filter(({ ordinal }) => ordinal > newest).toReversed()
  newest = added[0]?.ordinal ?? newest
  batch(() => {
    found.value = page.count
    total.value = (whole ?? page).count
    if (!isOfNewest) return
    if (isPaused.peek()) {
      waiting.value += added.length
      return
    }
    const rows = added.map((entry) => ({ ...entry, isFresh: added.length <= MOST_HIGHLIGHTED }))
    const list = [...rows, ...shown.peek()].slice(0, MOST_REQUESTS)
    if (list.length === Math.min(MOST_REQUESTS, page.count)) shown.value = list
    else restartStream()
  })
}
