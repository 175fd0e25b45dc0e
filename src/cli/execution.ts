import { constants } from 'node:os'
import { EvidenceError } from '../evidence/evidence-input.ts'
import { printable } from '../ground/show.ts'
import { elapsed, RealDate, systemClock } from '../ground/timers.ts'
import type { CommandTimes, Report } from '../reports/report.ts'
import type { ReportTarget } from '../reports/targets.ts'
import { Progress } from './progress.ts'
import { deliverReport, NOT_WRITTEN } from './reports.ts'
import type { DiscreetTerminal, StopSignal } from './terminal.ts'

type Listener = (signal: StopSignal) => void

/** The reason of an abort: a signal told the program to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  /** The exit code that a shell reports for a program that was told to stop. */
  readonly exitCode: number

  constructor(by: StopSignal) {
    super(`stopped by ${by}`)
    this.exitCode = 128 + constants.signals[by]
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
    const interruptedWith = reason instanceof Interrupted ? reason.exitCode : undefined
    return { startedAt: this.#startedAt, seconds: Math.round(this.duration) / 1000, interruptedWith }
  }

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
   * program from now on. `isSaid`: the user has read its summary already, which is all that it has to say.
   */
  deliver(report: Report, targets: readonly ReportTarget[], isSaid = false): Promise<number> {
    this.end()
    return deliverReport(report, targets, this.terminal, isSaid)
  }

  /** Writes a file at the end. Resolves to `code`, or to 3 if that fails: the other files are written all the same. */
  async keep(code: number, write: () => Promise<void>): Promise<number> {
    try {
      await write()
      return code
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error
      return this.say(`${this.name}: ${error.message}`, NOT_WRITTEN)
    }
  }

  /** Removes the progress, and restores the default effect of signals. */
  end(): void {
    this.progress.end()
    this.#stopListening()
  }
}

/**
 * Executes the work of a command, which resolves to the exit code. `isOver` is that of `Execution`;
 * `exitWith`: the id of a process whose end counts as a signal.
 */
export async function execute(
  name: string,
  terminal: DiscreetTerminal,
  work: (execution: Execution) => Promise<number>,
  { isOver = true, exitWith }: { isOver?: boolean; exitWith?: number | undefined } = {},
): Promise<number> {
  const execution = new Execution(name, terminal, isOver)
  for (const ended of terminal.untilEnded(exitWith)) void ended.then(() => execution.receive('SIGTERM'))
  try {
    return await work(execution)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return execution.say(`${name}: ${error.message}; there is no report`, error.exitCode)
  } finally {
    execution.end()
  }
}
