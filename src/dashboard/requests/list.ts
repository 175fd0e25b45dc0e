import { batch, computed, effect, signal } from '@preact/signals'
import { chosenAccount, createParameter } from '../address.ts'
import { call, type Query } from '../client.ts'
import { restartStream } from '../exchanges.ts'
import { formatCount, formatNumber } from '../formatting.ts'
import type { JournalEntry } from '../responses.ts'
import {
  findWords,
  type ListedRequest,
  MOST_REQUESTS,
  meets,
  Newest,
  NO_CONDITIONS,
  toListed,
} from './listed-request.ts'

const MILLISECONDS_BETWEEN_DRAWINGS = 50
/** How many rows are highlighted at once. A user cannot follow more. */
const MOST_HIGHLIGHTED = 20
/** The delay before the page asks the journal for the number of its requests. */
const MILLISECONDS_BEFORE_COUNT = 400

/** Whose requests the list has: those of the chosen account, those without an account, or all. */
export type Scope = 'account' | 'none' | 'all'

export const scope = createParameter<Scope>({
  tab: 'requests',
  name: 'whose',
  initial: 'account',
  accepts: (text): text is Scope => text === 'none' || text === 'all' || text === 'account',
})
export const conditions = signal(NO_CONDITIONS)
export const words = createParameter({ tab: 'requests', name: 'search', history: 'replace' })
/** The rendered requests, with the newest first. */
const drawn = signal<readonly ListedRequest[]>([])
/** How many requests in the journal meet the conditions; `undefined` until it is known. */
export const total = signal<number | undefined>(undefined)
export const isPaused = signal(false)
const waiting = signal(0)
/** How many requests arrived too fast to be rendered. It is not exact if the stream was interrupted as too slow. */
const skipped = signal({ count: 0, isExact: true })
/** The requests that contain the words, with the newest first. */
export const shown = computed(() => findWords(drawn.value, words.value))
export const drawnCount = computed(() => drawn.value.length)
/** How many requests have arrived since this selection was loaded. */
export const arrivals = signal(0)

/** How many requests are shown, and how many exist. */
export function sayHowMany(): string {
  const all = total.value
  if (all === undefined) return 'Loading…'
  const [drawn, found, { count, isExact }] = [drawnCount.value, shown.value.length, skipped.value]
  const of = drawn < all ? `latest ${formatNumber(drawn)} of ${formatCount(all, 'request')}` : ''
  const parts = [
    words.value.trim() === ''
      ? of || formatCount(drawn, 'request')
      : `${formatNumber(found)} of the ${of || formatCount(drawn, 'request')}`,
    isPaused.value && `paused, ${formatCount(waiting.value, 'new request')}`,
    (count > 0 || !isExact) && `${isExact ? '' : 'more than '}${formatNumber(count)} passed too fast to be shown`,
  ]
  return parts.filter(Boolean).join(' · ')
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
    const loaded: ListedRequest[] = []
    let count = 0
    let query: Query = { limit: MOST_REQUESTS }
    // A page can be short if bodies are long.
    for (let next: number | null = 0; next !== null && loaded.length < MOST_REQUESTS; ) {
      const page = await ask(query, signal)
      if (wanted !== choice) return
      loaded.push(...page.requests.map(toListed).reverse())
      count = page.count
      next = page.next
      if (next !== null) query = { limit: MOST_REQUESTS - loaded.length, before: next }
    }
    const [known, oldest] = [newest.ordinal, loaded.at(-1)?.ordinal ?? 0]
    if (known > 0 && oldest > known && loaded.length === MOST_REQUESTS) {
      skipped.value = { ...skipped.peek(), isExact: false }
    }
    if (isPaused.peek()) waiting.value += loaded.filter(({ ordinal }) => ordinal > known).length
    newest.replace(loaded)
    came.sinceLoad = 0
    total.value = count
    draw()
  },

  take(entry: JournalEntry): void {
    const listed = toListed(entry)
    if (listed.ordinal <= newest.ordinal || !isWanted(listed)) return
    listed.fresh = came.sinceDrawing < MOST_HIGHLIGHTED
    newest.add(listed)
    came.sinceDrawing++
    came.sinceLoad++
    came.inAll++
    draw()
    countSoon()
  },
}

/** Clears and reloads the list when the account, the scope or the conditions change. */
export function followScope(): void {
  effect(() => {
    void [chosenAccount.value, scope.value, conditions.value]
    choice++
    newest.replace([])
    batch(() => {
      drawn.value = []
      total.value = undefined
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

function ask(query: Query, signal?: AbortSignal) {
  const chosen = Object.entries(conditions.peek()).filter(([, value]) => value)
  const account = scope.peek() === 'none' && { account: 'none' }
  const request = { query: { ...query, ...Object.fromEntries(chosen), ...account }, ...(signal && { signal }) }
  return call(scope.peek() === 'account' ? 'listRequests' : 'listAllRequests', request)
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
    drawn.value = list
    // The journal has at least the rendered requests. The exact number follows.
    if (total.peek() !== undefined) total.value = Math.max(total.peek() ?? 0, list.length)
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
  setTimeout(() => {
    // An error can be ignored: the list is loaded again soon, and the stream reports a lost server.
    count()
      .catch(() => undefined)
      .finally(() => {
        counting = false
      })
  }, MILLISECONDS_BEFORE_COUNT)
}

/**
 * Compares the list with the journal, and repeats that if requests arrived meanwhile. If not, it reloads the list if it
 * differs, or if the stream may have skipped some of many requests.
 */
async function count(): Promise<void> {
  const [wanted, before] = [choice, came.inAll]
  const page = await ask({ limit: 1 })
  if (wanted !== choice) return
  total.value = page.count
  if (before !== came.inAll) {
    setTimeout(countSoon)
    return
  }
  const isSame =
    newest.list().length === Math.min(MOST_REQUESTS, page.count) &&
    (page.requests[0]?.ordinal ?? 0) === newest.ordinal &&
    came.sinceLoad <= MOST_REQUESTS
  if (!isSame) restartStream()
}
