import { batch, computed, effect, signal } from '@preact/signals'
import type { RequestsQuery } from '../calls.ts'
import { call } from '../client.ts'
import { restartStream } from '../exchanges.ts'
import type { JournalEntry } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { type Conditions, findWords, type ListedRequest, meets, NO_CONDITIONS, toListed } from './listed-request.ts'
import { MOST_REQUESTS, Newest } from './newest.ts'

const MILLISECONDS_BETWEEN_DRAWINGS = 50
/** How many rows are highlighted when they are drawn together: more than these, nobody follows. */
const MOST_HIGHLIGHTED = 20
/** After this time, the journal is asked how many requests it has. */
const MILLISECONDS_BEFORE_COUNT = 400

/** Whose requests the list has: those of the chosen account, of no account, or of all accounts and of none. */
export type Scope = 'account' | 'none' | 'all'

export const scope = signal<Scope>('account')
export const conditions = signal<Conditions>(NO_CONDITIONS)
/** The words that the user looks for. */
export const words = signal('')
/** What is drawn, the newest first. */
const drawn = signal<readonly ListedRequest[]>([])
/** How many requests the journal has that meet the conditions; `undefined` until it is known. */
export const total = signal<number | undefined>(undefined)
/** Whether the list stands still. */
export const isPaused = signal(false)
/** How many requests arrived since the list stands still. */
export const waiting = signal(0)
/** How many requests arrived too fast to be drawn; there may be more if the stream was interrupted for being slow. */
export const skipped = signal({ count: 0, isExact: true })
/** The requests that contain the words, the newest first. */
export const shown = computed(() => findWords(drawn.value, words.value))
/** How many requests are drawn if no words are looked for. */
export const drawnCount = computed(() => drawn.value.length)
/** How many requests have arrived since the list was loaded for this choice. */
export const arrivals = signal(0)

const newest = new Newest()
/** How many requests arrived since they were drawn, since the list was loaded, and in all. */
const came = { sinceDrawing: 0, sinceLoad: 0, inAll: 0 }
/** Which requests are wanted; another one after each choice, so that nothing is shown that was wanted before. */
let choice = 0

/** What is asked of the list: how to load it, and which requests of the stream it takes. */
export const requestList = {
  stream: (): 'streamEvents' | 'streamAllEvents' => (scope.peek() === 'account' ? 'streamEvents' : 'streamAllEvents'),

  /** Fills the list with the requests in the journal, and resolves to the ordinal of the newest one. */
  async load(signal: AbortSignal): Promise<void> {
    const wanted = choice
    const loaded: ListedRequest[] = []
    let count = 0
    let query: RequestsQuery = { limit: MOST_REQUESTS }
    // Long bodies make a page end early.
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

  /** Takes a request that has just been answered. */
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

/** Begins again when something else is wanted. */
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

/** Lets the list stand still, or go on with the newest requests. */
export function pause(paused: boolean): void {
  isPaused.value = paused
  waiting.value = 0
  draw()
}

/** Begins to count again how many requests were too fast. */
export function forgetSkipped(): void {
  skipped.value = { count: 0, isExact: true }
  arrivals.value = 0
  came.inAll = 0
  newest.replace([])
}

/** Whether a request is one of those that the list has. The stream has those of more accounts and of all operations. */
function isWanted(entry: ListedRequest): boolean {
  if (scope.peek() === 'none' && entry.account !== null) return false
  return meets(entry, conditions.peek())
}

function ask(query: RequestsQuery, signal?: AbortSignal) {
  const { violation, injected, refused, operation } = conditions.peek()
  const wanted: RequestsQuery = {
    ...query,
    ...(violation && { violation: 'true' }),
    ...(injected && { injected: 'true' }),
    ...(refused && { refused: 'true' }),
    ...(operation !== '' && { operation }),
    ...(scope.peek() === 'none' && { account: 'none' }),
  }
  const abortable = signal === undefined ? {} : { signal }
  return call(scope.peek() === 'account' ? 'listRequests' : 'listAllRequests', { query: wanted, ...abortable })
}

/** `resting` while nothing may be drawn, `due` when something is drawn as soon as that is over. */
let pencil: 'idle' | 'resting' | 'due' = 'idle'

/** Draws at once, but no more than about twenty times in a second, because requests can arrive faster than that. */
function draw(): void {
  if (pencil !== 'idle') {
    pencil = 'due'
    return
  }
  pencil = 'resting'
  // Everything that arrives together is drawn together.
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
    // Until the journal is asked again, it has at least those that are shown.
    if (total.peek() !== undefined) total.value = Math.max(total.peek() ?? 0, list.length)
    if (fresh > MOST_REQUESTS) {
      skipped.value = { ...skipped.peek(), count: skipped.peek().count + fresh - MOST_REQUESTS }
    }
  })
}

let counting = false

/** Asks the journal, a little later, how many requests it has. */
function countSoon(): void {
  if (counting) return
  counting = true
  setTimeout(() => {
    // The list is loaded again soon, and the stream shows when the server does not answer.
    count()
      .catch(() => undefined)
      .finally(() => {
        counting = false
      })
  }, MILLISECONDS_BEFORE_COUNT)
}

/**
 * Compares the list with the journal. Where requests have arrived meanwhile, that is done again. When it is quiet, the
 * list is loaded again if it differs, or if so many requests came that the stream may have left some out.
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
