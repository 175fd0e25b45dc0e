import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call, send } from './control.ts'
import { FACTS } from './facts.ts'
import { chosenAccount } from './place.tsx'
import { Refused, Unreachable } from './refusals.ts'
import type { BodyOf, CallId, DataOf, Schemas } from './responses.ts'

export interface LoadedData<Data> {
  data: Data | undefined
  failure: unknown
  refresh(): Promise<void>
}

interface SourceSettings {
  /** Whether it is the same for all accounts. */
  isShared?: boolean
  /** Whether only a change on this page makes it old, and neither requests nor other clients do. */
  isStill?: boolean
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
  #isOld = false
  #current: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #restsUntil = 0

  constructor(settings: SourceSettings, account: string, load: () => Promise<unknown>) {
    this.settings = settings
    this.account = account
    this.#load = load
  }

  /** Loads it. What becomes old during a load is loaded again afterwards. It never rejects. */
  readonly refresh = (): Promise<void> => {
    this.#isOld = true
    this.#current ??= this.#loadWhileOld().finally(() => {
      this.#current = undefined
    })
    return this.#current
  }

  /** Loads it soon, after a rest since the last load, if somebody sees it then. */
  refreshSoon(): void {
    const wait = Math.max(GATHERING, this.#restsUntil - readTimer())
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.users > 0 && !document.hidden) void this.refresh()
    }, wait)
  }

  async #loadWhileOld(): Promise<void> {
    await streamBegins
    while (this.#isOld) {
      this.#isOld = false
      const start = readTimer()
      try {
        this.data.value = await this.#load()
        this.failure.value = undefined
      } catch (error) {
        this.failure.value = error
      }
      const end = readTimer()
      this.#restsUntil = end + Math.max(SHORTEST_REST, RESTS * (end - start))
    }
  }
}

let sources = 0

/** Creates a source of data, which `load` gets for the account and the arguments, once for all who use the same. */
export function createSource<Args extends readonly string[], Data>(
  load: (account: string, ...args: Args) => Promise<Data>,
  settings: SourceSettings = {},
): {
  /** In a component: the data for the chosen account. It is kept up to date while the component is on the page. */
  use(...args: Args): LoadedData<Data>
} {
  const id = ++sources
  return {
    use(...args) {
      const account = settings.isShared ? '' : chosenAccount.value
      const key = JSON.stringify([id, account, ...args])
      if (!cache.has(key)) dropUnused()
      const cached = cache.get(key) ?? new Cached(settings, account, () => load(account, ...args))
      cache.set(key, cached)
      useEffect(() => {
        cached.users++
        if (cached.users === 1) void cached.refresh()
        return () => {
          cached.users--
        }
      }, [cached])
      return { data: cached.data.value as Data | undefined, failure: cached.failure.value, refresh: cached.refresh }
    },
  }
}

function dropUnused(): void {
  if (cache.size >= MOST_KEPT) for (const [key, { users }] of cache) if (users === 0) cache.delete(key)
}

/** Loads everything again that the page shows; `what` may leave out some. */
export async function refreshShown(what: (settings: SourceSettings) => boolean = () => true): Promise<void> {
  const shown = [...cache.values()].filter(({ users, settings }) => users > 0 && what(settings))
  await Promise.all(shown.map((each) => each.refresh()))
}

/** Makes a change, and then loads again what is shown, also after a refusal: another client may have been first. */
export async function change<Id extends CallId>(
  id: Id,
  parameters: Readonly<Record<string, string>> = {},
  body?: BodyOf<Id>,
): Promise<DataOf<Id>> {
  try {
    return await call(id, { parameters, ...(body !== undefined && { body }) })
  } finally {
    await refreshShown()
  }
}

/** All items of a list that comes in pages, each of which has them in the field `name`. */
function list<Item>(id: CallId, name: string) {
  return async (account: string): Promise<Item[]> => {
    const items: Item[] = []
    for (let after: unknown = ''; after !== null; ) {
      const query = { limit: FACTS.page_limit, ...(after !== '' && { after: String(after) }) }
      const page: Record<string, unknown> = { ...(await call(id, { parameters: { account }, query })) }
      items.push(...(page[name] as Item[]))
      after = page['next']
    }
    return items
  }
}

// What several views show. The others are beside their views.

export const accounts = createSource(list<Schemas['Account']>('listAccounts', 'accounts'), { isShared: true })
export const summary = createSource(async (account) => {
  const answer = await call('getAccount', { parameters: { account } })
  return { ...answer, at: readTimer() }
})
export const groups = createSource(list<Schemas['Group']>('listGroups', 'groups'))
/** The domains with the sources of their figures, in the order in which they were added. */
export const domains = createSource(list<Schemas['MonitoredDomain']>('listMonitoredDomains', 'domains'))
export const keys = createSource(list<Schemas['Key']>('listKeys', 'keys'))
export const faults = createSource(list<Schemas['Fault']>('listFaults', 'faults'))
export const snapshots = createSource(list<Schemas['Snapshot']>('listSnapshots', 'snapshots'))

const LONGEST_PAUSE = 5_000
const SHORTEST_PAUSE = 250
/** The server sends something at least every 15 seconds. A stream that is silent for longer than this is lost. */
const LONGEST_SILENCE = 45_000
const DATA = 'data: '

/** `connecting` at first; `lost` while the server does not answer. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
export const trouble = signal<unknown>(undefined)

let letBegin: () => void
/**
 * Data is loaded after the stream of requests is open, so that no request is lost between the two, or when it is known
 * that the stream cannot be opened.
 */
const streamBegins = new Promise<void>((resolve) => {
  letBegin = resolve
})

/** Loads again what a request may have changed, while the page is open. After an interruption, it is everything. */
export async function followRequests(): Promise<never> {
  for (let failures = 0; ; ) {
    let cause: unknown = new Unreachable('The connection was lost.')
    try {
      const response = await send('streamAllEvents')
      letBegin()
      if (connection.peek() !== 'connecting') void refreshShown()
      connection.value = 'live'
      failures = 0
      await readEvents(response)
    } catch (error) {
      if (error instanceof Refused || error instanceof Unreachable) cause = error
    }
    letBegin()
    failures += 1
    if (failures > 1) {
      trouble.value = cause
      connection.value = 'lost'
    }
    const pause = Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures)
    await new Promise((resolve) => setTimeout(resolve, pause))
    while (document.hidden)
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
  }
}

/** Reads a stream of server-sent events to its end. The browser's `EventSource` cannot send a token. */
async function readEvents({ body }: Response): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const timer = setTimeout(() => void reader?.cancel(), LONGEST_SILENCE)
    const part = await reader?.read().finally(() => clearTimeout(timer))
    if (part === undefined || part.done) return
    const lines = (rest + part.value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith(DATA)) noteRequest(JSON.parse(line.slice(DATA.length)))
  }
}

function noteRequest({ account }: Schemas['JournalEntry']): void {
  for (const each of cache.values()) {
    const { isShared, isStill } = each.settings
    if (each.users > 0 && !isStill && (isShared || account === each.account)) each.refreshSoon()
  }
}
