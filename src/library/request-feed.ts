import type { Contract } from '../contract/contract.ts'
import type { RequestReport } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { weightOf } from '../journal/weight.ts'
import { readOptions } from './arguments.ts'
import { ControlError } from './control-error.ts'

/** The requests, and their bytes, that may wait for a reader of events. */
export const WAITING = { requests: 1_000, bytes: 16 << 20 }

/** The requests of an account or of all accounts, as they are answered. */
export interface RequestEvents extends AsyncIterableIterator<RequestReport>, AsyncDisposable {
  /** Ends the events. Leaving a `for await` loop calls it. */
  return(): Promise<IteratorResult<RequestReport>>
}

/** Delivers the new entries of the journal to readers in the same process. */
export class RequestFeed {
  readonly #journal: Journal
  readonly #contract: Contract
  readonly #stopping: AbortSignal

  /** `stopping` is aborted when the server stops, which ends all events. */
  constructor(journal: Journal, contract: Contract, stopping: AbortSignal) {
    this.#journal = journal
    this.#contract = contract
    this.#stopping = stopping
  }

  /** Calls `listener` with each new request of the account, or of all accounts. The returned function ends this. */
  subscribe(account: string | undefined, listener: (entry: Entry) => void): () => void {
    return this.#journal.subscribe((entry) => {
      if (account === undefined || entry.account === account) listener(entry)
    })
  }

  /** The requests in the journal, from the oldest to the newest. */
  recorded(account: string): Iterable<Entry> {
    return this.#journal.oldestFirst(account)
  }

  /** The request in the form of lists. */
  async describe(entry: Entry): Promise<RequestReport> {
    const { describeEntry } = await import('../journal/description.ts')
    const report = describeEntry(entry, this.#contract.catalogue, this.#journal.redactorFor(entry))
    // Neither side can change an object of the other.
    return JSON.parse(JSON.stringify(report))
  }

  /**
   * The requests from now on, until the events are ended, `signal` is aborted or the server stops. Invalid options are
   * reported by the first read, as a rejection like that of the other methods of the library.
   */
  open(account: string | undefined, options: unknown): RequestEvents {
    const queue = new EntryQueue()
    const unsubscribe = this.subscribe(account, (entry) => queue.push(entry))
    const endings = [this.#stopping]
    try {
      const { signal } = readOptions('events', options, OPTIONS) as { signal?: AbortSignal }
      if (signal !== undefined) endings.push(signal)
    } catch (error) {
      queue.end(error)
    }
    const end = () => {
      unsubscribe()
      for (const ending of endings) ending.removeEventListener('abort', end)
      queue.end()
    }
    for (const ending of endings) ending.addEventListener('abort', end)
    if (endings.some(({ aborted }) => aborted)) end()
    const requests = this.#read(queue, end)
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

  async *#read(queue: EntryQueue, end: () => void): AsyncGenerator<RequestReport, undefined> {
    try {
      for (let entry = await queue.take(); entry !== undefined; entry = await queue.take()) {
        yield await this.describe(entry)
      }
    } finally {
      end()
    }
  }
}

const OPTIONS = {
  signal: { words: 'the signal of an AbortController', fits: (value: unknown) => value instanceof AbortSignal },
}

/** The entries that wait for a reader. If there are too many, the next entry and all later ones are lost. */
class EntryQueue {
  #entries: Entry[] = []
  #bytes = 0
  #lost = 0
  #isEnded = false
  #failure: unknown
  #wake: (() => void) | undefined

  push(entry: Entry): void {
    if (this.#isEnded) return
    const weight = weightOf(entry, undefined)
    const isFull = this.#entries.length >= WAITING.requests || this.#bytes + weight > WAITING.bytes
    // A reader would not notice a gap in the middle, so the events end where it begins.
    if (this.#lost > 0 || isFull) {
      this.#lost++
      return
    }
    this.#entries.push(entry)
    this.#bytes += weight
    this.#wake?.()
  }

  /** The next entry, as soon as there is one; `undefined` after the last one. Only one caller may wait at a time. */
  async take(): Promise<Entry | undefined> {
    while (this.#entries.length === 0 && !this.#isEnded && this.#lost === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const entry = this.#entries.shift()
    if (entry !== undefined) this.#bytes -= weightOf(entry, undefined)
    else if (this.#lost > 0) throw lossOf(this.#lost)
    else if (this.#failure !== undefined) throw this.#failure
    return entry
  }

  /** Ends the queue. The reader gets `reason`, if there is one, after the last entry. */
  end(reason?: unknown): void {
    this.#failure ??= reason
    this.#isEnded = true
    this.#wake?.()
  }

  clear(): void {
    this.#entries = []
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
