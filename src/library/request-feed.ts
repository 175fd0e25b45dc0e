import type { Contract } from '../contract/contract.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { RequestReport } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import { bytesOf, type Journal } from '../journal/journal.ts'
import type { RequestMatch } from '../journal/match.ts'
import { readOptions } from './arguments.ts'
import { ControlError } from './control-error.ts'

/** The requests, and their bytes, that may wait for a reader of events. */
export const WAITING = { requests: 1_000, bytes: 16 << 20 }

/** The requests of an account or of all accounts, as they are answered. */
export interface RequestEvents extends AsyncIterableIterator<RequestReport>, AsyncDisposable {
  /** Ends the events. Leaving a `for await` loop calls it. */
  return(): Promise<IteratorResult<RequestReport>>
}

/** Delivers the requests to the service, from this process or over HTTP. */
export interface RequestFeed {
  /**
   * The requests from now on, of an account or of all, until the events are ended, `signal` is aborted or the server
   * stops. Invalid options are reported by the first read, as a rejection like that of the other methods of the library.
   */
  open(account: string | undefined, options: unknown): RequestEvents
  /** Watches the requests of an account from now on. The caller ends the watch. */
  watch(account: string): RequestWatch
}

export interface RequestWatch {
  /** The number of requests since the beginning of the watch. */
  readonly came: number
  /**
   * The first request that matches, as soon as it is answered; also one that is in the journal already. `undefined` if
   * none comes within so many milliseconds, or the server stops.
   */
  find(match: RequestMatch, timeout: number): Promise<RequestReport | undefined>
  end(): void
}

/** Delivers the new entries of the journal to readers in the same process. */
export class DirectFeed implements RequestFeed {
  readonly #journal: Journal
  readonly #contract: Contract
  readonly #stopping: AbortSignal

  /** `stopping` is aborted when the server stops, which ends all events. */
  constructor(journal: Journal, contract: Contract, stopping: AbortSignal) {
    this.#journal = journal
    this.#contract = contract
    this.#stopping = stopping
  }

  open(account: string | undefined, options: unknown): RequestEvents {
    const follow = (queue: RequestQueue<Entry>) =>
      this.#subscribe(account, (entry) => queue.push(entry, bytesOf(entry)))
    return openEvents(options, this.#stopping, follow, (entry) => this.#describe(entry))
  }

  watch(account: string): RequestWatch {
    const arrived: Entry[] = []
    let came = 0
    /** Compares a request as soon as the conditions are known. Until then, the request waits. */
    let look = (entry: Entry): void => {
      if (arrived.length < WAITING.requests) arrived.push(entry)
    }
    const unsubscribe = this.#subscribe(account, (entry) => {
      came++
      look(entry)
    })
    return {
      get came() {
        return came
      },
      find: async (match, timeout) => {
        const { differencesOf } = await import('../journal/match.ts')
        const found = await untilOver<Entry>(timeout, this.#stopping, (resolve) => {
          look = (entry) => {
            if (differencesOf(entry, match, this.#contract).length === 0) resolve(entry)
          }
          for (const entry of this.#journal.oldestFirst(account)) look(entry)
          for (const entry of arrived) look(entry)
        })
        return found && this.#describe(found)
      },
      end: unsubscribe,
    }
  }

  /** Calls `listener` with each new request of the account, or of all accounts. The returned function ends this. */
  #subscribe(account: string | undefined, listener: (entry: Entry) => void): () => void {
    return this.#journal.subscribe((entry) => {
      if (account === undefined || entry.account === account) listener(entry)
    })
  }

  /** The request in the form of lists. */
  async #describe(entry: Entry): Promise<RequestReport> {
    const { describeEntry } = await import('../journal/description.ts')
    const report = describeEntry(entry, this.#contract.catalogue)
    // Neither side can change an object of the other.
    return JSON.parse(JSON.stringify(report))
  }
}

