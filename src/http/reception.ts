import type { Awaitable } from '../ground/awaitable.ts'
import type { Arrival, BodyStream } from './arrival.ts'

const NOTHING = Buffer.alloc(0)

/**
 * The bytes of a body, or `undefined` as soon as there are more than `longest`; the rest is then read and discarded.
 * Rejects with `ClientGone`.
 */
export function receiveBody(
  { headers, body }: Pick<Arrival, 'headers' | 'body'>,
  longest: number,
): Awaitable<Buffer | undefined> {
  const announced = Number(headers['content-length'] ?? 0)
  const isTooLong = announced > longest || (Buffer.isBuffer(body) && body.length > longest)
  if (Buffer.isBuffer(body)) return isTooLong ? undefined : body
  if (!isTooLong) return receive(body, announced, longest)
  body.resume()
  return undefined
}

async function receive(stream: BodyStream, announced: number, longest: number): Promise<Buffer | undefined> {
  // After this, what came together with the header is there. That is nearly always the whole body, and then the events of
  // a stream, which take longer than everything else that happens to such a body, are not needed.
  await undefined
  if (announced > 0 && stream.readableLength === announced) return stream.read() ?? NOTHING
  return collect(stream, longest)
}

function collect(stream: BodyStream, longest: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new ClientGone())
    // The connection may have been lost while the request waited behind another one.
    if (stream.destroyed) return leave()
    const chunks: Buffer[] = []
    let length = 0
    function take(chunk: Buffer): void {
      length += chunk.length
      if (length <= longest) return void chunks.push(chunk)
      stream.off('data', take)
      stream.resume()
      resolve(undefined)
    }
    stream.on('data', take)
    stream.once('end', () => resolve(Buffer.concat(chunks)))
    // After a lost connection or a bad chunk, no client waits for an answer.
    stream.once('error', leave)
    stream.once('close', () => {
      if (!stream.complete) leave()
    })
  })
}

/** The client left before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
