import type { RequestReport } from '../journal/description.ts'
import { readOptions } from './arguments.ts'
import type { ControlClient } from './control-client.ts'
import { ControlError } from './control-error.ts'

/** The requests, and their characters as JSON, that may wait for a reader of events. */
export const WAITING = { requests: 1_000, bytes: 16 << 20 }

/** The requests of an account or of all accounts, as they are answered. */
export interface RequestEvents extends AsyncIterableIterator<RequestReport>, AsyncDisposable {
  /** Ends the events. Leaving a `for await` loop calls it. */
  return(): Promise<IteratorResult<RequestReport>>
}

const OPTIONS = {
  signal: { words: 'the signal of an AbortController', fits: (value: unknown) => value instanceof AbortSignal },
}

/** Opens the events of a client, and remembers what was read of them. */
export class EventReader {
  readonly #client: ControlClient
  readonly #shows: (accountId: string) => boolean
  /** By account: the ordinal of the last request that was read. For all accounts together, the key is `undefined`. */
  readonly #read = new Map<string | undefined, number>()

  /** Of the requests of all accounts, the events have only those that `shows` permits, and those without an account. */
  constructor(client: ControlClient, shows: (accountId: string) => boolean) {
    this.#client = client
    this.#shows = shows
    // Requests from before belong to others.
    this.#read.set(undefined, client.newest)
  }

  /** Notes that the program has read these requests of an account, or of all accounts. */
  note(account: string | undefined, requests: readonly RequestReport[]): void {
    this.#read.set(account, Math.max(this.#read.get(account) ?? 0, ...requests.map(({ ordinal }) => ordinal)))
  }

  /**
   * The requests from now on, until the events are ended, `signal` is aborted or the server stops. Over HTTP, they begin
   * after the last one that was read, because a request may overtake the call that asks for events. Invalid options are
   * reported by the first read, as a rejection like that of the other methods of the library.
   */
  open(account: string | undefined, options: unknown): RequestEvents {
    const queue = new RequestQueue()
    const leave = this.#client.events(account, this.#read.get(account) ?? 0, {
      take: (request) => {
        if (account !== undefined || request.account === null || this.#shows(request.account)) queue.push(request)
      },
      end: (reason) => queue.end(reason),
    })
    const endings = [this.#client.stopping]
    try {
      const { signal } = readOptions('events', options, OPTIONS) as { signal?: AbortSignal }
      if (signal !== undefined) endings.push(signal)
    } catch (error) {
      queue.end(error)
    }
    const end = () => {
      leave()
      for (const ending of endings) ending.removeEventListener('abort', end)
      queue.end()
    }
    for (const ending of endings) ending.addEventListener('abort', end)
    if (endings.some(({ aborted }) => aborted)) end()
    const requests = this.#readQueue(account, queue, end)
    const events: RequestEvents = {
      next: () => requests.next(),
      return: () => {
        queue.clear()
        end()
        return requests.return(undefined)
      },
      [Symbol.asyncIterator]: () => events,
      [Symbol.asyncDispose]: async () => void (await events.return()),
    }
    return events
  }

  async *#readQueue(account: string | undefined, queue: RequestQueue, end: () => void): AsyncGenerator<RequestReport> {
    try {
      for (let request = await queue.take(); request !== undefined; request = await queue.take()) {
        this.note(account, [request])
        yield request
      }
    } finally {
      end()
    }
  }
}

/** The requests that wait for a reader. If there are too many, the next one and all later ones are lost. */
class RequestQueue {
  #waiting: { request: RequestReport; bytes: number }[] = []
  #bytes = 0
  #lost = 0
  #isEnded = false
  #failure: unknown
  #wake: (() => void) | undefined

  push(request: RequestReport): void {
    if (this.#isEnded) return
    const bytes = JSON.stringify(request).length
    const isFull = this.#waiting.length >= WAITING.requests || this.#bytes + bytes > WAITING.bytes
    // A reader would not notice a gap in the middle, so the events end where it begins.
    if (this.#lost > 0 || isFull) {
      this.#lost++
      return
    }
    this.#waiting.push({ request, bytes })
    this.#bytes += bytes
    this.#wake?.()
  }

  /** The next request, as soon as there is one; `undefined` after the last one. Only one caller may wait at a time. */
  async take(): Promise<RequestReport | undefined> {
    while (this.#waiting.length === 0 && !this.#isEnded && this.#lost === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const next = this.#waiting.shift()
    if (next !== undefined) this.#bytes -= next.bytes
    else if (this.#lost > 0) throw lossOf(this.#lost)
    else if (this.#failure !== undefined) throw this.#failure
    return next?.request
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
