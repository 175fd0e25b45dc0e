import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Catalogue } from '../contract/catalogue.ts'
import { describeEntry } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'

/** In milliseconds. A comment is sent so often, because a proxy would close a silent stream. */
const HEARTBEAT = 15_000
/** For how many heartbeats a reader may take nothing, before it is cut off. */
const PATIENCE = 4
/**
 * New entries that may wait for a slow reader. If there are more, the stream is closed, and the reader can resume it
 * with `Last-Event-ID`.
 */
const BACKLOG = 1_000

/**
 * Streams the new entries of the journal, of one account or of all, as server-sent events, until the reader leaves or
 * the server stops. With `Last-Event-ID`, the entries since that event come first.
 */
export function streamEntries(
  request: IncomingMessage,
  response: ServerResponse,
  journal: Journal,
  account: string | undefined,
  catalogue: Catalogue,
  stopping: AbortSignal,
): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // A proxy that buffers would delay the events.
    'X-Accel-Buffering': 'no',
  })
  if (request.method === 'HEAD' || stopping.aborted) {
    response.end()
    return
  }
  const missed = entriesAfter(request.headers['last-event-id'], journal, account)
  let caughtUp = false
  let waiting: Entry[] = []
  let next = 0
  let flowing = true
  /** How many heartbeats came since the reader has taken something. */
  let missedBeats = 0

  /** Writes waiting entries until the connection's buffer is full. */
  function pump(): void {
    while (flowing) {
      const entry = nextMissed() ?? waiting[next++]
      if (entry === undefined) break
      flowing = response.write(eventOf(entry))
    }
    if (next < waiting.length) return
    waiting = []
    next = 0
  }

  function nextMissed(): Entry | undefined {
    if (caughtUp) return undefined
    const { value, done } = missed.next()
    caughtUp = done === true
    return value ?? undefined
  }

  function eventOf(entry: Entry): string {
    const description = describeEntry(entry, catalogue, journal.redactorFor(entry))
    return `id: ${entry.ordinal}\nevent: request\ndata: ${JSON.stringify(description)}\n\n`
  }

  function take(entry: Entry): void {
    // Until the reader has caught up, new entries are read from the journal.
    if (!caughtUp || (account !== undefined && entry.account !== account)) return
    waiting.push(entry)
    if (waiting.length - next > BACKLOG) response.destroy()
    else pump()
  }

  response.write(': the requests as they happen\n\n')
  const unsubscribe = journal.subscribe(take)
  const heartbeat = setInterval(() => {
    if (flowing) response.write(': still here\n\n')
    else if (++missedBeats === PATIENCE) response.destroy()
  }, HEARTBEAT)
  heartbeat.unref()
  function end(): void {
    leave()
    response.end()
  }
  function leave(): void {
    unsubscribe()
    clearInterval(heartbeat)
    stopping.removeEventListener('abort', end)
  }
  stopping.addEventListener('abort', end, { once: true })
  response.on('drain', () => {
    flowing = true
    missedBeats = 0
    pump()
  })
  response.once('close', leave)
  pump()
}

/**
 * The entries after the last event of a reader; none for a reader without one. They are read from the journal one by one,
 * with those that come meanwhile. What the journal drops before its turn is left out.
 */
function* entriesAfter(
  lastEventId: string | string[] | undefined,
  journal: Journal,
  account: string | undefined,
): Generator<Entry, void, undefined> {
  let last = /^\d+$/.test(String(lastEventId)) ? Number(lastEventId) : Number.POSITIVE_INFINITY
  while (last < journal.recorded) {
    // A later entry may be the first one of its account, which the walk does not reach.
    const newest = journal.recorded
    for (const entry of journal.oldestFirst(account, last)) {
      if (entry.ordinal > newest) break
      yield entry
    }
    last = newest
  }
}
