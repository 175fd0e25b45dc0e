import type { StoreError } from '../store-error.ts'
import { codeOf } from './regular-file.ts'

/** Is notified of failed writes: once for each cause, however many requests fail because of it. */
export interface WriteFailureListener {
  /** The first write fails for this cause. */
  began(error: StoreError): void
  /** Everything that could not be written has been written or deleted since then. */
  ended(): void
}

/** Stands for all files that could never be written. Possibly no request asks for those accounts again. */
const NEW_FILES = ''

/** Tracks which files cannot be written, and why. */
export class WriteFailures {
  readonly #listener: WriteFailureListener | undefined
  /** Cause → the paths whose last write failed because of it. */
  readonly #failing = new Map<unknown, Set<string>>()
  /** The paths of existing files. */
  readonly #existing = new Set<string>()

  constructor(listener: WriteFailureListener | undefined) {
    this.#listener = listener
  }

  /** Marks the error as reported if there is a listener. */
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

  /** `exists` is false if the file was deleted. */
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
