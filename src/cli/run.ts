import { constants } from 'node:os'
import { systemClock } from '../ground/clock.ts'
import { printable } from '../ground/show.ts'
import { type Options, readDuration, someOf, wholeNumber } from '../start/option.ts'
import { pickServerOptions, refuseContradictions } from '../start/option-table.ts'
import { exitCodeOf } from '../trials/command.ts'
import { describeRun, FAILURES } from '../trials/run-report.ts'
import { runTrial, type TrialResult } from '../trials/trial.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { type ReadOptions, readOptions } from './options.ts'
import { ReadyFile, readyFactsOf } from './ready-file.ts'
import { checkReports, deliverReport, loadReporting, REPORT_OPTIONS } from './reports.ts'
import { describeStart, withNamedOptions } from './start.ts'
import type { Terminal } from './terminal.ts'
import { refuseEarlyOperands, splitCommand, TRIAL_OPTIONS } from './trial-options.ts'

const OPTIONS = {
  ...TRIAL_OPTIONS,
  failOn: {
    kind: someOf(FAILURES),
    help: 'Reasons to fail although the command succeeds: a request that violates the contract, no request at all, impoliteness such as a retry without a pause.',
    default: ['violation', 'idle'],
  },
  minCoverage: {
    kind: wholeNumber(0, 100),
    placeholder: 'PERCENT',
    help: 'Fail if the command saw less of the responses, by operation, status and code, that a client can bring about.',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

const KEY_UNKNOWN =
  'only the hash of the key is kept, so the command cannot be given the key of the account; give --api-key'

export const run: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { options, command } = splitCommand('run', args)
    const reading = readOptions(OPTIONS, options, terminal.environment)
    const { values } = reading
    refuseEarlyOperands('run', reading.positionals)
    await checkReports(values.report)
    const startedAt = new Date(systemClock()).toISOString()
    const interruption = new Interruption(terminal, { isOver: false })
    if (values.exitWithParent) void terminal.untilParentEnded().then(() => interruption.receive('SIGTERM'))
    try {
      const result = await runOnce(command, reading, terminal, interruption)
      // A report may go to a pipe without a reader. From here on, a signal ends the program.
      interruption.release()
      const { end } = result
      if (end.timedOut) say(terminal, `the command ran longer than ${values.timeout} and was ended (--timeout)`)
      if (end.leftBehind.length > 0) say(terminal, describeLeftBehind(end.leftBehind))
      const report = describeRun({ command, startedAt, result, ...values })
      const delivered = await deliverReport(report, values.report, terminal)
      // The exit code of a failed command takes precedence.
      return exitCodeOf(end) === 0 ? delivered : report.exitCode
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      say(terminal, `${error.by} came before the command was started`)
      return 128 + constants.signals[error.by]
    } finally {
      interruption.release()
    }
  },
}

/** Runs the command against a new server that is discarded afterwards. */
async function runOnce(
  command: readonly string[],
  reading: ReadOptions<typeof OPTIONS>,
  terminal: Terminal,
  { signal, onSignal }: Interruption,
): Promise<TrialResult> {
  const { values, sources } = reading
  const readyFile = values.readyFile === undefined ? undefined : new ReadyFile(values.readyFile, sources.readyFile)
  const { log, close } = await terminal.openLog(values.logLevel, values.logFormat)
  try {
    return await withNamedOptions(sources, () => {
      const options = pickServerOptions(values)
      refuseContradictions(options, reading.given)
      return runTrial({
        name: 'run',
        command,
        environment: terminal.environment,
        variables: values.setEnv,
        options: { ...options, log },
        timeout: values.timeout === undefined ? undefined : readDuration(values.timeout),
        inherits: true,
        onlyJudges: true,
        signal,
        onSignal,
        waiting: (names) => say(terminal, `processes that the command left behind do not end at once: ${list(names)}`),
        serving(service) {
          if (service.apiKey === undefined)
            throw new UsageError(`${values.store === undefined ? sources.data : sources.store}: ${KEY_UNKNOWN}`)
          for (const line of describeStart(service, reading)) say(terminal, line)
          readyFile?.write(readyFactsOf(service))
          // The command is starting, so this costs the user no time.
          void loadReporting()
        },
      })
    })
  } finally {
    readyFile?.remove()
    await close()
  }
}

/** The most processes that a message names. */
const NAMED = 3

function describeLeftBehind(names: readonly string[]): string {
  return names.length === 1
    ? `the command left a process behind, which was ended: ${list(names)}`
    : `the command left ${names.length} processes behind, which were ended: ${list(names)}`
}

function list(names: readonly string[]): string {
  return `${names.slice(0, NAMED).map(printable).join(', ')}${names.length > NAMED ? ', …' : ''}`
}

function say(terminal: Terminal, line: string): void {
  terminal.printError(`dmarc-understudy: ${line}`)
}
