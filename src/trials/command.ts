import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { elapsed } from '../ground/clock.ts'
import { shorten } from '../ground/show.ts'
import { clearTimeout, pause, setTimeout } from '../ground/timers.ts'
import { OutputTail } from './output-tail.ts'
import { isGroupAlive } from './processes.ts'

/** How to run a command of the user. */
export interface CommandRun {
  /** The program and its arguments. They do not pass through a shell. */
  command: readonly string[]
  /** The complete environment. */
  environment: NodeJS.ProcessEnv
  /** In milliseconds. A command that runs longer is ended. */
  timeout?: number | undefined
  /** How long the command may take to end after a signal, in milliseconds; by default 5 s. Then it is killed. */
  patience?: number | undefined
  /**
   * Whether the command uses the standard input, output and error of this process. If not, it has no input, and the end
   * of its output is kept.
   */
  inherits: boolean
  /** Ends the command when it is aborted. */
  signal?: AbortSignal | undefined
  /**
   * Registers a listener for each signal to this process, and returns a function that removes it. The first signal is
   * passed to the command; another one ends the command at once.
   */
  onSignal?: ((listener: (signal: NodeJS.Signals) => void) => () => void) | undefined
}

/** The end of a command. */
export interface CommandEnd {
  /** Absent if a signal ended it. */
  exitCode: number | undefined
  signal: NodeJS.Signals | undefined
  timedOut: boolean
  /** The signal that told this process to stop while the command ran. */
  interruptedBy: NodeJS.Signals | undefined
  /** Real time until the command itself ended. */
  seconds: number
  /** The end of its standard output and standard error, if they are not inherited. */
  output: string
  /** Whether processes of its group outlived it and were then ended. */
  hasLeftBehind: boolean
}

/** The longest delay of a timer, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1
/** How many bytes of the output are kept. */
const KEPT = 64 << 10
/** How long a command may take to end by default, in milliseconds. Then it is killed. */
const PATIENCE = 5_000
/** How long killed processes may take to disappear, in milliseconds. A process on a broken disk never does. */
const DEATH = 2_000
/** How long the rest of the output may take to arrive, in milliseconds, if a process outside of the group has it open. */
const DRAIN = 1_000
/** How long remaining processes may take to end by themselves, in milliseconds: a `tee` at the end of its input. */
const GRACE = 200
/** How often the end of a group is checked, in milliseconds. */
const POLL = 20

/**
 * Runs a command until it ends, and then ends the processes that it left behind in its process group. What it has started
 * in a group of its own, such as a daemon, goes on. A command that ignores a signal gets SIGKILL after `patience`.
 * @throws CommandError if the command cannot start
 */
export async function runCommand(run: CommandRun): Promise<CommandEnd> {
  // A signal may arrive before the command exists. It is kept until then.
  let running: RunningCommand | undefined
  const early: NodeJS.Signals[] = []
  const stopListening = run.onSignal?.((signal) =>
    running === undefined ? early.push(signal) : running.receive(signal),
  )
  try {
    const ownsGroup = !sharesTerminal(run)
    running = new RunningCommand(await spawnCommand(run, ownsGroup), ownsGroup, run.patience ?? PATIENCE)
    for (const signal of early) running.receive(signal)
    return await endInTime(running, run)
  } finally {
    stopListening?.()
  }
}

async function endInTime(running: RunningCommand, { timeout, signal }: CommandRun): Promise<CommandEnd> {
  const timer = timeout === undefined ? undefined : setTimeout(() => running.timeOut(), Math.min(timeout, LONGEST))
  const abort = () => running.end('SIGTERM')
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  killAtExit(running)
  try {
    return await running.untilGone()
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    RUNNING.delete(running)
  }
}

const RUNNING = new Set<RunningCommand>()
let isWatchingExit = false

/** Kills the command if this process ends without a signal, for example because of an unexpected error. */
function killAtExit(running: RunningCommand): void {
  RUNNING.add(running)
  if (isWatchingExit) return
  isWatchingExit = true
  process.once('exit', () => {
    for (const each of RUNNING) each.kill()
  })
}

/**
 * A command that shares our terminal stays in our process group, and so in the foreground: it can read the terminal, and
 * Ctrl-C and Ctrl-Z reach it directly. Every other command gets a session and a group of its own.
 */
function sharesTerminal({ inherits }: CommandRun): boolean {
  return inherits && process.stdin.isTTY
}

/** A command from its start until its process group has ended. */
class RunningCommand {
  readonly #child: ChildProcess
  readonly #ownsGroup: boolean
  readonly #patience: number
  readonly #started = elapsed()
  readonly #tail = new OutputTail(KEPT)
  readonly #exited: Promise<Pick<CommandEnd, 'exitCode' | 'signal' | 'seconds'>>
  readonly #closed: Promise<void>
  #timer: NodeJS.Timeout | undefined
  #isEnding = false
  #timedOut = false
  #interruptedBy: NodeJS.Signals | undefined
  /** The time of the last signal from the terminal. */
  #lastKey = Number.NEGATIVE_INFINITY

