import { constants } from 'node:os'
import { elapsed, systemClock } from '../ground/clock.ts'
import { printable } from '../ground/show.ts'
import {
  type Options,
  readDuration,
  someOf,
  text,
  timeLimit,
  toggle,
  type Values,
  wholeNumber,
} from '../start/option.ts'
import { pickServerOptions } from '../start/option-table.ts'
import type { Exploration } from '../trials/explore/exploration.ts'
import type { ExploreTerms } from '../trials/explore/report.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { readOptions } from './options.ts'
import { readPlan } from './plan-file.ts'
import { Progress } from './progress.ts'
import { checkReports, deliverReport, REPORT_OPTIONS } from './reports.ts'
import { withNamedOptions } from './start.ts'
import type { Terminal } from './terminal.ts'
import { PARALLEL_OPTIONS, refuseEarlyOperands, splitCommand, TRIAL_OPTIONS } from './trial-options.ts'

export const USUAL_BUDGET = '25s'

const OPTIONS = {
  ...TRIAL_OPTIONS,
  ...PARALLEL_OPTIONS,
  budget: {
    kind: timeLimit,
    help: 'Time limit of the search for faults that break the command.',
    defaultText: `${USUAL_BUDGET}; with --runs, no limit`,
  },
  runs: {
    kind: wholeNumber(1, 1_000_000),
    help: 'The maximum number of starts of the command, the baseline included.',
    defaultText: 'as often as the budget allows',
  },
  replay: {
    kind: text,
    placeholder: 'PLAN',
    help: 'Run the command once with the faults of PLAN: a file with fault rules, a finding or a report; or their JSON.',
  },
  failOn: { kind: someOf(['gave-up']), help: 'Also fail when the command gave up after a fault.' },
  scaleWindows: {
    kind: toggle,
    hasOpposite: true,
    help: 'Shorten quota windows to 2 s, so that a client that waits for a reset does not take an hour.',
    defaultText: 'on',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

/** Options that do not change a trial. The line that replays a finding omits them. */
const OF_THE_SEARCH = ['budget', 'runs', 'jobs', 'replay', 'fail-on', 'report']

export const explore: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const started = elapsed()
    const { options, command } = splitCommand('explore', args)
    const reading = readOptions(OPTIONS, options, terminal.environment)
    const { values, sources, given } = reading
    refuseEarlyOperands('explore', reading.positionals)
    for (const name of ['data', 'store'] as const) {
      if (given.has(name))
        throw new UsageError(`${sources[name]}: each trial begins with accounts of its own; leave it out`)
    }
    if (values.port !== 0 && values.jobs > 1) {
      throw new UsageError(`${sources.port}: trials at the same time need a port each; leave it out, or use --jobs 1`)
    }
    if (given.has('readyFile'))
      throw new UsageError(`${sources.readyFile}: each trial has a server of its own; leave it out`)
    await checkReports(values.report)
    const { shortenWindows, longestWindow, SHORT_WINDOW } = await import('../trials/explore/windows.ts')
    const seconds = values.scaleWindows === false ? Number.POSITIVE_INFINITY : SHORT_WINDOW
    const contract = await shortenWindows(values.overlays, seconds)
    const plan = values.replay === undefined ? undefined : await readPlan(values.replay, contract)
    const { openSession } = await import('../trials/explore/session.ts')
    const startedAt = new Date(systemClock()).toISOString()
    const progress = new Progress(terminal)
    const interruption = new Interruption(terminal, { isOver: true })
    const { log, close } = await terminal.openLog(values.logLevel, values.logFormat)
    const { onSignal, signal } = interruption
    const session = openSession({
      command,
      environment: terminal.environment,
      variables: values.setEnv,
      options: { ...pickServerOptions(values), log },
      contract,
      jobs: values.jobs,
      timeout: values.timeout === undefined ? undefined : readDuration(values.timeout),
      window: longestWindow(contract),
      isScaled: values.scaleWindows !== false,
      runs: values.runs,
      milliseconds: leftOf(budgetOf(values, plan !== undefined), started),
      stop: signal,
      onSignal,
      watch: (words) => progress.show(`explore: ${words}`),
    })
    if (values.exitWithParent) void terminal.untilParentEnded().then(() => interruption.receive('SIGTERM'))
    try {
      return await withNamedOptions(sources, async () => {
        const baseline = await session.establish()
        if (typeof baseline === 'string') {
          progress.end()
          terminal.printError(`dmarc-understudy: ${baseline}`)
          return exitCodeAfter(signal) ?? 1
        }
        const found = plan === undefined ? await session.explore(baseline) : await session.replay(plan, baseline)
        progress.end()
        const terms: ExploreTerms = {
          command,
          options: withoutSearch(options),
          runs: session.runs,
          jobs: values.jobs,
          scaledWindow: values.scaleWindows === false ? undefined : SHORT_WINDOW,
          isStable: baseline.isStable,
          interruptedWith: exitCodeAfter(signal),
          startedAt,
          seconds: (elapsed() - started) / 1000,
          failsOnGaveUp: values.failOn !== undefined,
        }
        return tell(found, terms, values.report, terminal)
      })
    } finally {
      progress.end()
      session.end()
      interruption.release()
      await close()
    }
  },
}

