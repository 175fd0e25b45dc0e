import type { Log } from '../http/log.ts'
import type { Screen } from '../reports/summary.ts'
import { type LogFormat, type LogLevel, openLog } from './log.ts'
import { untilParentEnded } from './parent.ts'

/** The signals by which a person, a terminal or a system tells a program to stop. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT'

/** What a command uses of the process that runs it; a test gives it a terminal of its own in the place of the process. */
export interface Terminal {
  readonly environment: NodeJS.ProcessEnv
  /** Writes a text to standard output as it is. */
  write(text: string): void
  /** Writes a line to standard output. */
  print(line: string): void
  /** Writes a line to standard error. */
  printError(line: string): void
  /** Writes a text to standard error as it is. */
  writeError(text: string): void
  /** What standard error is shown on, as it is now: a person may change the size of a window. */
  readonly screen: Screen
  /** Opens a log on standard error. `close` resolves once it is written, or nobody reads it. */
  openLog(level: LogLevel, format?: LogFormat): Promise<{ log: Log; close(): Promise<void> }>
  /** Resolves when the program is told to stop. */
  untilStopped(): Promise<void>
  /**
   * From now on, a signal to stop is passed to the listener and does nothing else, until the function is called that is
   * returned.
   */
  onSignal(listener: (signal: StopSignal) => void): () => void
  /** From now on, the next signal to stop ends the program at once, after it has said this on standard error. */
  endAtNextSignal(say: string): void
  /** Resolves when the program that started this one has ended. */
  untilParentEnded(): Promise<void>
}

/** The terminal of the process. */
export function openProcessTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of the output may have seen enough of it: `dmarc-understudy assumptions | head`.
    if (error.code === 'EPIPE') return
    console.error(`dmarc-understudy: standard output cannot be written (${error.code}); send it somewhere else`)
    process.exit(3)
  })
  return {
    environment: process.env,
    write: (text) => void process.stdout.write(text),
    print: (line) => console.log(line),
    printError: (line) => console.error(line),
    writeError,
    get screen() {
      return openScreen(process.stderr)
    },
    openLog,
    untilStopped: untilSignal,
    onSignal: listenToSignals,
    endAtNextSignal,
    untilParentEnded,
  }
}

/** What a stream is shown on. */
export function openScreen(stream: NodeJS.WriteStream): Screen {
  if (!stream.isTTY) return { size: undefined, colours: false }
  // It heeds NO_COLOR, FORCE_COLOR and a terminal without colours.
  // Some terminals do not tell their size and say 0.
  return { size: { columns: stream.columns || 80, rows: stream.rows || 24 }, colours: stream.hasColors() }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']

/** Any number may listen; the process has one listener for all, because it takes many for a leak. */
const listeners = new Set<(signal: StopSignal) => void>()

function listenToSignals(listener: (signal: StopSignal) => void): () => void {
  if (listeners.size === 0) for (const signal of STOP_SIGNALS) process.on(signal, tellListeners)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) for (const signal of STOP_SIGNALS) process.off(signal, tellListeners)
  }
}

function tellListeners(signal: NodeJS.Signals): void {
  for (const listener of [...listeners]) listener(signal as StopSignal)
}

/** When the terminal was closed, nobody reads it any more, and the program goes on all the same. */
function writeError(text: string): void {
  process.stderr.write(text, () => {})
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once, as it would without us. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => onSignal(() => resolve()))
}

function endAtNextSignal(say: string): void {
  onSignal((signal) => {
    console.error(say)
    process.kill(process.pid, signal)
  })
}

function onSignal(act: (signal: NodeJS.Signals) => void): void {
  function stop(signal: NodeJS.Signals): void {
    for (const each of SIGNALS) process.off(each, stop)
    act(signal)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
}
