import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { elapsed } from '../ground/clock.ts'
import { nameInstance } from '../ground/secrets.ts'
import { shorten } from '../ground/show.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { listProcessIds } from './processes.ts'
import { type CommandEnd, RunningCommand } from './running-command.ts'

/** How to run a command of the user. */
export interface CommandRun {
  /** The program and its arguments. They do not pass through a shell. */
  command: readonly string[]
  /** The complete environment. */
  environment: NodeJS.ProcessEnv
  /** In milliseconds. A command that runs longer is ended. */
  timeout?: number | undefined
  /** How long the command may take to end after SIGTERM, in milliseconds; by default 5 s. Then it is killed. */
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
  /** Called when the command has started. */
  started?: ((command: Pick<RunningCommand, 'isAsleep'>) => void) | undefined
  /** Called with the names of processes that the command has started, if their end takes more than a second. */
  waiting?: ((names: readonly string[]) => void) | undefined
}

/** The longest delay of a timer, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1
/** The environment variable that marks the processes of a command. */
const MARK = 'UNDERSTUDY_PROCESS'

/**
 * Runs a command until it ends, and then ends the processes that it left behind, even those in other groups and
 * sessions. A process that ignores SIGTERM gets SIGKILL after `patience`.
 * @throws CommandError if the command cannot start
 */
export async function runCommand(run: CommandRun): Promise<CommandEnd> {
  const mark = nameInstance()
  const started = elapsed()
  // A signal may arrive before the command exists. It is kept until then.
  let running: RunningCommand | undefined
  const early: NodeJS.Signals[] = []
  const stopListening = run.onSignal?.((signal) =>
    running === undefined ? early.push(signal) : running.receive(signal),
  )
  try {
    const before = listProcessIds()
    const child = await spawnCommand(run, mark)
    const { inherits, patience, waiting } = run
    running = new RunningCommand(child, { mark, before, started, inherits, patience, waiting })
    for (const signal of early) running.receive(signal)
    run.started?.(running)
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

/**
 * A command with our terminal stays in our process group, and so in the foreground. It can read the terminal, and
 * Ctrl-C and Ctrl-Z reach it directly. A command whose output is kept gets its own session. It cannot read the
 * terminal, and Ctrl-C reaches it once, through us.
 */
function spawnCommand({ command, environment, inherits }: CommandRun, mark: string): Promise<ChildProcess> {
  const [program = '', ...args] = command
  const outer = environment[MARK]
  return new Promise((resolve, reject) => {
    function fail(error: Error): void {
      reject(new CommandError(program, error, environment))
    }
    try {
      const child = spawn(program, args, {
        // Both runs must find the processes of a nested run.
        env: { ...environment, [MARK]: outer === undefined ? mark : `${outer} ${mark}` },
        stdio: inherits ? 'inherit' : ['ignore', 'pipe', 'pipe'],
        detached: !inherits,
      })
      child.once('error', fail)
      child.once('spawn', () => resolve(child.off('error', fail).on('error', () => {})))
    } catch (error) {
      fail(error as Error)
    }
  })
}
