import type { Readable, Writable } from 'node:stream'
import type { Log } from '../ground/log.ts'
import { clearInterval, setInterval } from '../ground/timers.ts'
import type { Redact } from '../journal/redaction/redaction.ts'
import { type LogFormat, type LogLevel, openLog } from './log.ts'

export interface Screen {
  /** The columns of a terminal; `undefined` for a file or a pipe. */
  readonly columns: number | undefined
  readonly colours: boolean
}

/** The signals that tell a program to stop. */
export type StopSignal = (typeof STOP_SIGNALS)[number]

/**
 * The parts of the process that a command uses. A test replaces them. A command gets them as a `DiscreetTerminal`, which
 * hides secrets.
 */
export interface Terminal {
  readonly environment: NodeJS.ProcessEnv
  /** Writes a text to standard output without changes. */
  write(text: string): void
  /** Writes a text to standard error without changes. */
  writeError(text: string): void
  /** Standard input and output of a command that talks with a program. Only reading `input` keeps the process alive. */
  readonly streams: { readonly input: Readable; readonly output: Writable }
  /** The current screen of standard error. The user may change the size of the window. */
  readonly screen: Screen
  /**
   * Opens a log on standard error. `redact` hides secrets in its lines. `close` resolves when it is written, or after a
   * timeout without a reader.
   */
  openLog(level: LogLevel, format?: LogFormat, redact?: Redact): { log: Log; close(): Promise<void> }
  untilStopped(): Promise<void>
  /** Passes each signal to stop to the listener and suppresses its default effect. The returned function ends that. */
  onSignal(listener: (signal: StopSignal) => void): () => void
  /** Resolves when the process with this id has ended; nothing, if there is no id. */
  untilEnded(pid: number | undefined): Promise<void>[]
}

export function openProcessTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader may close the pipe early: `dmarc-understudy assumptions | head`.
    if (error.code === 'EPIPE') return
    console.error(`dmarc-understudy: standard output cannot be written (${error.code}); send it somewhere else`)
    process.exit(3)
  })
  // The program goes on if standard error cannot be written, because the terminal was closed or the disk is full.
  process.stderr.on('error', () => {})
  return {
    environment: process.env,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    streams: {
      // Node opens standard input when it is first asked for.
      get input() {
        return process.stdin
      },
      output: process.stdout,
    },
    get screen() {
      return openScreen(process.stderr)
    },
    openLog,
    untilStopped,
    onSignal: (listener) => listenToSignals(listener),
    untilEnded: (pid) => (pid === undefined ? [] : [untilEnded(pid)]),
  }
}

export function openScreen(stream: NodeJS.WriteStream): Screen {
  if (!stream.isTTY) return { columns: undefined, colours: false }
  // `hasColors` respects NO_COLOR, FORCE_COLOR and terminals without colours.
  // Some terminals report the size 0.
  return { columns: stream.columns || 80, colours: stream.hasColors() }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
const OF_SERVICES = ['SIGINT', 'SIGTERM'] as const

/** Suppresses the default effect of the signals until the returned function is called. */
function listenToSignals(
  listener: (signal: StopSignal) => void,
  signals: readonly StopSignal[] = STOP_SIGNALS,
): () => void {
  const listen = (signal: NodeJS.Signals) => listener(signal as StopSignal)
  for (const signal of signals) process.on(signal, listen)
  return () => {
    for (const signal of signals) process.off(signal, listen)
  }
}

/** Resolves with the first signal. A second one ends the process at once, as the system does by default. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const end = listenToSignals(() => {
      end()
      resolve()
    }, OF_SERVICES)
  })
}

/** How often is looked whether a process has ended, in milliseconds. */
const INTERVAL = 200

function untilEnded(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(pid)) return
      clearInterval(timer)
      resolve()
    }, INTERVAL)
    // The timer must not keep the program running.
    timer.unref()
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
