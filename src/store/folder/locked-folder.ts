import { stat } from 'node:fs/promises'
import { StoreError } from '../store-error.ts'
import { type FolderLock, type LockOptions, lockFolder } from './folder-lock.ts'

/** A folder that this process has locked. It is locked again after it was replaced, or its lock was removed. */
export class LockedFolder {
  readonly #folder: string
  readonly #onReplaced: () => void
  #lock: FolderLock
  #relocking: Promise<void> | undefined

  private constructor(folder: string, onReplaced: () => void, lock: FolderLock) {
    this.#folder = folder
    this.#onReplaced = onReplaced
    this.#lock = lock
  }

  /**
   * `onReplaced` is called when the folder may be another one, or when another process may have used it without the
   * lock. It throws if the folder must not be written to. @throws StoreError
   */
  static async open(folder: string, onReplaced: () => void, options: LockOptions): Promise<LockedFolder> {
    return new LockedFolder(folder, onReplaced, await lockFolder(folder, { waits: true, ...options }))
  }

  /** Call it before each change. It rejects while the folder is missing, or locked by another process. */
  async renew(): Promise<void> {
    if (await this.#lock.isKept()) return
    this.#relocking ??= this.#relock().finally(() => {
      this.#relocking = undefined
    })
    await this.#relocking
  }

  /** Call it directly before and after each change. @throws StoreError `locked` if the lock was lost meanwhile */
  confirm(): void {
    if (this.#lock.isInPlace()) return
    throw new StoreError('locked', `the lock of ${this.#folder} was removed or taken over while it was written to`)
  }

  release(): void {
    this.#lock.release()
  }

  async #relock(): Promise<void> {
    // `lockFolder` would make a missing folder, but the user may be about to mount or move another one.
    await stat(this.#folder)
    this.#lock.release()
    // A request waits for this, so another holder is not watched.
    this.#lock = await lockFolder(this.#folder)
    try {
      this.#onReplaced()
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }
}
