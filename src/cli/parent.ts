import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** How often is looked whether the parent is still there, in milliseconds. */
const INTERVAL = 200
/** Programs that only start another one and wait for it: a shell with one command, and the runners of packages. */
const WRAPPER = /^(\S*\/)?((ba|da|z|k|a)?sh\s+-\w*c\s|(npm|npx|pnpm|yarn|bunx?)\b|node\s+\S*(npm|npx|pnpm|yarn)\S*\s)/
/** No chain of wrappers is longer. */
const WRAPPERS = 6

interface Process {
  parent: number
  /** Its command line, words separated by spaces. */
  command: string
}

/**
 * Resolves when the program that started this one has ended, however it ended. Between the two may be the processes of
 * `npx`: a signal to `npx` ends these and not this one, and a SIGKILL ends only `npx` itself. So each of them is
 * watched, up to the program that called `npx`.
 */
export function untilParentEnded(): Promise<void> {
  const links = chainOf(process.pid, process.ppid)
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (links.every(isIntact)) return
      clearInterval(timer)
      resolve()
    }, INTERVAL)
    // A program that has nothing else to do ends without it.
    timer.unref()
  })
}

interface Link {
  child: number
  parent: number
}

/** This process and its parent; if the parent is a wrapper, the wrapper and its parent, and so on. */
function chainOf(child: number, parent: number): Link[] {
  const links: Link[] = [{ child, parent }]
  for (let known = readProcess(parent); known !== undefined && WRAPPER.test(known.command); ) {
    const last = links.at(-1) as Link
    if (links.length > WRAPPERS || known.parent <= 1) break
    links.push({ child: last.parent, parent: known.parent })
    known = readProcess(known.parent)
  }
  return links
}

/** A child whose parent has ended gets another one; where that cannot be seen, the parent must still exist. */
function isIntact({ child, parent }: Link): boolean {
  const now = child === process.pid ? process.ppid : readStat(child)
  return (now === undefined || now === parent) && isAlive(parent)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** From /proc where there is one, else from `ps`, which is slow and asked only at the start. */
function readProcess(pid: number): Process | undefined {
  const parent = readStat(pid)
  try {
    if (parent !== undefined) {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return { parent, command }
    }
    const words = ['-o', 'ppid=,command=', '-p', `${pid}`]
    const listed = execFileSync('ps', words, { encoding: 'utf8', timeout: 1000, stdio: ['ignore', 'pipe', 'ignore'] })
    const [, found, command = ''] = /^\s*(\d+)\s+(.*)$/s.exec(listed) ?? []
    return found === undefined ? undefined : { parent: Number(found), command }
  } catch {
    return undefined
  }
}

/** The parent of a process by /proc; `undefined` where there is no /proc, and of a process that has ended. */
function readStat(pid: number): number | undefined {
  try {
    // The name of the program stands in parentheses and may hold spaces and parentheses itself.
    const [, state, parent] = /^.*\)\s+(\S)\s+(\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return state === undefined ? undefined : Number(parent)
  } catch {
    return undefined
  }
}
