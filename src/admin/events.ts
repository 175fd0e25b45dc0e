import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Catalogue } from '../contract/catalogue.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { describeEntry } from '../journal/report.ts'

/** In milliseconds: how often a silent stream shows that it lives, before a proxy takes it for dead. */
const HEARTBEAT = 15_000
/** Bytes that may wait for a slow reader; beyond it the stream ends, and the reader resumes by Last-Event-ID. */
const BACKLOG = 1 << 20

/**
 * Streams the entries of an account's journal, or of all, as server-sent events, until the reader leaves or the server
 * stops. A `Last-Event-ID` first brings what the journal has since then.
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
    // Proxies that buffer would hold the events back.
    'X-Accel-Buffering': 'no',
  })
  function send(entry: Entry): void {
    if (account !== undefined && entry.account !== account) return
    response.write(`id: ${entry.ordinal}\nevent: request\ndata: ${JSON.stringify(describeEntry(entry, catalogue))}\n\n`)
    if (response.writableLength > BACKLOG) response.destroy()
  }
  const last = Number(request.headers['last-event-id'] ?? Number.NaN)
  response.write(': the requests as they happen\n\n')
  if (!Number.isNaN(last)) for (const entry of journal.list(account)) if (entry.ordinal > last) send(entry)
  const unsubscribe = journal.subscribe(send)
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT)
  heartbeat.unref()
  const end = () => response.end()
  stopping.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    unsubscribe()
    clearInterval(heartbeat)
    stopping.removeEventListener('abort', end)
  })
}
