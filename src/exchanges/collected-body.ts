/** How many bytes of a body are kept. A longer body is passed on, but its content is not known. */
export const BODY_LIMIT = 16 << 20
/** Why a body is not kept. */
const TOO_LONG = `The body is longer than ${BODY_LIMIT >> 20} MiB.`
const NO_ROOM = 'There was no room to keep the body until it could be judged.'
/** How many bytes of all bodies are kept until they are judged and recorded. */
const BODIES_LIMIT = 64 << 20

/** Up to this size, a buffer from the pool of Node.js costs a tenth of one of its own, and pins few other bytes. */
const POOLED = Buffer.poolSize >>> 2

const NOTHING = Buffer.alloc(0)

/** Limits the memory of all bodies together. */
export class BodyBudget {
  readonly limit: number
  #used = 0

  constructor(limit = BODIES_LIMIT) {
    this.limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** Reserves memory. Returns whether there was enough. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) return false
    this.#used += bytes
    return true
  }

  release(bytes: number): void {
    this.#used -= bytes
  }
}

/** A copy of a body that is made while the body is passed on. */
export class CollectedBody {
  readonly #budget: BodyBudget
  #bytes: Buffer = NOTHING
  #length = 0
  /** The bytes of the whole body, including those that are not kept. */
  size = 0
  /** Why the bytes are not known, as a sentence; absent if they are known. */
  missing: string | undefined

  constructor(budget: BodyBudget) {
    this.#budget = budget
  }

  add(part: Buffer): void {
    this.size += part.length
    if (this.missing !== undefined) return
    const needed = this.#length + part.length
    if (this.size > BODY_LIMIT) this.drop(TOO_LONG)
    else if (needed > this.#bytes.length && !this.#grow(needed)) {
      this.drop(NO_ROOM)
    } else {
      part.copy(this.#bytes, this.#length)
      this.#length = needed
    }
  }

  /** The kept bytes, if they are the whole body. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Releases the memory and keeps the reason. */
  drop(reason: string): void {
    this.missing ??= reason
    this.release()
  }

  release(): void {
    this.#budget.release(this.#bytes.length)
    this.#bytes = NOTHING
    this.#length = 0
  }

  #grow(needed: number): boolean {
    const size = Math.max(needed, Math.min(2 * this.#bytes.length, BODY_LIMIT))
    if (!this.#budget.take(size - this.#bytes.length)) return false
    const larger = size < POOLED ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
    return true
  }
}
