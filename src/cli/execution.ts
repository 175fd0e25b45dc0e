import { constants } from 'node:os'
import { elapsed, systemClock } from '../ground/clock.ts'
import { printable } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import type { CommandTimes, Report } from '../reports/report.ts'
import type { ReportTarget } from '../reports/targets.ts'
import type { DiscreetTerminal } from './discreet-terminal.ts'
import { Progress } from './progress.ts'
import { deliverReport } from './reports.ts'
import type { StopSignal } from './terminal.ts'

type Listener = (signal: StopSignal) => void

/** The reason of an abort: a signal told the program to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  readonly by: StopSignal

  constructor(by: StopSignal) {
    super(`stopped by ${by}`)
    this.by = by
  }
}

/**
 * One execution of a command: what it shows while it works, how long it takes, and the signals that end it. A running
 * command of the user gets each signal, and the program finishes its work. If no such command runs, the first signal
 * aborts `signal`, and the second one ends the program at once.
 */
export class Execution {
  readonly name: string
  readonly terminal: DiscreetTerminal
  readonly progress: Progress
  /** What the user must know if a second signal ends the program at once. */
  lastWords: (() => string) | undefined
  readonly #began = elapsed()
  readonly #startedAt = new RealDate(systemClock()).toISOString()
  readonly #controller = new AbortController()
  readonly #commands = new Set<Listener>()
  readonly #isOver: boolean
  readonly #stopListening: () => void

  /**
   * `isOver`: whether a signal to a command of the user ends the whole program, for example if the command is one of
   * many. If not, the command decides what the signal means.
   */
  constructor(name: string, terminal: DiscreetTerminal, isOver: boolean) {
    this.name = name
    this.terminal = terminal
    this.progress = new Progress(terminal)
    this.#isOver = isOver
    this.#stopListening = terminal.onSignal((signal) => this.receive(signal))
  }

  /** The reason of its abort is an `Interrupted`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** For `runCommand`. */
  readonly onSignal = (listener: Listener): (() => void) => {
    this.#commands.add(listener)
    return () => void this.#commands.delete(listener)
  }

  receive(signal: StopSignal): void {
    const commands = [...this.#commands]
    for (const listener of commands) listener(signal)
    if (commands.length > 0 && !this.#isOver) return
    if (commands.length === 0 && this.signal.aborted) {
      this.end()
      if (this.lastWords !== undefined) this.say(this.lastWords())
      process.kill(process.pid, signal)
    }
    this.#controller.abort(new Interrupted(signal))
  }

  /** In milliseconds. */
  get duration(): number {
    return elapsed() - this.#began
  }

  get times(): CommandTimes {
    const { reason } = this.signal
    return {
      startedAt: this.#startedAt,
      seconds: Math.round(this.duration) / 1000,
      interruptedWith: reason instanceof Interrupted ? exitCodeAfter(reason) : undefined,
    }
  }

  /** Shows what the command does now. */
  show(text: string): void {
    this.progress.show(`${this.name}: ${text}`)
  }

  /** Prints a message in one line, in place of the progress. Returns the exit code. */
  say(message: string, exitCode = 0): number {
    this.progress.end()
    this.terminal.printError(`dmarc-understudy: ${printable(message.replaceAll(/\s*\n\s*/g, ' '))}`)
    return exitCode
  }

  /**
   * Delivers the report, and resolves to the exit code. It may go to a pipe without a reader, so a signal ends the
   * program from now on.
   */
  deliver(report: Report, targets: readonly ReportTarget[]): Promise<number> {
    this.end()
    return deliverReport(report, targets, this.terminal)
  }

  /** Says the summary of a report that has nothing else, and delivers the report. */
  refuse(report: Report, targets: readonly ReportTarget[]): Promise<number> {
    this.say(`${this.name}: ${report.summary}`)
    this.end()
    return deliverReport(report, targets, this.terminal, true)
  }

  /** Removes the progress, and restores the default effect of signals. */
  end(): void {
    this.progress.end()
    this.#stopListening()
  }
}

/**
 * Executes the work of a command, which resolves to the exit code. `isOver` is that of `Execution`;
 * `exitsWith`: the id of a process whose end counts as a signal.
 */
export async function execute(
  name: string,
  terminal: DiscreetTerminal,
  work: (execution: Execution) => Promise<number>,
  { isOver = true, exitsWith }: { isOver?: boolean; exitsWith?: number | undefined } = {},
): Promise<number> {
  const execution = new Execution(name, terminal, isOver)
  for (const ended of terminal.untilEnded(exitsWith)) void ended.then(() => execution.receive('SIGTERM'))
  try {
    return await work(execution)
  } catch (error) {
    if (error instanceof Interrupted)
      return execution.say(`${name}: ${error.message}; there is no report`, exitCodeAfter(error))
    throw error
  } finally {
    execution.end()
  }
}

/** The exit code that a shell reports for a program that was told to stop. */
function exitCodeAfter({ by }: Interrupted): number {
  return 128 + constants.signals[by]
}
