import { readFile } from 'node:fs/promises'
import type { Adapter } from 'lowdb'
import type { AccountRecord, AccountState } from '../../domain/account.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData } from '../stored-account.ts'
import { type Durability, removeFile, replaceFile } from './atomic-file.ts'
import { codeOf } from './error-code.ts'
import { readAccountFile, writeAccountFile } from './file-format.ts'
import type { FolderHold } from './locked-folder.ts'
import type { Turns } from './semaphore.ts'
import type { WriteHealth } from './write-failures.ts'

/** What all files of a folder have in common. */
export interface FileKeeping {
  revive(record: AccountRecord): AccountState
  durability: Durability
  hold: FolderHold
  health: WriteHealth
  turns: Turns
}

/** One account in a file of its own. */
export class AccountFile implements Adapter<AccountData> {
  readonly #path: string
  readonly #keeping: FileKeeping

  constructor(path: string, keeping: FileKeeping) {
    this.#path = path
    this.#keeping = keeping
  }

  async read(): Promise<AccountData | null> {
    const content = await readFile(this.#path, 'utf8').catch((cause) => {
      if (codeOf(cause) === 'ENOENT') return null
      throw this.#unusable('read', cause)
    })
    if (content === null) return null
    this.#keeping.health.succeeded(this.#path, true)
    const { account, quotas, tallies, requests } = await readAccountFile(this.#path, content)
    return {
      state: this.#keeping.revive(account),
      quotas: new Map(Object.entries(quotas)),
      tallies: new Map(Object.entries(tallies)),
      requests,
    }
  }

  async write(data: AccountData): Promise<void> {
    // Before its turn comes, because by then the data may have moved on.
    const content = writeAccountFile(data)
    await this.#change('written', () => replaceFile(this.#path, content, this.#keeping.durability))
  }

  async remove(): Promise<void> {
    await this.#change('removed', () => removeFile(this.#path, this.#keeping.durability))
  }

  async #change(deed: 'written' | 'removed', change: () => Promise<void>): Promise<void> {
    const { turns, hold, health } = this.#keeping
    try {
      await turns.take(async () => {
        await hold.renew()
        await change()
      })
    } catch (cause) {
      const error = this.#unusable(deed, cause)
      health.failed(this.#path, error)
      throw error
    }
    health.succeeded(this.#path, deed === 'written')
  }

  #unusable(deed: string, cause: unknown): StoreError {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new StoreError('unusable', `${this.#path} cannot be ${deed} (${reason})`, { cause })
  }
}
