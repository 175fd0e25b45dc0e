import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process as the system lists it. A process that has ended and waits for its parent is not listed. */
export interface ProcessFacts {
  pid: number
  parent: number
  /** When it began, in a unit of the system's own: with the pid, it tells a process from all others there ever were. */
  start: string
  /** Its name, for a person. */
  name: string
}

/** Lists the processes of the machine. */
export interface ProcessList {
  /** In milliseconds: how often it may be read without being felt. */
  readonly interval: number
  /** The ids of all, if to list them costs little. */
  ids(): readonly number[]
  /** Those that are known may be left out. */
  read(isKnown: (pid: number) => boolean): ProcessFacts[]
  find(pid: number): ProcessFacts | undefined
  /** Those whose environment, as it was when they began, contains the text. Those that are known may be left out. */
  carrying(text: string, isKnown: (pid: number) => boolean): ProcessFacts[]
  /** Names the process that was started last, if it can be known. */
  latest(): string | undefined
}

/** How often is looked again because a process was started meanwhile. On a busy machine, that is always so. */
const LOOKS = 4

/**
 * All processes that one process has started, they and theirs, whatever they have done to be on their own. No package
 * finds them: those that end a tree of processes follow the parents that are alive, but who loses its parent gets another
 * one (init), and Node.js cannot be that one. So the descendants are found in two ways: by their parents, looked at now and
 * then as long as these are alive, and by a text in the environment that nothing else has. Only who leaves its parent
 * within moments and also clears its environment is not found.
 */
export class Descendants {
  readonly #mark: string
  readonly #list: ProcessList
  /** By pid. Who has ended stays, because its children may live. */
  readonly #ours = new Map<number, ProcessFacts>()
  /** Those that were there before the first of ours, so that they are others. */
  readonly #before: Set<number>
  /** Those that `look` has looked at. */
  readonly #seen = new Set<number>()

  /** `mark` is in the environment of the process, and in no other's; `before` are the ids of those that were there. */
  constructor(pid: number, mark: string, before: readonly number[], list: ProcessList = openProcessList()) {
    this.#mark = mark
    this.#list = list
    this.#before = new Set(before)
    const root = list.find(pid)
    if (root !== undefined) this.#ours.set(pid, root)
  }

  /** In milliseconds: how often `look` should be called while the process runs. */
  get interval(): number {
    return this.#list.interval
  }

