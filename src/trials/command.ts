import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { shorten } from '../ground/show.ts'
import { clearTimeout, elapsed, pause, setTimeout } from '../ground/timers.ts'

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
  signal?: AbortSignal | undefined
  /**
   * Registers a listener for each signal to this process, and returns a function that removes it. The first signal is
   * passed to the command; another one ends the command at once.
   */
  onSignal?: ((listener: (signal: NodeJS.Signals) => void) => () => void) | undefined
}

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
const POLL = 20

/** Kill what still runs if this process ends without a signal, for example because of an unexpected error. */
const KILLERS = new Set<() => void>()
process.once('exit', () => {
  for (const kill of KILLERS) kill()
})

/**
 * Runs a command until it ends, and then ends the processes that it left behind in its process group. What it has started
 * in a group of its own, such as a daemon, goes on. A command that ignores a signal gets SIGKILL after `patience`.
 * @throws CommandError if the command cannot start
 */
export async function runCommand(run: CommandRun): Promise<CommandEnd> {
  const { timeout, patience = PATIENCE, inherits, signal: stop, onSignal } = run
  // In our own group, the command can read the terminal, and Ctrl-C and Ctrl-Z reach it directly.
  const ownsGroup = !(inherits && process.stdin.isTTY)
  const started = elapsed()
  const child = start(run, ownsGroup)
  let isEnding = false
  let timedOut = false
  let interruptedBy: NodeJS.Signals | undefined
  let lastKey = Number.NEGATIVE_INFINITY
  let killer: NodeJS.Timeout | undefined

  function kill(): void {
    isEnding = true
    tell(child, 'SIGKILL', ownsGroup)
  }
  function end(signal: NodeJS.Signals): void {
    if (isEnding) return
    isEnding = true
    tell(child, signal, ownsGroup)
    killer = setTimeout(kill, patience)
  }
  function receive(signal: NodeJS.Signals): void {
    interruptedBy ??= signal
    // The command gets the signal of a key directly and decides what to do: a debugger goes on. A second key press ends
    // the command in any case.
    const isKey = !ownsGroup && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (isEnding || (isKey && elapsed() - lastKey < patience)) kill()
    else if (isKey) lastKey = elapsed()
    else end(signal)
  }
  const abort = () => end('SIGTERM')
  const late = () => {
    timedOut = true
    abort()
  }
  const readOutput = collectOutput(child)
  const exited = new Promise<Pick<CommandEnd, 'exitCode' | 'signal' | 'seconds'>>((resolve) =>
    child.once('exit', (exitCode, signal) => {
      const seconds = (elapsed() - started) / 1000
      resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined, seconds })
    }),
  )
  const closed = new Promise((resolve) => child.once('close', resolve))
  const stopListening = onSignal?.(receive)
  const timer = timeout === undefined ? undefined : setTimeout(late, Math.min(timeout, LONGEST))
  stop?.addEventListener('abort', abort)
  KILLERS.add(kill)
  try {
    await once(child, 'spawn').catch((error) => {
      throw new CommandError(run.command[0] ?? '', error)
    })
    child.on('error', () => {})
    if (stop?.aborted) abort()
    const exit = await exited
    const hasLeftBehind = !isEnding && ownsGroup && !(await endsWithin(GRACE, child))
    if (hasLeftBehind) end('SIGTERM')
    if (isEnding && ownsGroup && !(await endsWithin(patience + DEATH, child))) kill()
    // The output is complete when the pipes are closed. A daemon may keep them open for ever.
    await Promise.race([closed, pause(DRAIN, undefined, { ref: false })])
    return { ...exit, timedOut, interruptedBy, output: readOutput(), hasLeftBehind }
  } finally {
    clearTimeout(timer)
    clearTimeout(killer)
    stop?.removeEventListener('abort', abort)
    stopListening?.()
    KILLERS.delete(kill)
    child.stdout?.destroy()
    child.stderr?.destroy()
    child.unref()
  }
}

/** @throws CommandError */
function start(run: CommandRun, detached: boolean): ChildProcess {
  const [program = '', ...args] = run.command
  try {
    const stdio = run.inherits ? 'inherit' : (['ignore', 'pipe', 'pipe'] as const)
    return spawn(program, args, { env: run.environment, stdio: stdio as 'inherit', detached })
  } catch (error) {
    throw new CommandError(program, error as Error)
  }
}

/** The returned function has the end of what the command has written. A character that is cut is left out. */
function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let kept = Buffer.alloc(0)
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (bytes: Buffer) => {
      kept = Buffer.concat([kept, bytes]).subarray(-KEPT)
    })
  }
  return () => (kept.length < KEPT ? `${kept}` : `${kept}`.replace(/^\ufffd{1,3}/, ''))
}

function tell(child: ChildProcess, signal: NodeJS.Signals, ownsGroup: boolean): void {
  if (!ownsGroup || child.pid === undefined) return void child.kill(signal)
  try {
    process.kill(-child.pid, signal)
    // A stopped process receives a signal only when it goes on.
    if (signal !== 'SIGKILL') process.kill(-child.pid, 'SIGCONT')
  } catch {
    // The group has ended, or the system has no groups.
    child.kill(signal)
  }
}

/** Whether the group of the command ends within so many milliseconds. */
async function endsWithin(milliseconds: number, { pid = 0 }: ChildProcess): Promise<boolean> {
  const deadline = elapsed() + milliseconds
  while (isGroupAlive(pid)) {
    if (elapsed() >= deadline) return false
    await pause(POLL)
  }
  return true
}

/** Whether a process of the group runs. One that has ended counts no more, also if nobody has asked for its end. */
function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      // State, parent and group come after the name of the program, which may contain parentheses.
      const [state = '', , its] = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ')
      return its === `${group}` && !'ZX'.includes(state)
    } catch {
      return false
    }
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

export function hasPassed(end: CommandEnd): boolean {
  return exitCodeOf(end) === 0
}

/** The end of a command, as the rest of a sentence about it. */
export function wordEnd({ exitCode, signal, timedOut }: CommandEnd): string {
  if (timedOut) return 'took too long'
  if (exitCode === 0) return 'succeeded'
  return exitCode === undefined ? `was ended by ${signal}` : `failed with exit code ${exitCode}`
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the program that its first line names is not there',
  EACCES: 'it is not executable (chmod +x makes it so)',
}

/** A command that could not start. It has the exit code that a shell uses for it. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly exitCode: number

  constructor(program: string, { code = '' }: NodeJS.ErrnoException) {
    // A name without a path is looked for in PATH, so nobody can tell which file lacks its interpreter.
    const isThere = code !== 'ENOENT' || (program.includes('/') && existsSync(program))
    const reason = REASONS[code]
    const words = reason === undefined ? `cannot be run (${code})` : `cannot be run: ${reason}`
    super(`${shorten(program)}: ${isThere ? words : 'there is no such command'}`)
    this.exitCode = isThere ? 126 : 127
  }
}
