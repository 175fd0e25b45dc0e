import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './error-code.ts'
import { LOCK, lockFolder } from './folder-lock.ts'

/** A folder that is ours alone, and stays so when somebody deletes it, replaces it or removes the lock. */
export class FolderHold {
  readonly #folder: string
  readonly #replaced: () => void
  #release: () => void
  #lock: string
  #retaking: Promise<void> | undefined

  private constructor(folder: string, replaced: () => void, release: () => void, lock: string) {
    this.#folder = folder
    this.#replaced = replaced
    this.#release = release
    this.#lock = lock
  }

  /** `replaced` is called when the folder is perhaps another one, in which nothing is. @throws StoreError */
  static async take(folder: string, replaced: () => void): Promise<FolderHold> {
    const release = await lockFolder(folder)
    return new FolderHold(folder, replaced, release, await identify(folder))
  }

  /** To be called before each change. Rejects while the folder is not there, or is another process's. */
  async renew(): Promise<void> {
    const lock = await identify(this.#folder).catch((error) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (lock === this.#lock) return
    this.#retaking ??= this.#retake().finally(() => {
      this.#retaking = undefined
    })
    await this.#retaking
  }

  release(): void {
    this.#release()
  }

  async #retake(): Promise<void> {
    // Locking makes a folder that is missing; but whoever deleted this one may be about to mount or move another.
    await stat(this.#folder)
    this.#release()
    this.#release = await lockFolder(this.#folder)
    this.#lock = await identify(this.#folder)
    this.#replaced()
  }
}

/** What tells one lock from another; it is written once and never again. */
async function identify(folder: string): Promise<string> {
  const { dev, ino, mtimeMs } = await stat(join(folder, LOCK))
  return `${dev} ${ino} ${mtimeMs}`
}