/** The exit code that a shell reports for a program that was told to stop. */
function exitCodeAfter({ aborted, reason }: AbortSignal): number | undefined {
  if (!aborted) return undefined
  return 128 + (reason instanceof Interrupted ? constants.signals[reason.by] : constants.signals.SIGTERM)
}

/** How many findings are printed with all their requests. */
export const STORIES = 3

/** Prints the stories of the first findings, and then the summary. */
async function tell(
  found: Exploration,
  terms: ExploreTerms,
  targets: Parameters<typeof deliverReport>[1],
  terminal: Terminal,
): Promise<number> {
  const { modelExploration, reportExploration } = await import('../trials/explore/report.ts')
  const { tellStory, wordStory } = await import('../trials/explore/story.ts')
  const report = reportExploration(found, terms)
  const stories =
    found.replayed === undefined
      ? report.findings.map(({ verdict, operation, story }) => ({ title: `${verdict} at ${operation}`, story }))
      : [{ title: found.replayed.verdict, story: tellStory(found.replayed.observation) }]
  for (const { title, story } of stories.slice(0, STORIES)) {
    terminal.printError(`${title}:`)
    for (const line of story) terminal.printError(`  ${printable(wordStory(line))}`)
    terminal.printError('')
  }
  return deliverReport(modelExploration(report, terms, found.replayed?.verdict), targets, terminal)
}

/** In milliseconds. By default there is no time limit if runs are counted, or if a single plan is run. */
function budgetOf(
  { budget, runs }: Pick<Values<typeof OPTIONS>, 'budget' | 'runs'>,
  isReplay: boolean,
): number | undefined {
  if (budget !== undefined) return readDuration(budget)
  return runs !== undefined || isReplay ? undefined : readDuration(USUAL_BUDGET)
}

/** The rest of a duration that began at `started`. */
function leftOf(milliseconds: number | undefined, started: number): number | undefined {
  return milliseconds === undefined ? undefined : Math.max(0, milliseconds - (elapsed() - started))
}

/** The arguments without the options of the search. */
function withoutSearch(args: readonly string[]): string[] {
  return args.filter((argument, index) => !isOfSearch(argument) && !isValueOfSearch(args[index - 1], argument))
}

function isOfSearch(argument: string): boolean {
  return OF_THE_SEARCH.some((name) => argument === `--${name}` || argument.startsWith(`--${name}=`))
}

function isValueOfSearch(previous: string | undefined, argument: string): boolean {
  return previous !== undefined && !previous.includes('=') && isOfSearch(previous) && !argument.startsWith('--')
}
