import type { Log } from '../http/log.ts'
import { type LogFormat, type LogLevel, openLog } from './log.ts'
import { untilParentEnded } from './parent.ts'

/** What a command uses of the process that runs it; a test gives it a terminal of its own in the place of the process. */
export interface Terminal {
  readonly environment: NodeJS.ProcessEnv
  /** Writes a text to standard output as it is. */
  write(text: string): void
  /** Writes a line to standard output. */
  print(line: string): void
  /** Writes a line to standard error. */
  printError(line: string): void
  /** Opens a log on standard error. `close` resolves once it is written, or nobody reads it. */
  openLog(level: LogLevel, format?: LogFormat): Promise<{ log: Log; close(): Promise<void> }>
  /** Resolves when the program is told to stop. */
  untilStopped(): Promise<void>
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
    openLog,
    untilStopped: untilSignal,
    untilParentEnded,
  }
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once, as it would without us. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGINT', 'SIGTERM'] as const
    function stop(): void {
      for (const signal of signals) process.off(signal, stop)
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
}
