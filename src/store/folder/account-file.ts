import type { Adapter } from 'lowdb'
import { PersistentMap } from '../../domain/persistent-map.ts'
import type { Settings } from '../../domain/settings.ts'
import { decodeText } from '../../ground/input-file.ts'
import type { Semaphore } from '../../ground/semaphore.ts'
import { runInTurns } from '../../ground/work.ts'
import { decodeAccount, type ListTexts } from '../record.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData } from '../stored-account.ts'
import { type Durability, removeFile, replaceFile } from './atomic-file.ts'
import { damagedFile, readAccountFile, writeAccountFile } from './file-format.ts'
import type { LockedFolder } from './locked-folder.ts'
import { codeOf, readRegularFile } from './regular-file.ts'
import type { WriteFailures } from './write-failures.ts'

/** What all account files of a folder share. */
export interface FileAccess {
  settings: Pick<Settings, 'nameComparison'>
  durability: Durability
  lock: LockedFolder
  /** Path of each file that was read or written → the identity that shows whether another process has written it. */
  known: Map<string, string>
  failures: WriteFailures
  semaphore: Semaphore
}

/** In bytes, the largest file of an account: half of the longest JavaScript string, for two million domains. */
const LARGEST_FILE = 256 * 2 ** 20

const TOO_LARGE = `more than ${LARGEST_FILE / 2 ** 20} MiB, which is the most that an account may have`

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
    const content = this.#readText()
    if (content === undefined) return null
    this.#access.failures.succeeded(this.#path, true)
    const { account, quotas, tallies, requests, use } = await readAccountFile(this.#path, content)
    return {
      state: decodeAccount(account, this.#access.settings),
      quotas: PersistentMap.of(Object.entries(quotas)),
      tallies: PersistentMap.of(Object.entries(tallies)),
      requests,
      ...(use && { use }),
    }
  }

  async write(data: AccountData): Promise<void> {
    // Serialized before it waits for the semaphore, because the data may change in the meantime.
    const content = await runInTurns(writeAccountFile(data, this.#written))
    // A character has at most three bytes, so only long texts have to be measured.
    if (content.length > LARGEST_FILE / 3 && Buffer.byteLength(content) > LARGEST_FILE) {
      const message = `${this.#path} cannot be written (it would have ${TOO_LARGE})`
      throw new StoreError('unusable', message, { cause: Object.assign(new Error(TOO_LARGE), { code: 'EFBIG' }) })
    }
    const { known, durability, lock } = this.#access
    await this.#change('written', async () => {
      known.set(this.#path, await replaceFile(this.#path, content, durability, () => lock.confirm()))
    })
  }

  async remove(): Promise<void> {
    const { known, durability } = this.#access
    await this.#change('removed', async () => {
      await removeFile(this.#path, durability)
      known.delete(this.#path)
    })
  }

  #readText(): string | undefined {
    const read = (() => {
      try {
        return readRegularFile(this.#path, LARGEST_FILE)
      } catch (cause) {
        if (codeOf(cause) === 'ENOENT') return undefined
        throw this.#unusable('read', cause)
      }
    })()
    if (read === 'irregular') throw damagedFile(this.#path, 'is not a regular file')
    if (read === 'large') throw damagedFile(this.#path, `has ${TOO_LARGE}`)
    if (read !== undefined) this.#access.known.set(this.#path, read.identity)
    return read && decodeText(read.content, (reason) => damagedFile(this.#path, reason))
  }

  async #change(verb: 'written' | 'removed', change: () => Promise<void>): Promise<void> {
    const { semaphore, lock, failures } = this.#access
    try {
      await semaphore.run(async () => {
        await lock.renew()
        await change()
        // A process that takes the lock after this reads what was written. An earlier one may have read less.
        lock.confirm()
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
