/** How many bytes of a body are kept. A longer body is passed on, but its content is not known. */
export const BODY_LIMIT = 16 << 20
/** Why a body is not kept. */
const TOO_LONG = `The body is longer than ${BODY_LIMIT >> 20} MiB.`
const NO_ROOM = 'There was no room to keep the body until it could be judged.'
/** How many bytes of all bodies are kept until they are judged and recorded. */
const BODIES_LIMIT = 64 << 20

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
  #parts: Buffer[] = []
  #kept = 0
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
    if (this.size > BODY_LIMIT) this.drop(TOO_LONG)
    else if (!this.#budget.take(part.length)) this.drop(NO_ROOM)
    else {
      this.#kept += part.length
      // The part itself would keep the whole buffer of the connection.
      this.#parts.push(Buffer.from(part))
    }
  }

  /** The kept bytes, if they are the whole body. */
  get bytes(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0] ?? Buffer.alloc(0)
  }

  /** Releases the memory and keeps the reason. */
  drop(reason: string): void {
    this.missing ??= reason
    this.release()
  }

  release(): void {
    this.#budget.release(this.#kept)
    this.#parts = []
    this.#kept = 0
  }
}
