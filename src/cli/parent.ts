import { readFileSync } from 'node:fs'
import { clearInterval, setInterval } from '../ground/timers.ts'
import { askPs, readParent } from '../trials/processes.ts'

/** How often the program checks that its parent is alive, in milliseconds. */
const INTERVAL = 200
/** Programs that only start another program and wait for it: a shell with one command, and package runners. */
const WRAPPER = /^(\S*\/)?((ba|da|z|k|a)?sh\s+-\w*c\s|(npm|npx|pnpm|yarn|bunx?)\b|node\s+\S*(npm|npx|pnpm|yarn)\S*\s)/
/** The longest chain of wrappers that is followed. */
const WRAPPERS = 6

interface Process {
  parent: number
  /** The command line, with spaces between the words. */
  command: string
}

/**
 * Resolves when the program that started this one has ended for any reason. Processes of `npx` may stand between the
 * two. A signal to `npx` ends these processes but not this one. A SIGKILL ends only `npx` itself. So each process of
 * the chain is watched, up to the program that called `npx`.
 */
export function untilParentEnded(): Promise<void> {
  const links = chainOf(process.pid, process.ppid)
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (links.every(isIntact)) return
      clearInterval(timer)
      resolve()
    }, INTERVAL)
    // The timer must not keep the program running.
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

/** A child gets another parent when its parent ends. If its parent is unknown, the old parent must still exist. */
function isIntact({ child, parent }: Link): boolean {
  const now = child === process.pid ? process.ppid : readParent(child)
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

/** Reads /proc if it exists, and `ps` if not. `ps` is slow and runs only at the start. */
function readProcess(pid: number): Process | undefined {
  const parent = readParent(pid)
  try {
    if (parent !== undefined) {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return { parent, command }
    }
    const [, found, command = ''] = /^\s*(\d+)\s+(.*)$/s.exec(askPs(['-o', 'ppid=,command=', '-p', `${pid}`])) ?? []
    return found === undefined ? undefined : { parent: Number(found), command }
  } catch {
    return undefined
  }
}