/** What `look` finds; `undefined` after so many milliseconds, or if the server stops. */
export async function untilOver<Found>(
  timeout: number,
  stopping: AbortSignal,
  look: (resolve: (found: Found) => void, reject: (reason: unknown) => void) => void,
): Promise<Found | undefined> {
  const leaving = new AbortController()
  const { signal } = leaving
  try {
    return await new Promise<Found | undefined>((resolve, reject) => {
      look(resolve, reject)
      // If the server has already stopped, no further `abort` event comes.
      if (stopping.aborted) resolve(undefined)
      const timer = setTimeout(resolve, timeout, undefined)
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
      stopping.addEventListener('abort', () => resolve(undefined), { signal })
    })
  } finally {
    leaving.abort()
  }
}

/** The events of requests that `follow` puts into the queue, until the function that it returns is called. */
export function openEvents<Item>(
  options: unknown,
  stopping: AbortSignal,
  follow: (queue: RequestQueue<Item>) => () => void,
  describe: (item: Item) => RequestReport | Promise<RequestReport>,
): RequestEvents {
  const queue = new RequestQueue<Item>()
  const unfollow = follow(queue)
  const endings = [stopping]
  try {
    const { signal } = readOptions('events', options, OPTIONS) as { signal?: AbortSignal }
    if (signal !== undefined) endings.push(signal)
  } catch (error) {
    queue.end(error)
  }
  const end = () => {
    unfollow()
    for (const ending of endings) ending.removeEventListener('abort', end)
    queue.end()
  }
  for (const ending of endings) ending.addEventListener('abort', end)
  if (endings.some(({ aborted }) => aborted)) end()
  const requests = readQueue(queue, describe, end)
  const leave = (): Promise<IteratorResult<RequestReport>> => {
    queue.clear()
    end()
    return requests.return(undefined)
  }
  const events: RequestEvents = {
    next: () => requests.next(),
    return: leave,
    [Symbol.asyncIterator]: () => events,
    [Symbol.asyncDispose]: async () => void (await leave()),
  }
  return events
}

async function* readQueue<Item>(
  queue: RequestQueue<Item>,
  describe: (item: Item) => RequestReport | Promise<RequestReport>,
  end: () => void,
): AsyncGenerator<RequestReport, undefined> {
  try {
    for (let item = await queue.take(); item !== undefined; item = await queue.take()) yield await describe(item)
  } finally {
    end()
  }
}

const OPTIONS = {
  signal: { words: 'the signal of an AbortController', fits: (value: unknown) => value instanceof AbortSignal },
}

/** The requests that wait for a reader. If there are too many, the next one and all later ones are lost. */
export class RequestQueue<Item> {
  #waiting: { item: Item; weight: number }[] = []
  #bytes = 0
  #lost = 0
  #isEnded = false
  #failure: unknown
  #wake: (() => void) | undefined

  /** `weight` is in bytes. */
  push(item: Item, weight: number): void {
    if (this.#isEnded) return
    const isFull = this.#waiting.length >= WAITING.requests || this.#bytes + weight > WAITING.bytes
    // A reader would not notice a gap in the middle, so the events end where it begins.
    if (this.#lost > 0 || isFull) {
      this.#lost++
      return
    }
    this.#waiting.push({ item, weight })
    this.#bytes += weight
    this.#wake?.()
  }

  /** The next request, as soon as there is one; `undefined` after the last one. Only one caller may wait at a time. */
  async take(): Promise<Item | undefined> {
    while (this.#waiting.length === 0 && !this.#isEnded && this.#lost === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const next = this.#waiting.shift()
    if (next !== undefined) this.#bytes -= next.weight
    else if (this.#lost > 0) throw lossOf(this.#lost)
    else if (this.#failure !== undefined) throw this.#failure
    return next?.item
  }

  /** Ends the queue. The reader gets `reason`, if there is one, after the last request. */
  end(reason?: unknown): void {
    this.#failure ??= reason
    this.#isEnded = true
    this.#wake?.()
  }

  clear(): void {
    this.#waiting = []
    this.#lost = 0
    this.#failure = undefined
  }
}

function lossOf(lost: number): ControlError {
  const { requests, bytes } = WAITING
  const what = lost === 1 ? '1 request was lost' : `${lost} requests were lost`
  const why = `${requests} requests or ${bytes >> 20} MiB waited for the reader of events()`
  return new ControlError('lost', `${what}, because ${why}. Read faster, or list the requests.`, [])
}
