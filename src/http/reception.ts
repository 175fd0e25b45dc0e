import type { IncomingMessage } from 'node:http'
import type { Awaitable } from '../ground/awaitable.ts'
import { StoreError } from '../store/store-error.ts'

/** A request whose body may have arrived before anybody asks for it. */
export interface Arrival {
  /** Whether it has, all of it. */
  isWhole: boolean
  /** What has arrived, where that is something. */
  arrived: Buffer | undefined
}

/** Bytes of all bodies together that are being received. */
export const RECEPTION = 256 << 20

const NOTHING = Buffer.alloc(0)

/**
 * Receives bodies. All that are not yet complete share a memory of so many bytes: a body may grow as long as it is not
 * longer than what is still free, so that many long ones never keep out a short one.
 */
export class Reception {
  readonly #limit: number
  #held = 0

  constructor(limit = RECEPTION) {
    this.#limit = limit
  }

  /** The bytes of the bodies that are not yet complete. */
  get held(): number {
    return this.#held
  }

  /**
   * The bytes of the body, or `undefined` as soon as there are more than `longest`; the rest is then read past. Rejects
   * with `ClientGone`, and with a `StoreError` `full` when there is no room for the body.
   */
  read(request: IncomingMessage & Partial<Arrival>, longest: number): Awaitable<Buffer | undefined> {
    if (Number(request.headers['content-length'] ?? 0) > longest) {
      request.resume()
      return undefined
    }
    if (request.isWhole) {
      const { arrived = NOTHING } = request
      return arrived.length > longest ? undefined : arrived
    }
    return this.#receive(request, longest)
  }

  #receive(request: IncomingMessage, longest: number): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      // It may have been lost while it waited for its turn behind another on the same connection.
      if (request.destroyed) return reject(new ClientGone())
      let chunks: Buffer[] = []
      let length = 0
      const release = () => {
        request.off('data', take)
        this.#held -= length
        length = 0
        chunks = []
      }
      const readPast = () => {
        release()
        request.resume()
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
      request.on('data', take)
      request.once('end', () => {
        const [first = NOTHING] = chunks
        const bytes = chunks.length <= 1 ? first : Buffer.concat(chunks)
        release()
        resolve(bytes)
      })
      // Whatever breaks a body off, be it a lost connection or a bad chunk, leaves nobody to answer.
      request.once('error', loseClient)
      request.once('close', () => {
        if (!request.complete) loseClient()
      })
    })
  }
}

/** Nobody needs it in the log, because the journal has it. */
function noRoom(limit: number): StoreError {
  const message = `The bodies that are being received take most of the ${limit >> 20} MiB that they may take`
  return Object.assign(new StoreError('full', message), { reported: true })
}

/** The client left before its request was complete, so there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
