import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Catalogue } from '../contract/catalogue.ts'
import { clearInterval, setInterval } from '../ground/timers.ts'
import { describeEntry } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { UNIFORM_HEADERS } from './paths.ts'

/** In bytes: what may wait for a reader. */
export const MOST_WAITING = 4 << 20
/** In milliseconds: a comment is sent at this interval, because a proxy would close a silent stream. */
const HEARTBEAT = 15_000

interface StreamSource {
  journal: Journal
  catalogue: Catalogue
  account: string | undefined
  stopping: AbortSignal
}

/**
 * Streams the new entries of one account or of all as server-sent events, until the reader leaves or the server stops.
 * With `Last-Event-ID`, the entries since that event come first. A reader for whom too much waits is cut off, and can
 * resume.
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
  const isBehind = () => response.writableLength > MOST_WAITING
  const write = (entry: Entry) => {
    const description = describeEntry(entry, catalogue)
    response.write(`id: ${entry.ordinal}\nevent: request\ndata: ${JSON.stringify(description)}\n\n`)
  }
  response.write(': the requests as they happen\n\n')
  for (const entry of entriesAfter(request.headers['last-event-id'], journal, account)) {
    // The reader gets what is written, and resumes after that.
    if (isBehind()) return void response.end()
    write(entry)
  }
  const unsubscribe = journal.subscribe((entry) => {
    if (account !== undefined && entry.account !== account) return
    if (isBehind()) response.destroy()
    else write(entry)
  })
  const heartbeat = setInterval(() => response.writableNeedDrain || response.write(': still here\n\n'), HEARTBEAT)
  heartbeat.unref()
  const end = () => void response.end()
  stopping.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    unsubscribe()
    clearInterval(heartbeat)
    stopping.removeEventListener('abort', end)
  })
}

/** The present entries after the last event of a reader; none if the reader has no last event. */
function entriesAfter(
  lastEventId: string | string[] | undefined,
  journal: Journal,
  account: string | undefined,
): Entry[] {
  return /^\d+$/.test(String(lastEventId)) ? journal.oldestFirst(account, Number(lastEventId)) : []
}
