import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from './regular-file.ts'

/** The process that holds a lock, as the lock names it. */
export interface Holder {
  pid: number
  host: string
  /** Where the pid has a meaning: the boot of a machine and the pids of a container. */
  space?: string
  /** When the process began, if the system tells it. Pids are used again; a pid together with its start is unique. */
  began?: string
}

let name: string | undefined

/** The holder for a message. */
export function describeHolder(holder: Holder | undefined): string {
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
}

/**
 * What this process writes into its locks. It is made once, because later the process may have no file descriptor left for
 * that.
 */
export function ourName(): string {
  if (name === undefined) {
    const began = beginningOf(process.pid)
    name = JSON.stringify({
      ...{ pid: process.pid, host: hostname(), space: ourSpace() },
      ...(began !== undefined && { began }),
      // Another thread or another copy of this module has everything else in common with this one.
      id: randomUUID(),
    } satisfies Holder & { id: string })
  }
  return name
}

/** The boot of the machine and the pids of the container, if `/proc` tells them; else the name of the machine. */
function ourSpace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** The start of the process in clock ticks, if `/proc` tells it; `undefined` if it does not run. */
function beginningOf(pid: number): string | undefined {
  try {
    // The command's name stands in parentheses and may contain any character. So the fields are counted after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    // A killed process stays until its parent collects it, which some never do.
    return fields?.[0] === 'Z' ? undefined : fields?.[19]
  } catch {
    return undefined
  }
}

/** The holder that a lock names; `undefined` if it names none. */
export function parseHolder(content: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(content)
    return isHolder(holder) ? holder : undefined
  } catch {
    return undefined
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('host' in value)) return false
  if ('space' in value && typeof value.space !== 'string') return false
  if ('began' in value && typeof value.began !== 'string') return false
  // Zero and negative numbers name groups of processes.
  return Number.isSafeInteger(value.pid) && Number(value.pid) > 0 && typeof value.host === 'string'
}

/** What can be seen of the process that holds a lock. */
export function stateOf(holder: Holder | undefined): 'runs' | 'ended' | 'unseen' {
  if (holder === undefined || holder.space !== ourSpace()) return 'unseen'
  const { pid, began } = holder
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Any other error means that the process runs, but that this process may not signal it.
    if (codeOf(error) === 'ESRCH') return 'ended'
  }
  const present = beginningOf(pid)
  if (began === undefined || present === undefined) return 'unseen'
  return began === present ? 'runs' : 'ended'
}
