import type { IncomingMessage, ServerResponse } from 'node:http'
import { Turns } from '../ground/turns.ts'
import type { ListedData } from './handler.ts'

/** How many characters are sent at once. */
const CHUNK = 65_536
/** In milliseconds, how long a reader may take for what was sent at once. A reader who takes longer is cut off. */
export const PATIENCE = 60_000

/**
 * The text of a successful answer, in parts. `check` gets the data with one item at a time, and throws an error where the
 * document forbids it.
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
 * Sends a long text while its parts are made, as fast as the reader takes it, and lets others have their turn. `send`
 * sends a text that turns out to be short, with its length; `head` begins any other response. The work ends when the
 * reader leaves, or takes nothing for a minute. Rejects with the error of a part; what was sent until then is no JSON.
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

/** Whether the reader takes what was written, before it leaves or patience ends. */
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
