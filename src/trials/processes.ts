import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process in the list of the system. Zombie processes are left out. */
export interface ProcessFacts {
  pid: number
  parent: number
  /** The start time in a unit of the system. Together with the pid it identifies a process uniquely. */
  start: string
  name: string
}

/** The processes of the machine. */
export interface ProcessList {
  /** How often it can be read without a noticeable load, in milliseconds. */
  readonly interval: number
  /** The ids of all processes; empty if listing them is expensive. */
  ids(): readonly number[]
  /** May leave out known processes. */
  read(isKnown: (pid: number) => boolean): ProcessFacts[]
  find(pid: number): ProcessFacts | undefined
  /** Processes whose initial environment contains the text. It may leave out known processes. */
  carrying(text: string, isKnown: (pid: number) => boolean): ProcessFacts[]
  /** Identifies the process that was started last, if the system tells it. */
  latest(): string | undefined
  /** Whether every thread of the process sleeps, as far as the system tells it. It does if the process has ended. */
  isAsleep(pid: number): boolean
}

/** How often the search is repeated if processes started meanwhile. On a busy machine, this is always the case. */
const LOOKS = 4

/**
 * All descendants of a process, even if they detach themselves. No package finds them all: packages that end a process
 * tree follow only living parents. But an orphan gets another parent (init), and Node.js cannot take that role. So this
 * class finds descendants in two ways. It regularly looks at the children of living parents, and it searches for a
 * unique text in the environment. It misses only a process that leaves its parent within moments and also clears its
 * environment.
 */
export class Descendants {
  readonly #mark: string
  readonly #list: ProcessList
  /** By pid. Ended processes stay, because their children may be alive. */
  readonly #ours = new Map<number, ProcessFacts>()
  /** The pids that existed before our first process. They are not ours. */
  readonly #before: Set<number>
  /** The pids that `look` has examined. */
  readonly #seen = new Set<number>()

  /** `mark` is a unique text in the environment of the process. `before` are the ids of the earlier processes. */
  constructor(pid: number, mark: string, before: readonly number[], list: ProcessList = openProcessList()) {
    this.#mark = mark
    this.#list = list
    this.#before = new Set(before)
    const root = list.find(pid)
    if (root !== undefined) this.#ours.set(pid, root)
  }

  /** How often the caller should call `look` while the process runs, in milliseconds. */
  get interval(): number {
    return this.#list.interval
  }

