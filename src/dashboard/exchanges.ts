import { signal } from '@preact/signals'
import { send } from './client.ts'
import { isNotFound, Refused, Unreachable } from './refusals.ts'
import { noteRequest, refreshShown } from './resource.ts'
import type { JournalEntry } from './responses.ts'

const LONGEST_PAUSE = 5_000
const SHORTEST_PAUSE = 250

/** The server sends something at least every 15 seconds. A stream that is silent for longer than this is lost. */
const LONGEST_SILENCE = 45_000

const DATA = 'data: '

interface Sink {
  /** The operation that streams the wanted requests. */
  stream(): 'streamEvents' | 'streamAllEvents'
  load(signal: AbortSignal): Promise<void>
  /** Adds a new request. It may already be loaded. */
  take(entry: JournalEntry): void
}

/** `connecting` at first; `lost` while the server does not answer. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** The reason for a lost connection: a refusal or a message. */
export const trouble = signal<unknown>(undefined)

let current: AbortController | undefined

/** Restarts with the requests in the journal. */
export function restartStream(): void {
  current?.abort()
}

/**
 * Passes new requests to `sink` while the page is open. After each interruption, it opens the stream first and then
 * loads the journal. So no request is lost between the two, and both come from the same server. A server that replaces
 * the first one counts its requests from one again.
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
        noteRequest(entry)
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
    // A reload detects that the account no longer exists.
    if (isNotFound(cause)) void refreshShown()
    await pauseFor(Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures), ended)
    await untilSeen(ended)
    // If the load failed, its stream must not continue beside the next one.
    attempt.abort()
  }
}

/** Waits, but ends early at a restart. */
function pauseFor(milliseconds: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    ended.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Waits while nobody sees the page, but ends early at a restart. */
function untilSeen(ended: AbortSignal): Promise<void> {
  if (!document.hidden || ended.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const options = { once: true, signal: ended }
    document.addEventListener('visibilitychange', () => resolve(), options)
    ended.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Reads the entries of a stream of server-sent events. The browser's `EventSource` cannot send a token. */
async function* readEvents({ body }: Response): AsyncGenerator<JournalEntry, void> {
  if (body === null) return
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await readInTime(reader)
    if (done) return
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n').filter((line) => line.startsWith(DATA))
      if (lines.length > 0) yield JSON.parse(lines.map((line) => line.slice(DATA.length)).join('\n'))
    }
  }
}

/** Reads the next part of a stream. @throws Unreachable after a long silence. */
async function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    const words = `The server has sent nothing for ${LONGEST_SILENCE / 1_000} seconds.`
    timer = setTimeout(() => reject(new Unreachable(words)), LONGEST_SILENCE)
  })
  try {
    return await Promise.race([reader.read(), silence])
  } finally {
    clearTimeout(timer)
  }
}
