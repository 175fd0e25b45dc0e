import { LIMITS } from '../domain/limits.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { StoreError } from '../store/store-error.ts'
import type { Arrival, BodyStream } from './arrival.ts'

/** In bytes, the total size of all bodies that are being received. */
export const RECEPTION = LIMITS.body

const NOTHING = Buffer.alloc(0)

/**
 * Receives bodies. All incomplete bodies share a memory of this many bytes. A body may grow as long as it is not longer
 * than what is still free, so that many long bodies never keep out a short one.
 */
export class Reception {
  readonly #limit: number
  #held = 0

  constructor(limit: number = RECEPTION) {
    this.#limit = limit
  }

  /** The bytes of the incomplete bodies. */
  get held(): number {
    return this.#held
  }

  /**
   * The bytes of the body, or `undefined` as soon as there are more than `longest`; the rest is then discarded. Rejects
   * with `ClientGone`, and with a `StoreError` `full` if there is no room for the body.
   */
  read(
    request: Pick<Arrival, 'headers' | 'isWhole' | 'arrived' | 'rest'>,
    longest: number,
  ): Awaitable<Buffer | undefined> {
    if (Number(request.headers['content-length'] ?? 0) > longest) {
      request.rest?.resume()
      return undefined
    }
    if (request.isWhole || request.rest === undefined) {
      const { arrived = NOTHING } = request
      return arrived.length > longest ? undefined : arrived
    }
    return this.#receive(request.rest, longest)
  }

  #receive(body: BodyStream, longest: number): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      // The connection may have been lost while the request waited behind another one.
      if (body.destroyed) return reject(new ClientGone())
      let chunks: Buffer[] = []
      let length = 0
      const release = () => {
        body.off('data', take)
        this.#held -= length
        length = 0
        chunks = []
      }
      const readPast = () => {
        release()
        body.resume()
      }
      const take = (chunk: Buffer) => {
        length += chunk.length
        this.#held += chunk.length
        if (length > longest) {
          readPast()
          resolve(undefined)
        } else if (length > this.#limit - this.#held) {
          readPast()
          reject(noRoom(this.#limit))
        } else chunks.push(chunk)
      }
      const loseClient = () => {
        release()
        reject(new ClientGone())
      }
      body.on('data', take)
      body.once('end', () => {
        const [first = NOTHING] = chunks
        const bytes = chunks.length <= 1 ? first : Buffer.concat(chunks)
        release()
        resolve(bytes)
      })
      // After a lost connection or a bad chunk, no client waits for an answer.
      body.once('error', loseClient)
      body.once('close', () => {
        if (!body.complete) loseClient()
      })
    })
  }
}

/** Callers treat it like the error of a full store. It is not logged, because the journal has it. */
function noRoom(limit: number): StoreError {
  const message = `The bodies that are being received take most of the ${limit >> 20} MiB that they may take`
  return Object.assign(new StoreError('full', message), { reported: true })
}

/** The client left before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
