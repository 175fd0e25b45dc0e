import { signal } from '@preact/signals'
import { send } from './client.ts'
import { Refused, Unreachable } from './refusals.ts'
import { noteRequest, refreshShown } from './resource.ts'
import type { JournalEntry } from './responses.ts'
import { readEvents } from './server-sent-events.ts'

const LONGEST_PAUSE = 5_000
const SHORTEST_PAUSE = 250

/** What the requests of the stream are shown in: the list of requests. */
interface Sink {
  /** Loads the newest requests of the journal, and resolves to the ordinal of the newest one. */
  load(signal: AbortSignal): Promise<number>
  /** Takes a request that has just been answered. */
  take(entry: JournalEntry): void
  /** Whether the requests of all accounts are wanted, and those of no account. */
  isForEveryone(): boolean
}

/** `connecting` at first; `lost` while the server does not answer. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** Why the connection is lost: a refusal, or what happened. */
export const trouble = signal<unknown>(undefined)

/** Aborts the stream that is being read. */
let current: AbortController | undefined

/** Starts again with the requests in the journal. */
export function restartStream(): void {
  current?.abort()
}

/** Passes requests on as they happen, as long as the page is open. After each interruption, it starts again. */
export async function followExchanges({ load, take, isForEveryone }: Sink): Promise<never> {
  for (let failures = 0; ; ) {
    current = new AbortController()
    const { signal: aborted } = current
    let cause: unknown
    try {
      const newest = await load(aborted)
      if (aborted.aborted) continue
      const headers = { 'last-event-id': String(newest) }
      const response = await send(isForEveryone() ? 'streamAllEvents' : 'streamEvents', { headers, signal: aborted })
      connection.value = 'live'
      trouble.value = undefined
      if (failures > 0) void refreshShown()
      failures = 0
      for await (const entry of readEvents(response)) {
        if (aborted.aborted) break
        take(entry)
        noteRequest()
      }
    } catch (error) {
      cause = error
    }
    if (aborted.aborted) continue
    failures += 1
    if (failures > 1) {
      connection.value = 'lost'
      trouble.value = cause instanceof Refused || cause instanceof Unreachable ? cause : 'The connection was lost.'
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures)))
  }
}
