import { signal } from '@preact/signals'
import { send } from './client.ts'
import { Refused, Unreachable } from './refusals.ts'
import { noteRequest, refreshShown } from './resource.ts'
import type { JournalEntry } from './responses.ts'
import { chosenAccount } from './selection.ts'
import { readEvents } from './server-sent-events.ts'

const LONGEST_PAUSE = 5_000
const SHORTEST_PAUSE = 250

/** What the requests of the stream are shown in: the list of requests. */
interface Sink {
  /** The operation that streams the requests that are wanted. */
  stream(): 'streamEvents' | 'streamAllEvents'
  /** Loads the newest requests of the journal. */
  load(signal: AbortSignal): Promise<void>
  /** Takes a request that has just been answered, which may have been loaded already. */
  take(entry: JournalEntry): void
}

/** `connecting` at first; `lost` while the server does not answer. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** Why the connection is lost: a refusal, or what happened. */
export const trouble = signal<unknown>(undefined)

/** Ends the stream that is being read. */
let current: AbortController | undefined

/** Starts again with the requests in the journal. */
export function restartStream(): void {
  current?.abort()
}

/**
 * Passes requests on as they happen, as long as the page is open. After each interruption, it starts again: it opens the
 * stream, and then loads what the journal has. So nothing is missed between the two, and both are of the same server even
 * if another one, which counts its requests from one again, has taken the place of the first.
 */
export async function followExchanges(sink: Sink): Promise<never> {
  for (let failures = 0; ; ) {
    const attempt = new AbortController()
    const { signal: ended } = attempt
    current = attempt
    let cause: unknown
    try {
      const response = await send(sink.stream(), { signal: ended })
      await sink.load(ended)
      ended.throwIfAborted()
      connection.value = 'live'
      trouble.value = undefined
      if (failures > 0) void refreshShown()
      failures = 0
      for await (const entry of readEvents(response)) {
        if (ended.aborted) break
        sink.take(entry)
        if (entry.account === chosenAccount.peek()) noteRequest(entry)
      }
    } catch (error) {
      cause = error
    }
    if (ended.aborted) continue
    failures += 1
    if (failures > 1) {
      connection.value = 'lost'
      trouble.value = cause instanceof Refused || cause instanceof Unreachable ? cause : 'The connection was lost.'
    }
    // What is shown notices that its account does not exist any more.
    if (cause instanceof Refused && cause.status === 404) void refreshShown()
    await pauseFor(Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures), ended)
    // A stream that was opened before a load failed must not go on beside the next one.
    attempt.abort()
  }
}

/** Waits, but no longer than until somebody wants to start again. */
function pauseFor(milliseconds: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    ended.addEventListener('abort', () => resolve(), { once: true })
  })
}
