import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Catalogue } from '../contract/catalogue.ts'
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../ground/timers.ts'
import { describeEntry } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { UNIFORM_HEADERS } from './paths.ts'

/** In milliseconds: events are gathered for this time, so that a busy server writes a few times a second. */
const PAUSE = 20
/** How many requests may wait for a reader. The journal keeps little of each body. */
const MOST_WAITING = 1_000
/** In milliseconds: a comment is sent at this interval, because a proxy would close a silent stream. */
const HEARTBEAT = 15_000
/** A reader that accepts nothing for this many heartbeats is cut off. */
const PATIENCE = 4

interface StreamSource {
  journal: Journal
  catalogue: Catalogue
  /** By default, all accounts. */
  account: string | undefined
  stopping: AbortSignal
}

/**
 * Streams the new entries of one account or of all as server-sent events, until the reader leaves or the server stops.
 * With `Last-Event-ID`, the entries since that event come first. A reader that is too slow is cut off, and can resume.
 */
export function streamEvents(
  request: IncomingMessage,
  response: ServerResponse,
  { journal, catalogue, account, stopping }: StreamSource,
): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    ...UNIFORM_HEADERS,
    // This stops a proxy from buffering, which would delay the events.
    'X-Accel-Buffering': 'no',
  })
  if (stopping.aborted) return void response.end()
  const waiting = entriesAfter(request.headers['last-event-id'], journal, account)
  const mostWaiting = waiting.length + MOST_WAITING
  let timer: ReturnType<typeof setTimeout> | undefined
  /** The number of heartbeats since the reader last accepted data. */
  let missedBeats = 0

  function write(entry: Entry): void {
    const description = describeEntry(entry, catalogue)
    response.write(`id: ${entry.ordinal}\nevent: request\ndata: ${JSON.stringify(description)}\n\n`)
  }

  /** Sends the events, as fast as the reader takes them. */
  function send(): void {
    timer = undefined
    while (!response.writableNeedDrain) {
      const entry = waiting.shift()
      if (entry === undefined) return
      write(entry)
    }
  }

  function note(entry: Entry): void {
    if (account !== undefined && entry.account !== account) return
    waiting.push(entry)
    if (waiting.length > mostWaiting) response.destroy()
    else timer ??= setTimeout(send, PAUSE).unref()
  }

  function beat(): void {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
    else if (++missedBeats === PATIENCE) response.destroy()
  }

  function end(): void {
    waiting.forEach(write)
    leave()
    response.end()
  }

  function leave(): void {
    unsubscribe()
    clearInterval(heartbeat)
    clearTimeout(timer)
    stopping.removeEventListener('abort', end)
  }

  const unsubscribe = journal.subscribe(note)
  const heartbeat = setInterval(beat, HEARTBEAT)
  heartbeat.unref()
  stopping.addEventListener('abort', end, { once: true })
  response.on('drain', () => {
    missedBeats = 0
    send()
  })
  response.once('close', leave)
  response.write(': the requests as they happen\n\n')
  send()
}

/** The present entries after the last event of a reader; none if the reader has no last event. */
function entriesAfter(
  lastEventId: string | string[] | undefined,
  journal: Journal,
  account: string | undefined,
): Entry[] {
  return /^\d+$/.test(String(lastEventId)) ? [...journal.oldestFirst(account, Number(lastEventId))] : []
}