  /** Adds new processes. It is fast, because it examines each process once. */
  look(): void {
    const present = new Set(this.#list.ids())
    // The system may reuse the pid of an ended process for one of ours.
    for (const set of [this.#before, this.#seen]) for (const pid of set) if (!present.has(pid)) set.delete(pid)
    const listed = this.#list.read((pid) => this.#before.has(pid) || this.#seen.has(pid))
    this.#adopt(listed)
    for (const { pid } of listed) this.#seen.add(pid)
  }

  /**
   * Whether every thread of every process waits: for a response, for a timer, or for another one. A process that starts
   * another one does not sleep, so a process that is not known yet has a parent that was awake a moment ago.
   */
  areAsleep(): boolean {
    this.look()
    const known = this.#ours.size
    for (const [pid, { start }] of this.#ours) {
      if (!this.#list.isAsleep(pid) && this.#list.find(pid)?.start === start) return false
    }
    this.look()
    return this.#ours.size === known
  }

  /** The living processes. It examines every process after our first one, so it is slow and meant for the end. */
  findAlive(): ProcessFacts[] {
    for (let look = 1; ; look++) {
      const before = this.#list.latest()
      const alive = this.#lookAtAll()
      // The search can miss a process that is becoming a daemon: its parent has ended, and it was not listed yet.
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

  /** Sends a signal to the living or the given processes. A stopped process is continued, so that it receives it. */
  signal(signal: NodeJS.Signals, processes: readonly ProcessFacts[] = this.findAlive()): void {
    for (const one of processes) {
      if (!this.#isStillThere(one)) continue
      send(one.pid, signal)
      if (signal !== 'SIGKILL') send(one.pid, 'SIGCONT')
    }
  }

  /** Adds the processes whose parent is one of ours. */
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
      // The list may contain a child before its parent.
    } while (found)
  }

  /** Whether the process is alive, and its pid was not reused. */
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

/** The ids of the current processes; empty if listing them is expensive. */
export function listProcessIds(): readonly number[] {
  return openProcessList().ids()
}

function openProcessList(): ProcessList {
  return readStat(process.pid) === undefined ? PS : PROC
}

const PROC: ProcessList = {
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
  isAsleep(pid) {
    try {
      return readdirSync(`/proc/${pid}/task`).every((thread) => sleeps(`${pid}/task/${thread}`))
    } catch {
      return true
    }
  },
}

/** The states of a thread that computes nothing, by their letters in /proc: it sleeps, is stopped, or has ended. */
const SLEEPING = 'STtIZX'

/** Whether the process or the thread with this path below /proc does nothing at the moment. */
function sleeps(path: string): boolean {
  const [state = 'X'] = readStatFields(path).fields
  return SLEEPING.includes(state)
}

function readStat(pid: number): ProcessFacts | undefined {
  const { name, fields } = readStatFields(pid)
  const [state = 'X', parent] = fields
  const start = fields[19]
  if ('ZX'.includes(state) || start === undefined) return undefined
  return { pid, parent: Number(parent), start, name }
}

/** The fields of a process or thread after its name; none if the system does not tell them. */
function readStatFields(path: number | string): { name: string; fields: readonly string[] } {
  try {
    // The name of the program is in parentheses. It may contain spaces and parentheses.
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)/s.exec(readFileSync(`/proc/${path}/stat`, 'latin1')) ?? []
    return { name, fields: rest.split(' ') }
  } catch {
    return { name: '', fields: [] }
  }
}

/** Whether this process is in the foreground of a terminal. */
export function isInForeground(): boolean {
  const [, , group, , terminal, foreground] = readStatFields(process.pid).fields
  if (terminal === undefined) return askPs(['-o', 'stat=', '-p', `${process.pid}`]).includes('+')
  return terminal !== '0' && group === foreground
}

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4))
/** During `exec`, a process has no environment for a moment. In milliseconds. */
const BECOMING = 5

function hasInEnvironment(pid: number, text: string): boolean {
  try {
    for (let waited = 0; ; waited++) {
      const environment = readFileSync(`/proc/${pid}/environ`)
      if (environment.length > 0 || waited === BECOMING) return environment.includes(text)
      Atomics.wait(NEVER_NOTIFIED, 0, 0, 1)
    }
  } catch {
    // It has ended, or it belongs to another user.
    return false
  }
}

/** The time limit of `ps`, in milliseconds. */
const PATIENCE = 5_000
const LARGEST_LIST = 64 << 20

/** For systems without /proc, such as macOS. `ps` takes some hundredths of a second, so it runs less often. */
const PS: ProcessList = {
  interval: 2_000,
  ids: () => [],
  find: (pid) => listByPs(['-p', `${pid}`])[0],
  read: () => listByPs(['-A']),
  // The environment comes after the command.
  carrying: (text) => listByPs(process.platform === 'darwin' ? ['-A', '-E', '-ww'] : ['axeww'], text),
  latest: () => undefined,
  // It takes too long to ask for every request.
  isAsleep: () => true,
}

function listByPs(selection: readonly string[], text = ''): ProcessFacts[] {
  const listed = askPs([...selection, '-o', 'pid=,ppid=,stat=,lstart=,command='])
  return listed.split('\n').flatMap((line) => (line.includes(text) ? readLine(line) : []))
}

/** The output of `ps`; empty if it fails. */
function askPs(args: readonly string[]): string {
  try {
    return execFileSync('ps', args, {
      encoding: 'latin1',
      timeout: PATIENCE,
      maxBuffer: LARGEST_LIST,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return ''
  }
}

function readLine(line: string): ProcessFacts[] {
  // `lstart` is `Sun Nov 22 07:42:39 2026`.
  const [, pid, parent, state = 'Z', start = '', name = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\d{4})\s+(\S+)/.exec(line) ?? []
  if (pid === undefined || state.startsWith('Z')) return []
  return [{ pid: Number(pid), parent: Number(parent), start, name: name.replace(/^.*\//, '') }]
}
