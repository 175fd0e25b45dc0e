import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { elapsed } from '../ground/clock.ts'
import { nameInstance } from '../ground/secrets.ts'
import { shorten } from '../ground/show.ts'
import { listProcessIds } from './processes.ts'
import { type CommandEnd, RunningCommand } from './running-command.ts'

export type { CommandEnd }

/** How a command of the user's is run. */
export interface CommandRun {
  /** The program and its arguments; there is no shell between. */
  command: readonly string[]
  /** The whole environment. */
  environment: NodeJS.ProcessEnv
  /** In milliseconds; a command that runs longer is ended. */
  timeout?: number | undefined
  /** How long a command that was told to end may take, in milliseconds, before it is killed; 5 s by default. */
  patience?: number | undefined
  /**
   * Whether the command has the standard input, output and error of this process, as if there was nothing between; else
   * it reads nothing, and the end of what it writes is kept.
   */
  inherits: boolean
  /** Ends the command when it is aborted. */
  signal?: AbortSignal | undefined
  /**
   * Calls the listener with each signal that this process is given, until the function is called that is returned. The
   * command gets the first one; another one ends it at once.
   */
  onSignal?: ((listener: (signal: NodeJS.Signals) => void) => () => void) | undefined
  /** Is called with the names of processes that the command has started and whose end takes more than a second. */
  waiting?: ((names: readonly string[]) => void) | undefined
}

/** A timer cannot be set for longer. In milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1
/** The variable by which the processes of a command are found. */
const MARK = 'UNDERSTUDY_PROCESS'

/**
 * Runs a command until it has ended, and then ends what it has left behind: also processes in groups and sessions of
 * their own. Who does not obey SIGTERM gets SIGKILL when patience is over.
 * @throws CommandError when it cannot start
 */
export async function runCommand(run: CommandRun): Promise<CommandEnd> {
  const mark = nameInstance()
  const started = elapsed()
  // A signal may come before there is somebody to pass it to.
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

/** What ends this process without a signal, such as an error that nobody expected, leaves nothing running either. */
function killAtExit(running: RunningCommand): void {
  RUNNING.add(running)
  if (isWatchingExit) return
  isWatchingExit = true
  process.once('exit', () => {
    for (const each of RUNNING) each.kill()
  })
}

/**
 * What a shell says of a command that ended so: its exit code; 128 and the number of the signal that ended it, or that
 * told this process to end it; 124 for one that took too long, as `timeout` says.
 */
export function exitCodeOf({ exitCode, signal, timedOut, interruptedBy }: CommandEnd): number {
  if (timedOut) return 124
  if (exitCode !== undefined) return exitCode
  // Who does not obey is killed, but that is not what it was told.
  const told = signal === 'SIGKILL' ? (interruptedBy ?? signal) : signal
  return told === undefined ? 1 : 128 + constants.signals[told]
}

/** A command that could not start. Its exit code is that which a shell has for it. */
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
 * A command that has our terminal stays in our process group. So it is in the foreground: it may read the terminal, and
 * Ctrl-C and Ctrl-Z reach it as if there was nothing between. One whose output is kept gets a session of its own: it
 * cannot ask a person for anything, and Ctrl-C reaches it through us, once.
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
        // A run within a run is found by both.
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
