import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { makeFolder, unusableFolder } from './private-folder.ts'
import { codeOf, readRegularFile } from './regular-file.ts'

/** The name of the file that names the process which has locked the folder. */
export const LOCK = '.lock'

/** In bytes, the largest lock file. */
const LARGEST_LOCK = 10_000

/** In milliseconds, how long a process may take to write its name into a lock file that it has created. */
const WRITING = 100

interface Holder {
  pid: number
  host: string
  /** When the process began, if the system tells it. Pids are used again; a pid together with its start is unique. */
  began?: string
}

/** The real paths of the folders that this process has locked: the pid alone cannot detect a second opening. */
const lockedHere = new Set<string>()
let name: string | undefined

/**
 * Makes the folder if it is missing, and locks it. Resolves to the function that releases the lock. A lock is dead, and
 * is replaced, in these cases: its process no longer runs on this host; another process has its pid now; this process
 * has its pid (as in a restarted container); it names no process, because the writer was killed during the write. A
 * process on another host cannot be checked and counts as running.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const { realPath } = makeFolder(folder)
  if (lockedHere.has(realPath)) throw new StoreError('locked', `${folder} is open in this process already`)
  lockedHere.add(realPath)
  const path = join(folder, LOCK)
  try {
    await takeLock(path)
  } catch (error) {
    lockedHere.delete(realPath)
    throw error instanceof StoreError ? error : unusableFolder(folder, error)
  }
  let released = false
  return () => {
    // On a second call, another process may have the lock.
    if (released) return
    released = true
    lockedHere.delete(realPath)
    if (isOurs(path)) rmSync(path)
  }
}

async function takeLock(path: string): Promise<void> {
  while (!createLock(path)) {
    await refuseIfHeld(path)
    if (await replaceDeadLock(path)) break
  }
  // If this process wrote its name too slowly, another process may have replaced the lock as dead.
  if (!isOurs(path)) throw new StoreError('locked', `${dirname(path)} was just taken by another process`)
}

/**
 * Only one process at a time does this. If two processes found the same dead lock, the slower one would replace the new
 * lock of the faster one. The file that excludes the slower process becomes the new lock, so that a lock always exists.
 */
async function replaceDeadLock(path: string): Promise<boolean> {
  const successor = `${path}.next`
  if (!createLock(successor)) {
    await refuseIfHeld(successor)
    rmSync(successor, { force: true })
    return false
  }
  try {
    const found = await refuseIfHeld(path)
    if (found && isOurs(successor)) renameSync(successor, path)
    return found
  } finally {
    if (isOurs(successor)) rmSync(successor)
  }
}

/** Resolves to whether there is a lock file. @throws StoreError `locked` if its process runs */
async function refuseIfHeld(path: string): Promise<boolean> {
  let content = readLock(path)
  if (content !== undefined && parseHolder(content) === undefined) {
    await setTimeout(WRITING)
    content = readLock(path)
  }
  if (content === undefined) return false
  const holder = parseHolder(content)
  if (holder === undefined || !isRunning(holder)) return true
  const user = `process ${holder.pid} on ${holder.host}`
  const advice = `stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`
  throw new StoreError('locked', `${dirname(path)} is in use by ${user}: ${advice}`)
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

function readLock(path: string): string | undefined {
  try {
    const read = readRegularFile(path, LARGEST_LOCK)
    return typeof read === 'string' ? '' : read.content.toString()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function isOurs(path: string): boolean {
  return readLock(path) === ourName()
}

/** The name is read once, because later the process may have no file descriptor left for it. */
function ourName(): string {
  if (name === undefined) {
    const began = beginningOf(process.pid)
    name = JSON.stringify({
      pid: process.pid,
      host: hostname(),
      ...(began !== undefined && { began }),
    } satisfies Holder)
  }
  return name
}

/** The boot id and the start of the process in clock ticks, if `/proc` tells them; `undefined` if it does not run. */
function beginningOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The command's name stands in parentheses and may contain any character. So the fields are counted after it.
    const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
    return ticks === undefined ? undefined : `${boot} ${ticks}`
  } catch {
    return undefined
  }
}

function parseHolder(content: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(content)
    return isHolder(holder) ? holder : undefined
  } catch {
    return undefined
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('host' in value)) return false
  // Zero and negative numbers name groups of processes.
  if ('began' in value && typeof value.began !== 'string') return false
  return Number.isSafeInteger(value.pid) && Number(value.pid) > 0 && typeof value.host === 'string'
}

function isRunning({ pid, host, began }: Holder): boolean {
  if (host !== hostname()) return true
  // Another thread, or another copy of this module, may hold the lock. An earlier process with this pid does not.
  if (pid === process.pid) return began !== undefined && began === beginningOf(pid)
  try {
    process.kill(pid, 0)
    return began === undefined || began === (beginningOf(pid) ?? began)
  } catch (error) {
    // Any other error means that the process runs, but that this process may not signal it.
    return codeOf(error) !== 'ESRCH'
  }
}
