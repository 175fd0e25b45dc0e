import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { clearInterval, elapsed, pause, setInterval } from '../../ground/timers.ts'
import { StoreError } from '../store-error.ts'
import { describeHolder, type Holder, ourName, parseHolder, stateOf } from './lock-holder.ts'
import { makeFolder, unusableFolder } from './private-folder.ts'
import { codeOf, placeOf, type ReadFile, readRegularFile, renewFile } from './regular-file.ts'

/** The name of the file that names the process which has locked the folder. */
export const LOCK = '.lock'

/** In bytes, the largest lock file. */
const LARGEST_LOCK = 10_000

/** In milliseconds, how often the holder of a lock must renew it. */
const RENEWAL = 2_000

/**
 * In milliseconds, how long nobody may have renewed the lock of a process that cannot be seen from here before it is
 * dead, and how often to look. A living holder may be busy, or its disk may be slow.
 */
const PATIENCE = 10_000
const LOOK = 1_000
/** In milliseconds, after how long without a renewal this process no longer trusts its own lock. */
const LATE = 5_000

const { O_RDONLY, O_NOFOLLOW = 0 } = constants

/** A lock file with its holder; without one if the holder was killed while it wrote its name. */
interface FoundLock extends ReadFile {
  holder: Holder | undefined
}

export interface LockTimers {
  pause(milliseconds: number): Promise<void>
  /** Repeats the task without keeping the process alive. Returns the function that ends this. */
  repeat(milliseconds: number, task: () => unknown): () => void
}

const TIMERS: LockTimers = {
  pause,
  repeat(milliseconds, task) {
    const timer = setInterval(task, milliseconds).unref()
    return () => clearInterval(timer)
  },
}

interface Taking {
  /** Whether to wait for the renewal of a lock whose holder cannot be seen. If not, the holder counts as running. */
  waits: boolean
  /** Called with one sentence when the lock of another process makes the caller wait, and when it is taken over. */
  warn(message: string): void
  timers: LockTimers
}

export type LockOptions = Partial<Taking>

/** The real paths of the folders that this process has locked: the pid alone cannot detect a second opening. */
const lockedHere = new Set<string>()

/** The lock of a folder, which this process holds and renews until it lets go of it. */
export class FolderLock {
  readonly #path: string
  readonly #realPath: string
  /** The file stays open, so that no other file gets its inode. */
  readonly #file: number
  readonly #place: string
  readonly #stopRenewing: () => void
  #renewedAt = elapsed()
  #renewing: Promise<void> | undefined
  #isLost = false
  #isReleased = false

