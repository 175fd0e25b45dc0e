import type { Arrival, BodyStream } from '../ground/arrival.ts'
import type { Awaitable } from '../ground/awaitable.ts'

/**
 * The bytes of a body, or `undefined` as soon as there are more than `longest`; the rest is then read and discarded.
 * Rejects with `ClientGone`.
 */
export function receiveBody(
  { headers, body }: Pick<Arrival, 'headers' | 'body'>,
  longest: number,
): Awaitable<Buffer | undefined> {
  const isWhole = Buffer.isBuffer(body)
  const size = isWhole ? body.length : Number(headers['content-length'] ?? 0)
  if (size <= longest) return isWhole ? body : collect(body, longest)
  if (!isWhole) body.resume()
  return undefined
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
