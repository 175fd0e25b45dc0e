import { readFile } from 'node:fs/promises'
import type { Adapter } from 'lowdb'
import type { Settings } from '../../domain/settings.ts'
import type { Semaphore } from '../../ground/semaphore.ts'
import { runInTurns } from '../../ground/work.ts'
import { decodeAccount, type ListTexts } from '../record.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData } from '../stored-account.ts'
import { type Durability, removeFile, replaceFile } from './atomic-file.ts'
import { codeOf } from './error-code.ts'
import { readAccountFile, writeAccountFile } from './file-format.ts'
import type { LockedFolder } from './locked-folder.ts'
import type { WriteFailures } from './write-failures.ts'

/** What all account files of a folder share. */
export interface FileAccess {
  settings: Pick<Settings, 'nameComparison'>
  durability: Durability
  lock: LockedFolder
  failures: WriteFailures
  semaphore: Semaphore
}

/** One account in a file of its own. */
export class AccountFile implements Adapter<AccountData> {
  readonly #path: string
  readonly #access: FileAccess
  readonly #written: ListTexts = {}

  constructor(path: string, access: FileAccess) {
    this.#path = path
    this.#access = access
  }

  async read(): Promise<AccountData | null> {
    const content = await readFile(this.#path, 'utf8').catch((cause) => {
      if (codeOf(cause) === 'ENOENT') return null
      throw this.#unusable('read', cause)
    })
    if (content === null) return null
    this.#access.failures.succeeded(this.#path, true)
    const { account, quotas, tallies, requests, use } = await readAccountFile(this.#path, content)
    return {
      state: decodeAccount(account, this.#access.settings),
      quotas: new Map(Object.entries(quotas)),
      tallies: new Map(Object.entries(tallies)),
      requests,
      ...(use && { use }),
    }
  }

  async write(data: AccountData): Promise<void> {
    // Serialized before it waits for the semaphore, because the data may change in the meantime.
    const content = await runInTurns(writeAccountFile(data, this.#written))
    await this.#change('written', () => replaceFile(this.#path, content, this.#access.durability))
  }

  async remove(): Promise<void> {
    await this.#change('removed', () => removeFile(this.#path, this.#access.durability))
  }

  async #change(verb: 'written' | 'removed', change: () => Promise<void>): Promise<void> {
    const { semaphore, lock, failures } = this.#access
    try {
      await semaphore.run(async () => {
        await lock.renew()
        await change()
      })
    } catch (cause) {
      const error = this.#unusable(verb, cause)
      failures.failed(this.#path, error)
      throw error
    }
    failures.succeeded(this.#path, verb === 'written')
  }

  #unusable(verb: string, cause: unknown): StoreError {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new StoreError('unusable', `${this.#path} cannot be ${verb} (${reason})`, { cause })
  }
}
