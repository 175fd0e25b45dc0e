/** Bytes of one body that are kept; a longer one is passed on, but nobody knows what was in it. */
export const BODY_LIMIT = 16 << 20
/** Bytes of all bodies that are kept until they are judged and recorded. */
export const BODIES_LIMIT = 64 << 20

const NOTHING = Buffer.alloc(0)

/** How much memory all bodies take together. */
export class BodyBudget {
  readonly limit: number
  #used = 0

  constructor(limit = BODIES_LIMIT) {
    this.limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** Whether so many more bytes could be taken. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) return false
    this.#used += bytes
    return true
  }

  release(bytes: number): void {
    this.#used -= bytes
  }
}

/** A copy of a body, made while it is passed on. */
export class CollectedBody {
  readonly #budget: BodyBudget
  #bytes: Buffer = NOTHING
  #length = 0
  /** Bytes of the whole body, also of what is not kept. */
  size = 0
  /** Why the bytes are not known, if they are not, as a sentence. */
  missing: string | undefined

  constructor(budget: BodyBudget) {
    this.#budget = budget
  }

  add(part: Buffer): void {
    this.size += part.length
    if (this.missing !== undefined) return
    const needed = this.#length + part.length
    if (this.size > BODY_LIMIT) this.drop(`The body is longer than ${BODY_LIMIT >> 20} MiB.`)
    else if (needed > this.#bytes.length && !this.#grow(needed)) {
      this.drop('There was no room to keep the body until it could be judged.')
    } else {
      part.copy(this.#bytes, this.#length)
      this.#length = needed
    }
  }

  /** What was kept, if that is the whole body. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Gives the memory back, and says why. */
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
    const larger = Buffer.allocUnsafeSlow(size)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
    return true
  }
}
