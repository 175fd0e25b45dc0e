import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { dirname, join } from 'node:path'
import { readJson } from '../../ground/json.ts'
import { clearInterval, pause, readTime, setInterval } from '../../ground/timers.ts'
import { StoreError } from '../store-error.ts'

/** In milliseconds: how often the holder renews its lock, and when a lock without renewal is dead. */
const RENEWAL = 2_000
const PATIENCE = 10_000
/** In milliseconds, how often a start looks whether the lock of another machine or container is renewed. */
const LOOK = 1_000
const OURS = JSON.stringify({ pid: process.pid, host: hostname() })

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
  const { repeat = repeatQuietly } = options
  const realPath = realpathSync(folder)
  if (lockedHere.has(realPath)) throw new StoreError('locked', `${folder} is open in this process already`)
  const path = join(folder, '.lock')
  lockedHere.add(realPath)
  try {
    await takeLock(path, options)
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

/** Writes over the lock what it has, so that the file system gives it a new time. */
function renewLock(path: string): void {
  try {
    if (readLock(path) === OURS) writeFileSync(path, OURS, { flag: 'r+' })
  } catch {
    // The folder cannot be written to. The next write tells the user.
  }
}

async function takeLock(path: string, { warn, pause: wait = pause }: LockOptions): Promise<void> {
  if (createLock(path)) return
  const found = readLock(path)
  const time = timeOf(path)
  const state = stateOf(found, time)
  const holder = nameHolder(found)
  const folder = dirname(path)
  const remedy = `stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`
  const refusal = new StoreError('locked', `${folder} is in use by ${holder}: ${remedy}`)
  if (state === 'unseen') {
    const waits = `the start waits up to ${PATIENCE / 1000} seconds, and goes on if the lock is not renewed`
    warn?.(`${folder} is locked by ${holder}, which may have ended: ${waits}.`)
    for (let waited = 0; waited < PATIENCE && timeOf(path) === time; waited += LOOK) await wait(LOOK)
    if (timeOf(path) !== time) throw refusal
  } else if (state === 'runs') throw refusal
  // Of two that take it over, one finds it gone, or has taken the new lock of the other, and gives that back.
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
    if (readLock(aside) !== found) {
      renameSync(aside, path)
      throw refusal
    }
    rmSync(aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  if (!createLock(path)) throw refusal
  warn?.(`The lock of ${folder} is taken over from ${holder}, which has left it behind.`)
}

/** Returns false if the file exists already. */
function createLock(path: string): boolean {
  try {
    writeFileSync(path, OURS, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** The content of the lock; `undefined` if there is none. */
function readLock(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false }) && readFileSync(path, 'utf8')
}

/** `undefined` if the process was killed before it wrote its name. */
function holderIn(lock = ''): { pid: number; host: string } | undefined {
  const { pid, host } = (readJson(lock) ?? {}) as { pid?: unknown; host?: unknown }
  // Zero and negative numbers name groups of processes.
  return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof host === 'string'
    ? { pid: Number(pid), host }
    : undefined
}

/** What can be seen of the process that holds a lock, which was renewed at that time. */
function stateOf(lock: string | undefined, time: number): 'runs' | 'ended' | 'unseen' {
  const holder = holderIn(lock)
  if (holder?.host !== hostname()) return 'unseen'
  // A container that is started again has the same name, and its process the same pid.
  if (holder.pid === process.pid) return 'ended'
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    // Any other error means that the process runs, but that this process may not signal it.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'ended'
  }
  // Since the machine was started, another program may have got the pid.
  return time < readTime() - uptime() * 1000 ? 'unseen' : 'runs'
}

function nameHolder(lock: string | undefined): string {
  const holder = holderIn(lock)
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
}
