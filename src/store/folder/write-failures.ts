import type { StoreError } from '../store-error.ts'

/** Is notified of failed writes: once, however many requests fail, and once when everything is written again. */
export interface WriteFailureListener {
  began(error: StoreError): void
  ended(): void
}

/** Stands for all files that could never be written. Possibly no request asks for those accounts again. */
const NEW_FILES = ''

/** Tracks which files cannot be written. */
export class WriteFailures {
  readonly #listener: WriteFailureListener | undefined
  readonly #failing = new Set<string>()

  constructor(listener: WriteFailureListener | undefined) {
    this.#listener = listener
  }

  /** `path` is absent for a new file. Returns the error, marked as reported if there is a listener. */
  failed(path: string | undefined, error: StoreError): StoreError {
    const isFirst = this.#failing.size === 0
    this.#failing.add(path ?? NEW_FILES)
    error.reported = this.#listener !== undefined
    if (isFirst) this.#listener?.began(error)
    return error
  }

  succeeded(path: string): void {
    if (this.#failing.size === 0) return
    this.#failing.delete(path)
    this.#failing.delete(NEW_FILES)
    if (this.#failing.size === 0) this.#listener?.ended()
  }
}
