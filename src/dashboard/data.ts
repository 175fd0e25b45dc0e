import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { chosenAccount } from './place.tsx'
import type { JournalEntry } from './responses.ts'

/**
 * What makes data old, beside a change on this page: each request to the service, only one that may have changed the
 * account, only what other clients of the control plane do, or nothing. The first two also become old by the third.
 */
type Cause = 'requests' | 'changes' | 'others' | 'nothing'

interface SourceSettings {
  after: Cause
  /** Whether it is the same for all accounts. */
  isShared?: boolean
}

/** Data of the control plane as the page has it. */
export interface Loaded<Data> {
  /** The last data; `undefined` until it has arrived. */
  data: Data | undefined
  /** The error of the last load, if it failed. */
  failure: unknown
  /** Loads it again. It rejects if the load fails. */
  refresh(): Promise<void>
}

/** Loads data by its arguments. The data of the same arguments is loaded once for all who use it. */
export interface Source<Args extends readonly string[], Data> {
  /** In a component: the data for the chosen account. It is kept up to date while the component is on the page. */
  use(...args: Args): Loaded<Data>
  /** The last data of the chosen account, if there is any. */
  peek(...args: Args): Data | undefined
}

/** The least rest after a load before a request causes another one, in milliseconds. */
const SHORTEST_REST = 1_000
/** It is this many times as long as the load took, so that long lists and figures do not keep the server busy. */
const RESTS = 10
/** How long the page waits for more requests before it loads after one. */
const GATHERING = 150
/** How much data that nothing shows is kept, for whoever returns to a view. */
const MOST_KEPT = 40

/** The milliseconds since the page was opened. The clock of the computer may go back; this one does not. */
export function readTimer(): number {
  return performance.now()
}

const cache = new Map<string, Cached>()

class Cached {
  readonly data: Signal<unknown> = signal(undefined)
  readonly failure: Signal<unknown> = signal(undefined)
  readonly settings: SourceSettings
  readonly account: string
  users = 0
  #load: () => Promise<unknown>
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #restsUntil = 0

  constructor(settings: SourceSettings, account: string, load: () => Promise<unknown>) {
    this.settings = settings
    this.account = account
    this.#load = load
  }

  /** Loads it. During a load, it starts another one afterwards. */
  readonly refresh = (): Promise<void> => {
    if (this.#current === undefined) {
      this.#current = this.#loadOnce().finally(() => {
        this.#current = undefined
      })
      return this.#current
    }
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.refresh()
      })
    return this.#next
  }

  /** Loads it soon, after a rest since the last load. */
  refreshSoon(): void {
    if (this.#timer !== undefined) return
    const wait = Math.max(GATHERING, this.#restsUntil - readTimer())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.users > 0 && !document.hidden) this.refresh().catch(() => undefined)
    }, wait)
  }

  async #loadOnce(): Promise<void> {
    await streamBegins
    const start = readTimer()
    try {
      this.data.value = await this.#load()
      this.failure.value = undefined
    } catch (error) {
      this.failure.value = error
      throw error
    } finally {
      const end = readTimer()
      this.#restsUntil = end + Math.max(SHORTEST_REST, RESTS * (end - start))
    }
  }
}

let letBegin: () => void
/**
 * Data is loaded after the stream of requests is open, so that no request is lost between the two, or when it is known
 * that the stream cannot be opened.
 */
const streamBegins = new Promise<void>((resolve) => {
  letBegin = resolve
})

/** Lets the loads begin. */
export function noteStream(): void {
  letBegin()
}

let sources = 0

/** Creates a source of data. `load` gets the account and the arguments. */
export function createSource<Args extends readonly string[], Data>(
  settings: SourceSettings,
  load: (account: string, ...args: Args) => Promise<Data>,
): Source<Args, Data> {
  const id = ++sources
  function find(chosen: string, args: Args): Cached {
    const account = settings.isShared ? '' : chosen
    const key = JSON.stringify([id, account, ...args])
    let cached = cache.get(key)
    if (cached === undefined) {
      dropUnused()
      cached = new Cached(settings, account, () => load(account, ...args))
      cache.set(key, cached)
    }
    return cached
  }
  return {
    use(...args) {
      const cached = find(chosenAccount.value, args)
      useEffect(() => {
        cached.users++
        if (cached.users === 1) cached.refresh().catch(() => undefined)
        return () => {
          cached.users--
        }
      }, [cached])
      return { data: cached.data.value as Data | undefined, failure: cached.failure.value, refresh: cached.refresh }
    },
    peek: (...args) => find(chosenAccount.peek(), args).data.peek() as Data | undefined,
  }
}

function dropUnused(): void {
  if (cache.size < MOST_KEPT) return
  for (const [key, { users }] of cache) if (users === 0) cache.delete(key)
}

function shownData(): Cached[] {
  return [...cache.values()].filter(({ users }) => users > 0)
}

/** Loads everything again that the page shows, such as after a change. It never rejects. */
export async function refreshShown(): Promise<void> {
  await Promise.allSettled(shownData().map((each) => each.refresh()))
}

/** Loads again what other clients of the control plane may have changed. */
export async function poll(): Promise<void> {
  const open = shownData().filter(({ settings }) => settings.after !== 'nothing')
  await Promise.allSettled(open.map((each) => each.refresh()))
}

/** Tells the sources that the service has answered a request. */
export function noteRequest(request: JournalEntry): void {
  for (const each of shownData()) {
    const { after, isShared } = each.settings
    const isMeant = after === 'requests' || (after === 'changes' && mayHaveChanged(request))
    if (isMeant && (isShared || request.account === each.account)) each.refreshSoon()
  }
}

/** Whether a request is a write that succeeded or whose result is unknown, or a fault has acted, which can move the clock. */
function mayHaveChanged({ method, status, fault }: JournalEntry): boolean {
  if (fault !== null) return true
  if (method === 'GET' || method === 'HEAD') return false
  return status === null || (status >= 200 && status < 300)
}
