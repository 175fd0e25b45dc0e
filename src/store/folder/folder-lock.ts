import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { codeOf } from './error-code.ts'

/** The name of the file that says who has the folder. */
export const LOCK = '.lock'

/** How long, in milliseconds, a process that has created its lock may take to write its name into it. */
const WRITING = 100

interface Holder {
  pid: number
  host: string
  /** When the process began, by the count of its system, where that tells: a pid is given again, that moment is not. */
  began?: string
}

/** The folders that this process has locked, by their real paths: its pid alone cannot tell a second opening. */
const lockedHere = new Set<string>()
let name: string | undefined

/**
 * Makes the folder when it is missing, and keeps other processes out until the function that it resolves to is
 * called. A lock is dead, and replaced, when its process no longer runs on this host, even if another one has its pid
 * by now, or we have, as in a container that was started again; and when it names nobody, because its writer died at
 * that. A process on another host cannot be asked and counts as running.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const realFolder = makeFolder(folder)
  if (lockedHere.has(realFolder)) throw new StoreError('locked', `${folder} is open in this process already`)
  lockedHere.add(realFolder)
  const path = join(folder, LOCK)
  try {
    await takeLock(path)
  } catch (error) {
    lockedHere.delete(realFolder)
    throw error instanceof StoreError ? error : unusable(folder, error)
  }
  let released = false
  return () => {
    // By a second time another may have it.
    if (released) return
    released = true
    lockedHere.delete(realFolder)
    if (isOurs(path)) rmSync(path)
  }
}

async function takeLock(path: string): Promise<void> {
  while (!createLock(path)) {
    await refuseIfHeld(path)
    if (await replaceDeadLock(path)) break
  }
  // Whoever wrote its name so slowly that it was taken for dead finds another's here.
  if (!isOurs(path)) throw new StoreError('locked', `${dirname(path)} was just taken by another process`)
}

/**
 * By one process at a time: of two that found the same dead lock, the slower would replace the new lock of the
 * faster. The file that keeps the slower one out becomes the lock, so that there always is one.
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

/** Resolves to whether there is a lock at all. */
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
  const advice = `stop it, choose another folder, or remove ${path} if that process is no dmarc-understudy`
  throw new StoreError('locked', `${dirname(path)} is in use by ${user}: ${advice}`)
}

/** Whether there was none before. */
function createLock(path: string): boolean {
  try {
    writeFileSync(path, ourName(), { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    // To read a pipe would take for ever, and a link to nowhere is neither there nor can it be made.
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined && !found.isFile()) {
      throw new StoreError('unusable', `${path} is no ordinary file; remove it or choose another folder`)
    }
    return false
  }
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function isOurs(path: string): boolean {
  return readLock(path) === ourName()
}

/** The same always, also when there is no file descriptor left to ask the system with. */
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

/** Where `/proc` tells: the boot of the machine and the ticks from then on; of any process that runs, and no other. */
function beginningOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The command's name stands in brackets and may hold anything, so fields are counted from behind it.
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
  // Zero and negative numbers would ask about groups of processes.
  if ('began' in value && typeof value.began !== 'string') return false
  return Number.isSafeInteger(value.pid) && Number(value.pid) > 0 && typeof value.host === 'string'
}

function isRunning({ pid, host, began }: Holder): boolean {
  if (host !== hostname()) return true
  // Another thread, or another copy of this module, may have locked it; a process that had our pid before us has not.
  if (pid === process.pid) return began !== undefined && began === beginningOf(pid)
  try {
    process.kill(pid, 0)
    return began === undefined || began === (beginningOf(pid) ?? began)
  } catch (error) {
    // Any other refusal means that it runs, but is not ours to signal.
    return codeOf(error) !== 'ESRCH'
  }
}

function makeFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true })
    return realpathSync(folder)
  } catch (error) {
    throw unusable(folder, error)
  }
}

function unusable(folder: string, cause: unknown): StoreError {
  const code = codeOf(cause)
  const problem = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `cannot be written to (${code})`
  return new StoreError('unusable', `${folder} ${problem}`, { cause })
}
