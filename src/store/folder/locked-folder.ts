import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './error-code.ts'
import { LOCK, lockFolder } from './folder-lock.ts'

/**
 * A folder that this process has locked. It takes the lock again when somebody deletes the folder, replaces it or
 * removes the lock.
 */
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

  /** `onReplaced` is called when the folder may be another one, which is empty. @throws StoreError */
  static async open(folder: string, onReplaced: () => void): Promise<LockedFolder> {
    const release = await lockFolder(folder)
    return new LockedFolder(folder, onReplaced, release, await identify(folder))
  }

  /** Call it before each change. It rejects while the folder is missing, or locked by another process. */
  async renew(): Promise<void> {
    const lock = await identify(this.#folder).catch((error) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (lock === this.#lock) return
    this.#relocking ??= this.#relock().finally(() => {
      this.#relocking = undefined
    })
    await this.#relocking
  }

  release(): void {
    this.#release()
  }

  async #relock(): Promise<void> {
    // `lockFolder` would make a missing folder; but whoever deleted this one may be about to mount or move another.
    await stat(this.#folder)
    this.#release()
    this.#release = await lockFolder(this.#folder)
    this.#lock = await identify(this.#folder)
    this.#onReplaced()
  }
}

/** Tells one lock file from another: it is written once and never changed. */
async function identify(folder: string): Promise<string> {
  const { dev, ino, mtimeMs } = await stat(join(folder, LOCK))
  return `${dev} ${ino} ${mtimeMs}`
}
