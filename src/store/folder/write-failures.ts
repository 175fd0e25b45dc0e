import type { StoreError } from '../store-error.ts'
import { codeOf } from './error-code.ts'

/** Whoever wants to know how writing fares, once for each cause however many requests it refuses. */
export interface Troubles {
  /** Writes fail for a reason for which none failed before. */
  began(error: StoreError): void
  /** All that could not be written could be by now, or is gone. */
  ended(): void
}

/** Which files cannot be written, and why. */
export class WriteHealth {
  readonly #troubles: Troubles | undefined
  /** Those that could not be written when that was last tried, by cause. */
  readonly #failing = new Map<unknown, Set<string>>()
  /** Those that are there; of any other that cannot be written nobody may ever hear again. */
  readonly #known = new Set<string>()

  constructor(troubles: Troubles | undefined) {
    this.#troubles = troubles
  }

  /** Marks the error as reported where somebody is told of it. */
  failed(path: string, error: StoreError): void {
    const cause = codeOf(error.cause) ?? (error.cause instanceof Error ? error.cause.message : error.message)
    const others = this.#failing.get(cause)
    const file = this.#known.has(path) ? path : ''
    for (const [other, files] of this.#failing) {
      if (other !== cause && files.delete(file) && files.size === 0) this.#failing.delete(other)
    }
    if (others === undefined) this.#failing.set(cause, new Set([file]))
    else others.add(file)
    if (this.#troubles === undefined) return
    error.reported = true
    if (others === undefined) this.#troubles.began(error)
  }

  /** The file is there, or no longer needed. */
  succeeded(path: string, there: boolean): void {
    if (there) this.#known.add(path)
    else this.#known.delete(path)
    if (this.#failing.size === 0) return
    for (const [cause, files] of this.#failing) {
      files.delete(path)
      files.delete('')
      if (files.size === 0) this.#failing.delete(cause)
    }
    if (this.#failing.size === 0) this.#troubles?.ended()
  }
}
