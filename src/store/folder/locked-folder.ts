import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreError } from '../store-error.ts'
import { LOCK, lockFolder } from './folder-lock.ts'
import { codeOf, identityOf } from './regular-file.ts'

/** A folder that this process has locked. It is locked again after it was replaced, or its lock was removed. */
export class LockedFolder {
  readonly #folder: string
  readonly #onReplaced: () => void
  #release: () => void
  /** Identifies our lock file. */
  #lock: string
  #relocking: Promise<void> | undefined

  private constructor(folder: string, onReplaced: () => void, release: () => void, lock: string) {
    this.#folder = folder
    this.#onReplaced = onReplaced
    this.#release = release
    this.#lock = lock
  }

  /**
   * `onReplaced` is called when the folder may be another one, or when another process may have used it without the
   * lock. It throws if the folder must not be written to. @throws StoreError
   */
  static async open(folder: string, onReplaced: () => void): Promise<LockedFolder> {
    const release = await lockFolder(folder)
    return new LockedFolder(folder, onReplaced, release, identityOf(await stat(join(folder, LOCK))))
  }

  /** Call it before each change. It rejects while the folder is missing, or locked by another process. */
  async renew(): Promise<void> {
    const lock = await stat(join(this.#folder, LOCK)).catch((error) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (lock !== undefined && identityOf(lock) === this.#lock) return
    this.#relocking ??= this.#relock().finally(() => {
      this.#relocking = undefined
    })
    await this.#relocking
  }

  /** Call it after each change. @throws StoreError `locked` if the lock was removed meanwhile */
  confirm(): void {
    const lock = statSync(join(this.#folder, LOCK), { throwIfNoEntry: false })
    if (lock !== undefined && identityOf(lock) === this.#lock) return
    throw new StoreError('locked', `the lock of ${this.#folder} was removed while it was written to`)
  }

  release(): void {
    this.#release()
  }

  async #relock(): Promise<void> {
    // `lockFolder` would make a missing folder, but the user may be about to mount or move another one.
    await stat(this.#folder)
    this.#release()
    this.#release = await lockFolder(this.#folder)
    try {
      this.#lock = identityOf(await stat(join(this.#folder, LOCK)))
      this.#onReplaced()
    } catch (error) {
      this.#release()
      throw error
    }
  }
}
