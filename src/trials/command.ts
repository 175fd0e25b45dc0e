import { spawn } from 'node:child_process'
import { elapsed } from '../ground/clock.ts'

/** How a command of the user's is run. */
export interface CommandRun {
  /** The program and its arguments; there is no shell between. */
  command: readonly string[]
  /** The whole environment. */
  environment: NodeJS.ProcessEnv
  /** In milliseconds; a command that runs longer is ended. */
  timeout?: number | undefined
  /**
   * Whether the command has the standard input, output and error of this process, as if there was nothing between; else
   * it reads nothing, and the end of what it writes is kept.
   */
  inherits: boolean
  /** Ends the command when it is aborted. */
  signal?: AbortSignal | undefined
}

/** How a command ended. */
export interface CommandEnd {
  /** Absent where a signal ended it, or it could not start. */
  exitCode: number | undefined
  signal: NodeJS.Signals | undefined
  timedOut: boolean
  /** Of real time. */
  seconds: number
  /** The end of its output and error, where they are not inherited. */
  output: string
}

/** How many characters of the output are kept. */
const KEPT = 64 << 10

/**
 * Runs a command until it and all its descendants have ended.
 * @throws CommandError when it cannot start
 */
export function runCommand({ command, environment, timeout, inherits, signal }: CommandRun): Promise<CommandEnd> {
  const [program = '', ...args] = command
  const started = elapsed()
  let output = ''
  let timedOut = false
  return new Promise((resolve, reject) => {
    const stdio = inherits ? 'inherit' : (['ignore', 'pipe', 'pipe'] as const)
    const child = spawn(program, args, { env: environment, stdio: stdio as 'inherit' })
    const end = () => child.kill('SIGTERM')
    function endLate(): void {
      timedOut = true
      end()
    }
    const timer = timeout === undefined ? undefined : setTimeout(endLate, timeout)
    signal?.addEventListener('abort', end)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-KEPT)
      })
    }
    child.once('error', (error) => reject(new CommandError(program, error as NodeJS.ErrnoException)))
    child.once('close', (exitCode, endSignal) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      const seconds = (elapsed() - started) / 1000
      resolve({ exitCode: exitCode ?? undefined, signal: endSignal ?? undefined, timedOut, seconds, output })
    })
  })
}

/** A command that could not start. */
export class CommandError extends Error {
  override name = 'CommandError'

  constructor(program: string, { code }: NodeJS.ErrnoException) {
    super(`${program}: ${code === 'ENOENT' ? 'there is no such command' : `cannot be run (${code})`}`)
  }
}
