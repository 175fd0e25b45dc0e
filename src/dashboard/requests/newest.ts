import type { ListedRequest } from './listed-request.ts'

/** How many requests are shown at most; the journal has the others. */
export const MOST_REQUESTS = 300

/** The newest requests of a stream that may be fast: to add one costs the same, however many there are. */
export class Newest {
  /** The oldest first. It may have twice as many as are shown, so that it is seldom shortened. */
  #entries: ListedRequest[] = []

  /** Replaces all. `entries` begin with the newest. */
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
