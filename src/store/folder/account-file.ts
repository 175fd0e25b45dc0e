import { readFileSync } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Adapter } from 'lowdb'
import type { StoredAccount } from '../kept-account.ts'
import { StoreError } from '../store-error.ts'
import { type ParseAccount, stringifyAccount } from './file-format.ts'

/** What a finished write survives: the end of the process (`rename`), or also that of the machine (`fsync`). */
export type Durability = 'rename' | 'fsync'

/** Is told of failed writes: once, however many requests fail, and once when a file can be written again. */
export interface WriteFailureListener {
  began(error: StoreError): void
  ended(): void
}

/** What all files of a folder share. */
export interface FileAccess {
  parse: ParseAccount
  durability: Durability
  failures: WriteFailureListener | undefined
  /** Whether files cannot be written. */
  isFailing: boolean
}

/**
 * The file of an account, which is replaced as a whole: a reader always finds the old content or the new one, also after
 * the process was killed. It holds hashes of keys and the monitored domains, so only its owner may read it. The adapters
 * of lowdb itself set no mode, and do not flush.
 */
export class AccountFile implements Adapter<StoredAccount | null> {
  readonly #path: string
  readonly #access: FileAccess

  constructor(path: string, access: FileAccess) {
    this.#path = path
    this.#access = access
  }

  /** @throws StoreError `damaged`, `unusable` */
  async read(): Promise<StoredAccount> {
    let content: Buffer
    try {
      // At once, because a start reads thousands of small files.
      content = readFileSync(this.#path)
    } catch (cause) {
      throw unusable(this.#path, 'read', cause)
    }
    return this.#access.parse(this.#path, content)
  }

  async write(data: StoredAccount | null): Promise<void> {
    if (data === null) return
    await this.#change('written', async (flush) => {
      const temporary = join(dirname(this.#path), `.${basename(this.#path)}.tmp`)
      try {
        // What a killed process has left is removed, never followed.
        await rm(temporary, { force: true })
        await writeFile(temporary, stringifyAccount(data), { flag: 'wx', mode: 0o600, flush })
        await rename(temporary, this.#path)
      } catch (error) {
        // On a full disk, the temporary file takes the space that the next try needs.
        await rm(temporary, { force: true }).catch(() => {})
        throw error
      }
    })
    if (this.#access.isFailing) this.#access.failures?.ended()
    this.#access.isFailing = false
  }

  /** Deletes the file for good; a missing file is no error. */
  async remove(): Promise<void> {
    await this.#change('removed', () => rm(this.#path, { force: true }))
  }

  async #change(verb: 'written' | 'removed', change: (flush: boolean) => Promise<void>): Promise<void> {
    const { durability, failures, isFailing } = this.#access
    const flush = durability === 'fsync'
    try {
      await change(flush)
      if (flush) await syncFolder(dirname(this.#path))
    } catch (cause) {
      const error = unusable(this.#path, verb, cause)
      error.reported = failures !== undefined
      if (!isFailing) failures?.began(error)
      this.#access.isFailing = true
      throw error
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

function unusable(path: string, verb: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StoreError('unusable', `${path} cannot be ${verb} (${reason})`, { cause })
}
