import type { ListedRequest } from './listed-request.ts'

/** How many requests are shown at most. The journal has the others. */
export const MOST_REQUESTS = 300

/** The newest requests of a fast stream. Adding one has a constant cost. */
export class Newest {
  /** The oldest is first. It may have twice as many entries as are shown, so that it rarely must be shortened. */
  #entries: ListedRequest[] = []

  /** Replaces all entries. The newest must be first. */
  replace(entries: readonly ListedRequest[]): void {
    this.#entries = [...entries].reverse()
  }

  add(entry: ListedRequest): void {
    if (this.#entries.length >= 2 * MOST_REQUESTS) this.#entries = this.#entries.slice(-MOST_REQUESTS)
    this.#entries.push(entry)
  }

  /** The newest first. */
  list(): readonly ListedRequest[] {
    return this.#entries.slice(-MOST_REQUESTS).reverse()
  }

  get ordinal(): number {
    return this.#entries.at(-1)?.ordinal ?? 0
  }
}
