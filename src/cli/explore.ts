import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { printable } from '../ground/show.ts'
import type { ReportTarget } from '../reports/targets.ts'
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
import type { Exploration } from '../trials/explore/exploration.ts'
import type { ExploreTerms } from '../trials/explore/report.ts'
import { SWITCHES, searchOrders } from './beside.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { type Execution, execute } from './execution.ts'
import { readPlan } from './plan-file.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { withServerOptions } from './start.ts'
import {
  millisecondsOf,
  PARALLEL_OPTIONS,
  type ReadTrial,
  readTrial,
  SEPARATE_TRIAL_OPTIONS,
  withoutOptions,
} from './trial-options.ts'

export const USUAL_BUDGET = '25s'

/** Options that do not change a trial. The line that replays a finding omits them. */
const SEARCH_OPTIONS = {
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
  switches: {
    kind: wholeNumber(0, 1_000),
    help: 'With --beside: how often the turn may go to the other command before the one under way has ended.',
    defaultText: `${SWITCHES}`,
  },
  failOn: { kind: someOf(['gave-up']), help: 'Also fail when the command gave up after a fault.' },
} as const satisfies Options

const OPTIONS = {
  ...SEPARATE_TRIAL_OPTIONS,
  beside: {
    kind: text,
    placeholder: 'COMMAND2',
    help: 'Run COMMAND2, a line for a shell, beside COMMAND against one account, and look for an order of their requests that breaks them.',
  },
  ...SEARCH_OPTIONS,
  scaleWindows: {
    kind: toggle,
    hasOpposite: true,
    help: 'Shorten quota windows to 2 s, so that a client that waits for a reset does not take an hour.',
    defaultText: 'on',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

export const explore: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readTrial('explore', OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    if (values.port !== 0 && values.jobs > 1) {
      throw new UsageError(`${sources.port}: trials at the same time need a port each; leave it out, or use --jobs 1`)
    }
    if (values.switches !== undefined && values.beside === undefined) {
      throw new UsageError(
        '--switches: has a meaning only with --beside, for the orders of the requests of two commands',
      )
    }
    await checkFiles(values.report)
    const search = (execution: Execution) =>
      values.beside === undefined ? searchFaults(reading, execution) : searchBeside(reading, values.beside, execution)
    return execute('explore', terminal, search, { exitsWithParent: values.exitWithParent })
  },
}

/** Looks for faults that break the command, or runs it with those of a plan. Resolves to the exit code. */
async function searchFaults(reading: ReadTrial<typeof OPTIONS>, execution: Execution): Promise<number> {
  const { values, words, command } = reading
  const { ExploreSession, SHORT_WINDOW } = await import('../trials/explore/session.ts')
  const isScaled = values.scaleWindows !== false
  const overlays = await readOverlays(values.overlays)
  const contract = await loadContract({ overlays, longestWindow: isScaled ? SHORT_WINDOW : Number.POSITIVE_INFINITY })
  const plan = values.replay === undefined ? undefined : await readPlan(values.replay, contract)
  const { terminal, onSignal, signal: stop } = execution
  const budget = budgetOf(values)
  const { jobs, runs } = values
  return withServerOptions(reading, terminal, async (options) => {
    const session = new ExploreSession({
      ...{ command, contract, options, jobs, isScaled, runs, stop, onSignal },
      environment: terminal.environment,
      variables: values.setEnv,
      timeout: millisecondsOf(values.timeout),
      milliseconds: budget === undefined ? undefined : Math.max(0, budget - execution.duration),
      watch: (text) => execution.show(text),
    })
    try {
      const baseline = await session.establish()
      if (typeof baseline === 'string') return execution.say(baseline, execution.times.interruptedWith ?? 1)
      const found = plan === undefined ? await session.explore(baseline) : await session.replay(plan, baseline)
      const terms: ExploreTerms = {
        ...{ command, jobs, ...execution.times },
        options: withoutOptions(words, { ...SEARCH_OPTIONS, ...REPORT_OPTIONS }),
        runs: session.runs,
        scaledWindow: isScaled ? SHORT_WINDOW : undefined,
        isStable: baseline.isStable,
        failsOnGaveUp: values.failOn !== undefined,
      }
      return await tell(found, terms, values.report, execution)
    } finally {
      session.end()
    }
  })
}

/** Looks for an order of the requests of both commands that breaks them. Resolves to the exit code. */
async function searchBeside(reading: ReadTrial<typeof OPTIONS>, beside: string, execution: Execution): Promise<number> {
  const { values, words, command } = reading
  const { jobs, runs, overlays, replay } = values
  const { SHORT_WINDOW } = await import('../trials/explore/session.ts')
  return withServerOptions(reading, execution.terminal, (options) =>
    searchOrders(
      {
        ...{ command, beside, options, jobs, runs, overlays, replay },
        variables: values.setEnv,
        switches: values.switches ?? SWITCHES,
        timeout: millisecondsOf(values.timeout),
        milliseconds: budgetOf(values),
        longestWindow: values.scaleWindows === false ? Number.POSITIVE_INFINITY : SHORT_WINDOW,
        failOn: ['inconclusive', ...(values.failOn ?? [])],
        words: withoutOptions(words, { ...SEARCH_OPTIONS, ...REPORT_OPTIONS }),
        targets: values.report,
      },
      execution,
    ),
  )
}

/** How many findings are printed with all their requests. */
export const STORIES = 3

/** Prints the stories of the first findings, and then the summary. */
async function tell(
  found: Exploration,
  terms: ExploreTerms,
  targets: readonly ReportTarget[],
  execution: Execution,
): Promise<number> {
  const { describeExploration } = await import('../trials/explore/report.ts')
  const { tellStory, wordStory } = await import('../trials/explore/story.ts')
  const stories =
    found.replayed === undefined
      ? found.findings.map((each) => ({ ...each, title: `${each.verdict} at ${each.operation}` }))
      : [{ ...found.replayed, title: found.replayed.verdict }]
  execution.progress.end()
  for (const { title, observation } of stories.slice(0, STORIES)) {
    const lines = tellStory(observation).map((line) => `  ${printable(wordStory(line))}`)
    for (const line of [`${title}:`, ...lines, '']) execution.terminal.printError(line)
  }
  return execution.deliver(describeExploration(found, terms), targets)
}

/** In milliseconds. By default there is no time limit if runs are counted, or if a single plan is run. */
function budgetOf({ budget, runs, replay }: Values<typeof OPTIONS>): number | undefined {
  if (budget !== undefined) return readDuration(budget)
  return runs !== undefined || replay !== undefined ? undefined : readDuration(USUAL_BUDGET)
}
