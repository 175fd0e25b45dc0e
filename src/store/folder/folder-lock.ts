import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { clearInterval, pause, setInterval } from '../../ground/timers.ts'
import { StoreError } from '../store-error.ts'
import { codeOf } from './file-adapter.ts'

/** In milliseconds: how often the holder renews its lock, and when a lock without renewal is dead. */
const RENEWAL = 2_000
const PATIENCE = 10_000
/** In milliseconds, how often a start looks whether the lock of another machine or container is renewed. */
const LOOK = 1_000

export interface LockOptions {
  /** Called with one sentence when the lock of another process makes the start wait, and when it is taken over. */
  warn?: ((message: string) => void) | undefined
  /** Repeats the task without keeping the process alive. Returns the function that ends this. */
  repeat?: (milliseconds: number, task: () => void) => () => void
  pause?: (milliseconds: number) => Promise<void>
}

/** The real paths of the folders that this process has locked: the pid alone cannot detect a second opening. */
const lockedHere = new Set<string>()

/**
 * Locks a folder for this process. A dead lock is taken over: its process has ended, or it belongs to another machine or
 * container and is not renewed while the start waits. Resolves to the function that releases the lock.
 * @throws StoreError
 */
export async function lockFolder(folder: string, options: LockOptions = {}): Promise<() => void> {
  const { warn, repeat = repeatQuietly, pause: wait = pause } = options
  const realPath = realpathSync(folder)
  if (lockedHere.has(realPath)) throw new StoreError('locked', `${folder} is open in this process already`)
  const path = join(folder, '.lock')
  lockedHere.add(realPath)
  try {
    await awaitRenewal(path, wait, warn)
    const former = takeLock(path)
    if (former !== undefined) {
      warn?.(`The lock of ${folder} is taken over from ${nameHolder(former)}, which has left it behind.`)
    }
  } catch (error) {
    lockedHere.delete(realPath)
    throw error
  }
  const stop = repeat(RENEWAL, () => renewLock(path))
  let isHeld = true
  return () => {
    // On a second call, another store may have the lock.
    if (!isHeld) return
    isHeld = false
    lockedHere.delete(realPath)
    stop()
    if (readLock(path) === OURS) rmSync(path, { force: true })
  }
}

function repeatQuietly(milliseconds: number, task: () => void): () => void {
  const timer = setInterval(task, milliseconds).unref()
  return () => clearInterval(timer)
}

/** Waits until the lock of a process that cannot be seen from here is renewed, or has not been for a while. */
async function awaitRenewal(
  path: string,
  wait: NonNullable<LockOptions['pause']>,
  warn: LockOptions['warn'],
): Promise<void> {
  const found = readLock(path)
  if (found === undefined || stateOf(found) !== 'unseen') return
  warn?.(
    `${dirname(path)} is locked by ${nameHolder(found)}, which cannot be seen from here: the start waits up to ${PATIENCE / 1000} seconds, and goes on if the lock is not renewed.`,
  )
  const time = timeOf(path)
  for (let waited = 0; waited < PATIENCE && timeOf(path) === time; waited += LOOK) await wait(LOOK)
}

/** Writes over the lock what it has, so that the file system gives it a new time. */
function renewLock(path: string): void {
  try {
    if (readLock(path) === OURS) writeFileSync(path, OURS, { flag: 'r+' })
  } catch {
    // The folder is gone or cannot be written to. The next write tells the user.
  }
}

/** Returns the content of a dead lock that was replaced. @throws StoreError `locked` if the lock is alive */
function takeLock(path: string): string | undefined {
  if (createLock(path)) return undefined
  const found = readLock(path)
  const state = stateOf(found)
  if (state === 'runs') throw heldBy(path, found)
  // Only one process at a time does this: otherwise the slower one of two would replace the new lock of the faster one.
  const successor = `${path}.next`
  takeLock(successor)
  // Both times come from the file system, so no two clocks need agree.
  const age = timeOf(successor) - timeOf(path)
  if (readLock(path) !== found || (state === 'unseen' && age < PATIENCE)) {
    rmSync(successor)
    throw heldBy(path, readLock(path))
  }
  renameSync(successor, path)
  return found
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Returns false if the file exists already. */
function createLock(path: string): boolean {
  try {
    writeFileSync(path, OURS, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

interface Holder {
  pid: number
  host: string
}

const OURS = JSON.stringify({ pid: process.pid, host: hostname() } satisfies Holder)

/** The content of the lock; `undefined` if there is none. */
function readLock(path: string): string | undefined {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false })
    // Reading a pipe would never end. A dangling link can be neither read nor replaced by a file.
    if (status?.isFile() === false) {
      throw new StoreError('unusable', `${path} is not a regular file; remove it or choose another folder`)
    }
    return status && readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** `undefined` if the process was killed before it wrote its name. */
function holderIn(lock: string | undefined): Holder | undefined {
  try {
    const holder = JSON.parse(lock ?? '')
    // Zero and negative numbers name groups of processes.
    return Number.isSafeInteger(holder.pid) && holder.pid > 0 && typeof holder.host === 'string' ? holder : undefined
  } catch {
    return undefined
  }
}

/** What can be seen of the process that holds a lock. */
function stateOf(lock: string | undefined): 'runs' | 'ended' | 'unseen' {
  const holder = holderIn(lock)
  if (holder?.host !== hostname()) return 'unseen'
  // A container that is started again has the same name, and its process the same pid.
  if (holder.pid === process.pid) return 'ended'
  try {
    process.kill(holder.pid, 0)
    return 'runs'
  } catch (error) {
    // Any other error means that the process runs, but that this process may not signal it.
    return codeOf(error) === 'ESRCH' ? 'ended' : 'runs'
  }
}

function heldBy(path: string, lock: string | undefined): StoreError {
  const advice = `stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`
  return new StoreError('locked', `${dirname(path)} is in use by ${nameHolder(lock)}: ${advice}`)
}

function nameHolder(lock: string | undefined): string {
  const holder = holderIn(lock)
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
}