  constructor(child: ChildProcess, ownsGroup: boolean, patience: number) {
    this.#child = child
    this.#ownsGroup = ownsGroup
    this.#patience = patience
    this.#exited = new Promise((resolve) =>
      child.once('exit', (exitCode, signal) => {
        const seconds = (elapsed() - this.#started) / 1000
        resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined, seconds })
      }),
    )
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => this.#tail.add(bytes))
    }
  }

  /** Resolves when the command and its group have ended. */
  async untilGone(): Promise<CommandEnd> {
    const exit = await this.#exited
    const hasLeftBehind = !this.#isEnding && !(await this.#ends(GRACE))
    if (hasLeftBehind) this.end('SIGTERM')
    if (this.#isEnding && !(await this.#ends(this.#patience + DEATH))) this.kill()
    clearTimeout(this.#timer)
    await this.#readRest()
    const [timedOut, interruptedBy] = [this.#timedOut, this.#interruptedBy]
    return { ...exit, timedOut, interruptedBy, output: `${this.#tail}`, hasLeftBehind }
  }

  timeOut(): void {
    this.#timedOut = true
    this.end('SIGTERM')
  }

  /** Takes a signal to this process. */
  receive(signal: NodeJS.Signals): void {
    this.#interruptedBy ??= signal
    // The command gets the signal of a key directly and decides what to do: a debugger goes on. A second key press ends
    // the command in any case.
    const isKey = !this.#ownsGroup && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (this.#isEnding || (isKey && elapsed() - this.#lastKey < this.#patience)) this.kill()
    else if (isKey) this.#lastKey = elapsed()
    else this.end(signal)
  }

  /** Sends the signal to the group, and kills what remains after a while. */
  end(signal: NodeJS.Signals): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#tell(signal)
    this.#timer = setTimeout(() => this.kill(), this.#patience)
  }

  kill(): void {
    this.#isEnding = true
    this.#tell('SIGKILL')
  }

  #tell(signal: NodeJS.Signals): void {
    if (!this.#ownsGroup || this.#child.pid === undefined) return void this.#child.kill(signal)
    try {
      process.kill(-this.#child.pid, signal)
      // A stopped process receives a signal only when it goes on.
      if (signal !== 'SIGKILL') process.kill(-this.#child.pid, 'SIGCONT')
    } catch {
      // The group has ended, or the system has no groups.
      this.#child.kill(signal)
    }
  }

  /** Whether the group ends within so many milliseconds. In the group of the terminal, only the command itself counts. */
  async #ends(milliseconds: number): Promise<boolean> {
    const { pid } = this.#child
    if (!this.#ownsGroup || pid === undefined) return true
    const deadline = elapsed() + milliseconds
    while (isGroupAlive(pid)) {
      if (elapsed() >= deadline) return false
      await pause(POLL)
    }
    return true
  }

  /** The output is complete when the pipes are closed. A daemon may keep them open for ever. */
  async #readRest(): Promise<void> {
    const isClosed = new AbortController()
    const late = pause(DRAIN, undefined, { signal: isClosed.signal }).catch(() => {})
    await Promise.race([this.#closed, late])
    isClosed.abort()
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    this.#child.unref()
  }
}

/**
 * The exit code that a shell reports for this end: the exit code of the command, or 124 after a timeout (like
 * `timeout`). For a signal that ended the command or this process, it is 128 plus the number of the signal.
 */
export function exitCodeOf({ exitCode, signal, timedOut, interruptedBy }: CommandEnd): number {
  if (timedOut) return 124
  if (exitCode !== undefined) return exitCode
  // A command that ignores a signal is killed, but the exit code must name the signal that it was told.
  const told = signal === 'SIGKILL' ? (interruptedBy ?? signal) : signal
  return told === undefined ? 1 : 128 + constants.signals[told]
}

export function hasPassed(end: CommandEnd): boolean {
  return exitCodeOf(end) === 0
}

/** The end of a command, as the rest of a sentence about it. */
export function wordEnd({ exitCode, signal, timedOut }: CommandEnd): string {
  if (timedOut) return 'took too long'
  if (exitCode === 0) return 'succeeded'
  return exitCode === undefined ? `was ended by ${signal}` : `failed with exit code ${exitCode}`
}

/** A command that could not start. It has the exit code that a shell uses for it. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly exitCode: number

  constructor(program: string, { code }: NodeJS.ErrnoException, environment: NodeJS.ProcessEnv) {
    const isThere = code !== 'ENOENT' || exists(program, environment)
    super(`${shorten(program)}: ${describeFailure(code, isThere)}`)
    this.exitCode = isThere ? 126 : 127
  }
}

function describeFailure(code: string | undefined, isThere: boolean): string {
  if (!isThere) return 'there is no such command'
  if (code === 'ENOENT') return 'cannot be run: the program that its first line names is not there'
  if (code === 'EACCES') return 'cannot be run: it is not executable (chmod +x makes it so)'
  if (code === 'ENOEXEC') return 'cannot be run: it is no program for this machine'
  if (code === 'E2BIG') return 'cannot be run: its arguments and its environment are too long for the system'
  return `cannot be run (${code})`
}

function exists(program: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  const places = program.includes('/') ? [program] : PATH.split(delimiter).map((folder) => join(folder, program))
  return places.some((place) => statSync(place, { throwIfNoEntry: false })?.isFile())
}

function spawnCommand({ command, environment, inherits }: CommandRun, detached: boolean): Promise<ChildProcess> {
  const [program = '', ...args] = command
  return new Promise((resolve, reject) => {
    function fail(error: Error): void {
      reject(new CommandError(program, error, environment))
    }
    try {
      const stdio = inherits ? 'inherit' : (['ignore', 'pipe', 'pipe'] as const)
      const child = spawn(program, args, { env: environment, stdio: stdio as 'inherit', detached })
      child.once('error', fail)
      child.once('spawn', () => resolve(child.off('error', fail).on('error', () => {})))
    } catch (error) {
      fail(error as Error)
    }
  })
}
