import type { IncomingMessage, ServerResponse } from 'node:http'
import { clearInterval, setInterval } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { EventFeed } from './event-feed.ts'
import { UNIFORM_HEADERS } from './pages.ts'

/** In milliseconds: a comment is sent at this interval, because a proxy would close a silent stream. */
const HEARTBEAT = 15_000
/** A reader that accepts nothing for this many heartbeats is cut off. */
const PATIENCE = 4

/**
 * Streams the new entries of one account or of all as server-sent events, until the reader leaves or the server stops.
 * With `Last-Event-ID`, the entries since that event come first.
 */
export function streamEntries(
  request: IncomingMessage,
  response: ServerResponse,
  feed: EventFeed,
  account: string | undefined,
  stopping: AbortSignal,
): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    ...UNIFORM_HEADERS,
    // This stops a proxy from buffering, which would delay the events.
    'X-Accel-Buffering': 'no',
  })
  if (stopping.aborted) return void response.end()
  const { journal } = feed
  const missed = entriesAfter(request.headers['last-event-id'], journal, account)
  const seat = feed.take(account, { write: (bytes) => response.write(bytes), cut: () => response.destroy() })
  let resume = catchUp

  /** Sends the entries that the reader has missed, as fast as it reads. */
  function catchUp(): void {
    for (let next = missed.next(); next.done !== true; next = missed.next()) {
      if (!response.write(feed.write(next.value))) return
    }
    resume = seat.resume
    seat.follow(journal.recorded)
  }

  response.write(': the requests as they happen\n\n')
  /** The number of heartbeats since the reader last accepted data. */
  let missedBeats = 0
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
    else if (++missedBeats === PATIENCE) response.destroy()
  }, HEARTBEAT)
  heartbeat.unref()
  function end(): void {
    feed.flush()
    leave()
    response.end()
  }
  function leave(): void {
    seat.leave()
    clearInterval(heartbeat)
    stopping.removeEventListener('abort', end)
  }
  stopping.addEventListener('abort', end, { once: true })
  response.on('drain', () => {
    missedBeats = 0
    resume()
  })
  response.once('close', leave)
  catchUp()
}

/**
 * The entries after the last event of a reader; none if the reader has no last event. They are read from the journal
 * one by one, with the entries that arrive meanwhile. An entry that the journal drops before its turn is left out.
 */
function* entriesAfter(
  lastEventId: string | string[] | undefined,
  journal: Journal,
  account: string | undefined,
): Generator<Entry, void, undefined> {
  let last = /^\d+$/.test(String(lastEventId)) ? Number(lastEventId) : Number.POSITIVE_INFINITY
  while (last < journal.recorded) {
    // A later entry may be the first of its account. The walk does not reach such an entry.
    const newest = journal.recorded
    for (const entry of journal.oldestFirst(account, last)) {
      if (entry.ordinal > newest) break
      yield entry
    }
    last = newest
  }
}
