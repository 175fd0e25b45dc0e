import type { IncomingMessage, ServerResponse } from 'node:http'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { Turns } from '../ground/turns.ts'
import type { ListedData } from './handler.ts'

/** The number of characters that are sent at once. */
const CHUNK = 65_536
/** In milliseconds: a reader that takes longer than this for one chunk is cut off. */
const PATIENCE = 60_000

/**
 * The text of a successful answer, in parts. `check` gets the data with one item at a time. It throws an error for data
 * that the document forbids.
 */
export function* writeList({ name, items, rest, write }: ListedData, check: (data: object) => void): Generator<string> {
  let beginning = `{"success":true,"data":{${JSON.stringify(name)}:[`
  for (const item of items) {
    check({ [name]: [item], ...rest })
    yield beginning
    if (write === undefined) yield JSON.stringify(item)
    else yield* write(item)
    beginning = ','
  }
  if (beginning !== ',') {
    check({ [name]: [], ...rest })
    yield beginning
  }
  const others = JSON.stringify(rest).slice(1)
  yield `]${others === '}' ? '' : ','}${others}}`
}

/**
 * Sends a long text while its parts are created, as fast as the reader accepts it. Other requests get their turn.
 * `send` sends a text that is short after all, with its length. `head` begins any other response. The work ends when
 * the reader leaves or accepts nothing for a minute. Rejects with the error of a part. The text until then is no valid
 * JSON.
 */
export async function sendParts(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Iterable<string>,
  { head, send }: { head(): void; send(text: string): void },
): Promise<void> {
  const { socket } = request
  const turns = new Turns()
  let text = ''
  for (const part of parts) {
    text += part
    if (text.length >= CHUNK) {
      if (!response.headersSent) head()
      if (request.method === 'HEAD') return void response.end()
      if (!response.write(text) && !(await isTaken(request, response))) return
      text = ''
    }
    if (!turns.isOver()) continue
    await turns.next()
    if (socket.destroyed) return
  }
  if (response.headersSent) response.end(text)
  else send(text)
}

/** Whether the reader accepts the written data before it leaves or the time is over. */
function isTaken({ socket }: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (socket.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const impatient = setTimeout(() => response.destroy(), PATIENCE)
    function settle(): void {
      clearTimeout(impatient)
      response.off('drain', settle)
      socket.off('close', settle)
      resolve(!socket.destroyed)
    }
    response.on('drain', settle)
    socket.on('close', settle)
  })
}