  /** Notes the processes that are new. It costs little, because it looks at each process once. */
  look(): void {
    const present = new Set(this.#list.ids())
    // The number of one that has ended may become that of one of ours.
    for (const set of [this.#before, this.#seen]) for (const pid of set) if (!present.has(pid)) set.delete(pid)
    const listed = this.#list.read((pid) => this.#before.has(pid) || this.#seen.has(pid))
    this.#adopt(listed)
    for (const { pid } of listed) this.#seen.add(pid)
  }

  /** Those that are alive. It looks at every process that began after the first of ours, so it is for the end. */
  findAlive(): ProcessFacts[] {
    for (let look = 1; ; look++) {
      const before = this.#list.latest()
      const alive = this.#lookAtAll()
      // A daemon in the making slips through: its parent has ended when it is looked at, and it was not yet listed.
      if (alive.length > 0 || look === LOOKS || this.#list.latest() === before) return alive
    }
  }

  #lookAtAll(): ProcessFacts[] {
    const isOther = (pid: number) => this.#before.has(pid)
    const listed = this.#list.read(isOther)
    for (const marked of this.#list.carrying(this.#mark, isOther)) this.#ours.set(marked.pid, marked)
    this.#adopt(listed)
    return listed.filter(({ pid, start }) => this.#ours.get(pid)?.start === start)
  }

  /** Sends a signal to those that are alive, or to these. One that is stopped is woken, so that it receives it. */
  signal(signal: NodeJS.Signals, processes: readonly ProcessFacts[] = this.findAlive()): void {
    for (const one of processes) {
      if (!this.#isStillThere(one)) continue
      send(one.pid, signal)
      if (signal !== 'SIGKILL') send(one.pid, 'SIGCONT')
    }
  }

  /** Adds those whose parent is one of ours. */
  #adopt(listed: readonly ProcessFacts[]): void {
    let found: boolean
    do {
      found = false
      for (const one of listed) {
        if (this.#ours.get(one.pid)?.start === one.start) continue
        const parent = this.#ours.get(one.parent)
        if (parent === undefined || !this.#isStillThere(parent)) continue
        this.#ours.set(one.pid, one)
        found = true
      }
      // A child may be listed before its parent.
    } while (found)
  }

  /** Whether it is alive, and its number not that of another process by now. */
  #isStillThere({ pid, start }: ProcessFacts): boolean {
    return this.#list.find(pid)?.start === start
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself, or belongs to another user.
  }
}

/** The ids of the processes that are there now, if to list them costs little. */
export function listProcessIds(): readonly number[] {
  return openProcessList().ids()
}

function openProcessList(): ProcessList {
  return readStat(process.pid) === undefined ? PS : PROC
}

export const PROC: ProcessList = {
  interval: 200,
  ids: () => readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : [])),
  find: readStat,
  read(isKnown) {
    return PROC.ids().flatMap((pid) => (isKnown(pid) ? [] : (readStat(pid) ?? [])))
  },
  carrying(text, isKnown) {
    return PROC.ids().flatMap((pid) => (!isKnown(pid) && hasInEnvironment(pid, text) ? (readStat(pid) ?? []) : []))
  },
  latest() {
    try {
      return readFileSync('/proc/loadavg', 'latin1').split(' ').at(-1)
    } catch {
      return undefined
    }
  },
}

function readStat(pid: number): ProcessFacts | undefined {
  try {
    // The name of the program stands in parentheses and may hold spaces and parentheses itself.
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
    const fields = rest.split(' ')
    const [state = 'X', parent] = fields
    const start = fields[19]
    if ('ZX'.includes(state) || start === undefined) return undefined
    return { pid, parent: Number(parent), start, name }
  } catch {
    return undefined
  }
}

const NOBODY = new Int32Array(new SharedArrayBuffer(4))
/** A process that is just becoming another program has no environment for a moment, in milliseconds. */
const BECOMING = 5

function hasInEnvironment(pid: number, text: string): boolean {
  try {
    for (let waited = 0; ; waited++) {
      const environment = readFileSync(`/proc/${pid}/environ`)
      if (environment.length > 0 || waited === BECOMING) return environment.includes(text)
      Atomics.wait(NOBODY, 0, 0, 1)
    }
  } catch {
    // It has ended, or it is another user's.
    return false
  }
}

/** How long `ps` may take, in milliseconds. */
const PATIENCE = 5_000
const LARGEST_LIST = 64 << 20

/** Where there is no /proc, as on macOS. `ps` takes some hundredths of a second, so it is asked less often. */
export const PS: ProcessList = {
  interval: 2_000,
  ids: () => [],
  find: (pid) => askPs(['-p', `${pid}`])[0],
  read: () => askPs(['-A']),
  // The environment stands behind the command.
  carrying: (text) => askPs(process.platform === 'darwin' ? ['-A', '-E', '-ww'] : ['axeww'], text),
  latest: () => undefined,
}

function askPs(selection: readonly string[], text = ''): ProcessFacts[] {
  try {
    const args = [...selection, '-o', 'pid=,ppid=,stat=,lstart=,command=']
    const listed = execFileSync('ps', args, {
      encoding: 'latin1',
      timeout: PATIENCE,
      maxBuffer: LARGEST_LIST,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return listed.split('\n').flatMap((line) => (line.includes(text) ? readLine(line) : []))
  } catch {
    return []
  }
}

function readLine(line: string): ProcessFacts[] {
  // `lstart` is `Sun Nov 22 07:42:39 2026`.
  const [, pid, parent, state = 'Z', start = '', name = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\d{4})\s+(\S+)/.exec(line) ?? []
  if (pid === undefined || state.startsWith('Z')) return []
  return [{ pid: Number(pid), parent: Number(parent), start, name: name.replace(/^.*\//, '') }]
}
