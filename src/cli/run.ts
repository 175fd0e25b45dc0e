import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { type Options, optIn, someOf, wholeNumber } from '../server/option.ts'
import { exitCodeOf } from '../trials/command.ts'
import { describeRun, FAILURES } from '../trials/run-report.ts'
import { runTrial, type Trial, type TrialResult } from '../trials/trial.ts'
import { defineCommand, type Reading } from './command.ts'
import { type Execution, execute } from './execution.ts'
import { UsageError } from './options.ts'
import { openReadyFile } from './ready-file.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { describeStart, withServerOptions } from './start.ts'
import { millisecondsOf, TRIAL_OPTIONS, WINDOW, windowOf } from './trial-options.ts'

const OPTIONS = {
  ...TRIAL_OPTIONS,
  ...WINDOW,
  failOn: {
    kind: someOf(FAILURES),
    help: 'Reasons to fail although the command succeeds: a request that violates the contract, no request at all, impoliteness such as a retry without a pause.',
    default: ['violation', 'idle'],
  },
  minCoverage: {
    kind: wholeNumber(0, 100),
    placeholder: 'PERCENT',
    help: 'Fail if the command saw a smaller share of the responses, by operation, status and code, that a client can cause.',
  },
  keep: optIn(
    'Keep the server after the command until the program is told to stop, so that the dashboard can show each request.',
  ),
  ...REPORT_OPTIONS,
} as const satisfies Options

const KEY_UNKNOWN =
  'only the hash of the key is kept, so the command cannot be given the key of the account; give --api-key'

export const run = defineCommand(
  'run',
  OPTIONS,
  async (reading, terminal) => {
    const { values, command } = reading
    await checkFiles(values.report)
    async function work(execution: Execution): Promise<number> {
      async function report(result: TrialResult): Promise<number> {
        const { end } = result
        if (end.timedOut) execution.say(`the command ran longer than ${values.timeout} and was ended (--timeout)`)
        if (end.hasLeftBehind) execution.say('the command left processes behind, which were ended')
        const described = describeRun({ command, ...execution.times, result, ...values })
        const delivered = await execution.deliver(described, values.report)
        // The exit code of a failed command takes precedence.
        return exitCodeOf(end) === 0 ? delivered : described.exitCode
      }
      if (!values.keep) return report(await runOnce(reading, execution))
      let exitCode = 0
      let isStopped = false
      // A signal that ends the command also ends the program: whoever sent it, such as a CI, sends no second one.
      const stopped = terminal.untilStopped().then(() => {
        isStopped = true
      })
      await runOnce(reading, execution, async (result, { adminUrl, baseUrl }) => {
        exitCode = await report(result)
        if (isStopped) return
        const place = adminUrl === undefined ? baseUrl : `${adminUrl}/`
        execution.say(`the server stays until you stop the program, for example with Ctrl-C: ${place}`)
        await stopped
      })
      return exitCode
    }
    return execute('run', terminal, work, { ...values, isOver: false })
  },
  'a command',
)

/** Runs the command against a new server that is discarded afterwards, or as soon as `served` resolves. */
async function runOnce(
  reading: Reading<typeof OPTIONS>,
  { terminal, signal, onSignal }: Execution,
  served?: Trial['served'],
): Promise<TrialResult> {
  const { values, sources, command } = reading
  const longestWindow = windowOf(values.window, sources.window)
  const overlays = await readOverlays(values.overlays)
  const contract = longestWindow === undefined ? undefined : await loadContract({ overlays, longestWindow })
  const readyFile = openReadyFile(reading)
  return withServerOptions(reading, terminal, async (options) => {
    try {
      return await runTrial({
        ...{ name: 'run', command, options, contract, signal, onSignal, served },
        environment: terminal.environment,
        variables: values.setEnv,
        timeout: millisecondsOf(values.timeout),
        inherits: true,
        onlyJudges: true,
        serving(service) {
          if (service.apiKey === undefined)
            throw new UsageError(`${values.store === undefined ? sources.data : sources.store}: ${KEY_UNKNOWN}`)
          for (const line of describeStart(service, reading)) terminal.printError(`dmarc-understudy: ${line}`)
          readyFile.write(service)
        },
      })
    } finally {
      readyFile.remove()
    }
  })
}