  constructor(path: string, realPath: string, timers: LockTimers) {
    this.#path = path
    this.#realPath = realPath
    this.#file = openSync(path, O_RDONLY | O_NOFOLLOW)
    this.#place = placeOf(fstatSync(this.#file))
    // A process that was suspended for long while it took the lock may have lost it again.
    if (readFileSync(this.#file, 'utf8') !== ourName()) {
      closeSync(this.#file)
      throw new StoreError('locked', `${dirname(path)} was just taken by another process`)
    }
    this.#stopRenewing = timers.repeat(RENEWAL, () => this.#renew())
  }

  /** Resolves to false if the lock was removed or taken over. */
  async isKept(): Promise<boolean> {
    // The process was suspended. A network file system may still show the former lock where it is not opened.
    if (elapsed() - this.#renewedAt > LATE) await this.#renew()
    if (this.#isLost) return false
    const found = await stat(this.#path).catch((error) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    return found !== undefined && placeOf(found) === this.#place
  }

  /** The same at once, after a look at the disk. */
  isInPlace(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    return !this.#isLost && found !== undefined && placeOf(found) === this.#place
  }

  release(): void {
    // On a second call, another process may have the lock.
    if (this.#isReleased) return
    this.#isReleased = true
    this.#isLost = true
    this.#stopRenewing()
    closeSync(this.#file)
    lockedHere.delete(this.#realPath)
    if (isOurs(this.#path)) rmSync(this.#path)
  }

  /** The others read only whether the time of the file changes. So no two clocks need agree. */
  #renew(): Promise<void> {
    this.#renewing ??= renewFile(this.#path, ourName())
      .then(
        (isOurs) => {
          if (isOurs) this.#renewedAt = elapsed()
          else this.#isLost = true
        },
        // The folder is gone or cannot be written to. The next write tells the user.
        () => {},
      )
      .finally(() => {
        this.#renewing = undefined
      })
    return this.#renewing
  }
}

/**
 * Makes the folder if it is missing, and locks it. A dead lock is replaced: its process has ended, or cannot be seen from
 * here and did not renew it for a while. A process cannot be seen if it runs on another machine or in another container,
 * whatever their names are.
 */
export async function lockFolder(
  folder: string,
  { waits = false, warn = () => {}, timers = TIMERS }: LockOptions = {},
): Promise<FolderLock> {
  const { realPath } = makeFolder(folder)
  if (lockedHere.has(realPath)) throw new StoreError('locked', `${folder} is open in this process already`)
  lockedHere.add(realPath)
  const path = join(folder, LOCK)
  try {
    await takeLock(path, { waits, warn, timers })
    return new FolderLock(path, realPath, timers)
  } catch (error) {
    lockedHere.delete(realPath)
    throw error instanceof StoreError ? error : unusableFolder(folder, error)
  }
}

function isOurs(path: string): boolean {
  return readLock(path)?.content.toString() === ourName()
}

async function takeLock(path: string, options: Taking): Promise<void> {
  while (!createLock(path)) {
    const dead = await findDeadLock(path, options)
    if (dead !== undefined && (await replaceDeadLock(path, dead, options))) {
      options.warn(
        `The lock of ${dirname(path)} is taken over from ${describeHolder(dead.holder)}, which has left it behind.`,
      )
      break
    }
  }
}

/**
 * Only one process at a time does this. If two processes found the same dead lock, the slower one would replace the new
 * lock of the faster one. The file that excludes the slower process becomes the new lock, so that a lock always exists.
 */
async function replaceDeadLock(path: string, dead: FoundLock, options: Taking): Promise<boolean> {
  const successor = `${path}.next`
  if (!createLock(successor)) {
    const left = await findDeadLock(successor, options)
    if (left !== undefined && isUnchanged(successor, left)) rmSync(successor, { force: true })
    return false
  }
  try {
    const isDead = isUnchanged(path, dead) && isOurs(successor)
    if (isDead) renameSync(successor, path)
    return isDead
  } finally {
    if (isOurs(successor)) rmSync(successor)
  }
}

/** Resolves to the lock if it is dead, and to nothing if there is none now. @throws StoreError `locked` if it is alive */
async function findDeadLock(path: string, { waits, warn, timers }: Taking): Promise<FoundLock | undefined> {
  const lock = readLock(path)
  if (lock === undefined) return undefined
  const state = stateOf(lock.holder)
  if (state === 'ended') return lock
  if (state === 'runs' || !waits) throw heldBy(path, lock)
  warn(
    `${dirname(path)} is locked by ${describeHolder(lock.holder)}, which cannot be seen from here: the start waits up to ${PATIENCE / 1000} seconds, and goes on if the lock is not renewed.`,
  )
  for (let waited = 0; waited < PATIENCE; waited += LOOK) {
    await timers.pause(LOOK)
    if (isUnchanged(path, lock)) continue
    const now = readLock(path)
    if (now === undefined) return undefined
    throw heldBy(path, now)
  }
  return lock
}

function isUnchanged(path: string, lock: FoundLock): boolean {
  return readLock(path)?.identity === lock.identity
}

function heldBy(path: string, lock: FoundLock): StoreError {
  const advice = `stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`
  return new StoreError('locked', `${dirname(path)} is in use by ${describeHolder(lock.holder)}: ${advice}`)
}

/** Returns false if the file exists already. */
function createLock(path: string): boolean {
  try {
    writeFileSync(path, ourName(), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    // Reading a pipe would never end. A dangling link can be neither read nor replaced by a file.
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined && !found.isFile()) {
      throw new StoreError('unusable', `${path} is not a regular file; remove it or choose another folder`)
    }
    return false
  }
}

/** The file is opened each time: a network file system may answer from its memory what is asked without that. */
function readLock(path: string): FoundLock | undefined {
  try {
    const read = readRegularFile(path, LARGEST_LOCK)
    if (typeof read === 'string') throw new StoreError('unusable', `${path} is not a lock; remove it`)
    return { ...read, holder: parseHolder(read.content.toString()) }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
