import { signal } from '@preact/signals'
import { send } from './client.ts'
import { noteRequest, noteStream, refreshShown } from './data.ts'
import { Refused, Unreachable } from './refusals.ts'
import type { JournalEntry } from './responses.ts'

const LONGEST_PAUSE = 5_000
const SHORTEST_PAUSE = 250
/** The server sends something at least every 15 seconds. A stream that is silent for longer than this is lost. */
const LONGEST_SILENCE = 45_000
const DATA = 'data: '

/** `connecting` at first; `lost` while the server does not answer. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** The reason for a lost connection: a refusal or a message. */
export const trouble = signal<unknown>(undefined)

/** Tells of the requests to the service while the page is open. After an interruption, everything is loaded again. */
export async function followRequests(): Promise<never> {
  for (let failures = 0; ; ) {
    let cause: unknown = new Unreachable('The connection was lost.')
    try {
      const response = await send('streamAllEvents')
      noteStream()
      if (connection.peek() !== 'connecting') void refreshShown()
      connection.value = 'live'
      trouble.value = undefined
      failures = 0
      for await (const entry of readEvents(response)) noteRequest(entry)
    } catch (error) {
      cause = error
    }
    noteStream()
    failures += 1
    if (failures > 1) {
      connection.value = 'lost'
      trouble.value = cause instanceof Refused || cause instanceof Unreachable ? cause : 'The connection was lost.'
    }
    await pause(Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures))
    await untilSeen()
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Waits while nobody sees the page. */
function untilSeen(): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true })
  })
}

/** Reads the entries of a stream of server-sent events. The browser's `EventSource` cannot send a token. */
async function* readEvents({ body }: Response): AsyncGenerator<JournalEntry, void> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await readInTime(reader)
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith(DATA)) yield JSON.parse(line.slice(DATA.length))
  }
}

/** Reads the next part of a stream. @throws Unreachable after a long silence. */
async function readInTime(reader: ReadableStreamDefaultReader<string>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    const words = `The server has sent nothing for ${LONGEST_SILENCE / 1_000} seconds.`
    timer = setTimeout(() => {
      void reader.cancel()
      reject(new Unreachable(words))
    }, LONGEST_SILENCE)
  })
  try {
    return await Promise.race([reader.read(), silence])
  } finally {
    clearTimeout(timer)
  }
}
