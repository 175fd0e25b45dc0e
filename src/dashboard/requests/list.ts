import { batch, computed, effect, signal } from '@preact/signals'
import { chosenAccount } from '../address.ts'
import type { Query } from '../client.ts'
import { restartStream } from '../exchanges.ts'
import { FACTS } from '../facts.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import type { JournalEntry } from '../responses.ts'
import { containsAll, type ListedRequest, MOST_REQUESTS, meets, Newest, toListed } from './listed-request.ts'
import { ask, before, conditions, followWords, hasTooManyWords, scope, searched } from './selection.ts'

const MILLISECONDS_BETWEEN_DRAWINGS = 50
/** How many rows are highlighted at once. A user cannot follow more. */
const MOST_HIGHLIGHTED = 20
/** The delay before the page asks the journal for the number of its requests. */
const MILLISECONDS_BEFORE_COUNT = 400
/** The same while words are looked for, because the server then looks into each request. */
const MILLISECONDS_BEFORE_SEARCH = 2_000

/** The rendered requests, with the newest first. */
export const shown = signal<readonly ListedRequest[]>([])
/** How many requests in the journal meet the conditions, with and without the words; `undefined` until it is known. */
export const total = signal<number | undefined>(undefined)
const found = signal<number | undefined>(undefined)
/** Whether the journal has requests before the loaded ones. */
const hasOlder = signal(false)
export const isPaused = signal(false)
const waiting = signal(0)
/** How many requests arrived too fast to be rendered. It is not exact if the stream was interrupted as too slow. */
const skipped = signal({ count: 0, isExact: true })
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
  const { count, isExact } = skipped.value
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
    (count > 0 || !isExact) && `${isExact ? '' : 'more than '}${formatNumber(count)} passed too fast to be shown`,
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

const newest = new Newest()
/** How many requests arrived since the last render, since the last load, and in total. */
const came = { sinceDrawing: 0, sinceLoad: 0, inAll: 0 }
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
    const loaded: ListedRequest[] = []
    let count = 0
    let isCut = false
    let query: Query = { limit: MOST_REQUESTS, ...(start !== '' && { before: start }) }
    // A page can be short if bodies are long.
    for (let next: number | null = 0; next !== null && loaded.length < MOST_REQUESTS; ) {
      const page = await ask(query, { signal })
      if (wanted !== choice) return
      loaded.push(...page.requests.map(toListed).reverse())
      count = page.count
      next = page.next
      isCut = next !== null
      if (next !== null) query = { limit: MOST_REQUESTS - loaded.length, before: next }
    }
    const all = (await whole)?.count ?? count
    if (wanted !== choice) return
    const [known, oldest] = [newest.ordinal, loaded.at(-1)?.ordinal ?? 0]
    if (start === '' && known > 0 && oldest > known && loaded.length === MOST_REQUESTS) {
      skipped.value = { ...skipped.peek(), isExact: false }
    }
    if (isPaused.peek()) waiting.value += loaded.filter(({ ordinal }) => ordinal > known).length
    newest.replace(loaded)
    came.sinceLoad = 0
    batch(() => {
      total.value = all
      found.value = count
      hasOlder.value = isCut
    })
    draw()
  },

  take(entry: JournalEntry): void {
    const listed = toListed(entry)
    if (!isWanted(listed)) return
    if (before.peek() === '' && listed.ordinal > newest.ordinal && containsAll(entry, searched.peek())) {
      listed.fresh = came.sinceDrawing < MOST_HIGHLIGHTED
      newest.add(listed)
      came.sinceDrawing++
      came.sinceLoad++
      came.inAll++
      draw()
    }
    countSoon()
  },
}

/** Clears and reloads the list when the account, the scope or the conditions change. */
export function followScope(): void {
  followWords()
  effect(() => {
    void [chosenAccount.value, scope.value, conditions.value, searched.value, before.value]
    choice++
    newest.replace([])
    batch(() => {
      shown.value = []
      total.value = undefined
      found.value = undefined
      isPaused.value = false
      waiting.value = 0
      skipped.value = { count: 0, isExact: true }
      arrivals.value = 0
    })
    Object.assign(came, { sinceDrawing: 0, sinceLoad: 0, inAll: 0 })
    restartStream()
  })
}

/** Pauses the list, or continues with the newest requests. */
export function pause(paused: boolean): void {
  isPaused.value = paused
  waiting.value = 0
  draw()
}

/** Resets the counts of skipped and arrived requests, and empties the list of the newest requests. */
export function forgetSkipped(): void {
  skipped.value = { count: 0, isExact: true }
  arrivals.value = 0
  came.inAll = 0
  newest.replace([])
}

/** Whether the list shows a request. The stream also has requests of other accounts and operations. */
function isWanted(entry: ListedRequest): boolean {
  if (scope.peek() === 'none' && entry.account !== null) return false
  return meets(entry, conditions.peek())
}

/** `resting` while rendering must wait; `due` if a render must follow the wait. */
let pencil: 'idle' | 'resting' | 'due' = 'idle'

/** Renders at once, but at most about twenty times per second, because requests can arrive faster. */
function draw(): void {
  if (pencil !== 'idle') {
    pencil = 'due'
    return
  }
  pencil = 'resting'
  // Requests that arrive together are rendered together.
  setTimeout(publish)
  setTimeout(() => {
    const isDue = pencil === 'due'
    pencil = 'idle'
    if (isDue) draw()
  }, MILLISECONDS_BETWEEN_DRAWINGS)
}

function publish(): void {
  const fresh = came.sinceDrawing
  came.sinceDrawing = 0
  batch(() => {
    arrivals.value = came.inAll
    if (isPaused.peek()) {
      waiting.value += fresh
      return
    }
    const list = newest.list()
    shown.value = list
    // The journal has at least the rendered requests. The exact numbers follow.
    for (const each of [total, found]) {
      if (each.peek() !== undefined) each.value = Math.max(each.peek() ?? 0, list.length)
    }
    if (fresh > MOST_REQUESTS) {
      skipped.value = { ...skipped.peek(), count: skipped.peek().count + fresh - MOST_REQUESTS }
    }
  })
}

let counting = false

/** Asks the journal for the number of its requests after a short delay. */
function countSoon(): void {
  if (counting) return
  counting = true
  setTimeout(
    () => {
      // An error can be ignored: the list is loaded again soon, and the stream reports a lost server.
      count()
        .catch(() => undefined)
        .finally(() => {
          counting = false
        })
    },
    searched.peek().length > 0 ? MILLISECONDS_BEFORE_SEARCH : MILLISECONDS_BEFORE_COUNT,
  )
}

/**
 * Compares the list with the journal, and repeats that if requests arrived meanwhile. If not, it reloads the list if it
 * differs, or if the stream may have skipped some of many requests. Older requests stay as they are.
 */
async function count(): Promise<void> {
  const [wanted, sofar] = [choice, came.inAll]
  const isSearch = searched.peek().length > 0
  const [page, whole] = await Promise.all([
    ask({ limit: 1 }),
    isSearch ? ask({ limit: 1 }, { words: false }) : undefined,
  ])
  if (wanted !== choice) return
  batch(() => {
    found.value = page.count
    total.value = (whole ?? page).count
  })
  if (before.peek() !== '') return
  if (sofar !== came.inAll) {
    setTimeout(countSoon)
    return
  }
  const isSame =
    newest.list().length === Math.min(MOST_REQUESTS, page.count) &&
    (page.requests[0]?.ordinal ?? 0) === newest.ordinal &&
    came.sinceLoad <= MOST_REQUESTS
  if (!isSame) restartStream()
}
