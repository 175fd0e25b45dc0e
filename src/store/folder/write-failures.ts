import type { StoreError } from '../store-error.ts'
import { codeOf } from './error-code.ts'

/** Hears of failed writes: once for each cause, however many requests fail because of it. */
export interface WriteFailureListener {
  /** Writes fail for a cause for which none failed before. */
  began(error: StoreError): void
  /** Everything that could not be written has been written since, or was deleted. */
  ended(): void
}

/** Stands for all files that could never be written: perhaps nobody asks for those accounts again. */
const NEW_FILES = ''

/** Tracks which files cannot be written, and why. */
export class WriteFailures {
  readonly #listener: WriteFailureListener | undefined
  /** Cause → the paths whose last write failed for it. */
  readonly #failing = new Map<unknown, Set<string>>()
  /** The paths at which there is a file. */
  readonly #existing = new Set<string>()

  constructor(listener: WriteFailureListener | undefined) {
    this.#listener = listener
  }

  /** Marks the error as reported where there is a listener. */
  failed(path: string, error: StoreError): void {
    const cause = codeOf(error.cause) ?? (error.cause instanceof Error ? error.cause.message : error.message)
    const others = this.#failing.get(cause)
    const file = this.#existing.has(path) ? path : NEW_FILES
    for (const [other, files] of this.#failing) {
      if (other !== cause && files.delete(file) && files.size === 0) this.#failing.delete(other)
    }
    if (others === undefined) this.#failing.set(cause, new Set([file]))
    else others.add(file)
    if (this.#listener === undefined) return
    error.reported = true
    if (others === undefined) this.#listener.began(error)
  }

  /** `exists` is false when the file was deleted. */
  succeeded(path: string, exists: boolean): void {
    if (exists) this.#existing.add(path)
    else this.#existing.delete(path)
    if (this.#failing.size === 0) return
    for (const [cause, files] of this.#failing) {
      files.delete(path)
      files.delete(NEW_FILES)
      if (files.size === 0) this.#failing.delete(cause)
    }
    if (this.#failing.size === 0) this.#listener?.ended()
  }
}
