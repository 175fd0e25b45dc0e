import { lstatSync, readFileSync } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Adapter } from 'lowdb'
import type { Semaphore } from '../../ground/semaphore.ts'
import { StoreError } from '../store-error.ts'

/** What a finished write survives: the end of the process (`rename`), or also that of the machine (`fsync`). */
export type Durability = 'rename' | 'fsync'

/** Is told of failed writes: once, however many requests fail, and once when a file can be written again. */
export interface WriteFailureListener {
  began(error: StoreError): void
  ended(): void
}

/** Whether files cannot be written. */
export class WriteFailures {
  readonly #listener: WriteFailureListener | undefined
  #isFailing = false

  constructor(listener: WriteFailureListener | undefined) {
    this.#listener = listener
  }

  /** Returns the error, marked as reported if there is a listener. */
  began(error: StoreError): StoreError {
    error.reported = this.#listener !== undefined
    if (!this.#isFailing) this.#listener?.began(error)
    this.#isFailing = true
    return error
  }

  ended(): void {
    if (this.#isFailing) this.#listener?.ended()
    this.#isFailing = false
  }
}

/** What all files of a folder share. */
export interface FileAccess {
  durability: Durability
  failures: WriteFailures
  semaphore: Semaphore
}

/** How the data of a file is read and written. */
export interface FileFormat<Data> {
  /** @throws StoreError `damaged` */
  parse(path: string, content: Buffer): Data | Promise<Data>
  stringify(data: Data): string
}

/**
 * A file that is replaced as a whole: a reader always finds the old content or the new one, also after the process was
 * killed. Files hold hashes of keys and the monitored domains, so only their owner may read them. The adapters of lowdb
 * itself set no mode, and do not flush.
 */
export class FileAdapter<Data extends object> implements Adapter<Data | null> {
  readonly #path: string
  readonly #format: FileFormat<Data>
  readonly #access: FileAccess

  constructor(path: string, format: FileFormat<Data>, access: FileAccess) {
    this.#path = path
    this.#format = format
    this.#access = access
  }

  /** `null` if there is no file. @throws StoreError `damaged`, `unusable` */
  async read(): Promise<Data | null> {
    const content = this.#readContent()
    return content && this.#format.parse(this.#path, content)
  }

  async write(data: Data | null): Promise<void> {
    if (data === null) return
    await this.#change('written', async (flush) => {
      const temporary = join(dirname(this.#path), `.${basename(this.#path)}.tmp`)
      try {
        // What a killed process has left is removed, never followed.
        await rm(temporary, { force: true })
        await writeFile(temporary, this.#format.stringify(data), { flag: 'wx', mode: 0o600, flush })
        await rename(temporary, this.#path)
      } catch (error) {
        // On a full disk, the temporary file takes the space that the next try needs.
        await rm(temporary, { force: true }).catch(() => {})
        throw error
      }
    })
    this.#access.failures.ended()
  }

  /** Deletes the file for good; a missing file is no error. */
  async remove(): Promise<void> {
    await this.#change('removed', () => rm(this.#path, { force: true }))
  }

  /** At once, because a start reads thousands of small files. */
  #readContent(): Buffer | null {
    try {
      const status = lstatSync(this.#path, { throwIfNoEntry: false })
      if (status === undefined) return null
      // Reading a pipe would never end.
      if (status.isFile()) return readFileSync(this.#path)
    } catch (cause) {
      throw unusable(this.#path, 'read', cause)
    }
    throw damagedFile(this.#path, 'is not a regular file')
  }

  async #change(verb: 'written' | 'removed', change: (flush: boolean) => Promise<void>): Promise<void> {
    const { durability, failures, semaphore } = this.#access
    const flush = durability === 'fsync'
    try {
      await semaphore.run(async () => {
        await change(flush)
        if (flush) await syncFolder(dirname(this.#path))
      })
    } catch (cause) {
      throw failures.began(unusable(this.#path, verb, cause))
    }
  }
}

/** A rename changes the folder, which is flushed separately from its files. */
export async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

export function damagedFile(path: string, problem: string, options?: ErrorOptions): StoreError {
  const error = new StoreError('damaged', `${path}: ${problem}`, options)
  error.file = basename(path)
  return error
}

function unusable(path: string, verb: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StoreError('unusable', `${path} cannot be ${verb} (${reason})`, { cause })
}
