import { existsSync } from 'node:fs'
import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import {
  applyBaseline,
  type Baseline,
  dayOf,
  readBaseline,
  updateBaseline,
  writeBaseline,
} from '../evidence/baseline.ts'
import { EvidenceError } from '../evidence/evidence-input.ts'
import { systemClock } from '../ground/clock.ts'
import { printable } from '../ground/show.ts'
import type { ReportTarget } from '../reports/targets.ts'
import {
  fileName,
  type Options,
  optIn,
  readDuration,
  someOf,
  text,
  timeLimit,
  toggle,
  type Values,
  wholeNumber,
} from '../server/option.ts'
import type { ExploreTerms } from '../trials/explore/report.ts'
import type { Exploration } from '../trials/explore/search.ts'
import { lastLines } from '../trials/output.ts'
import type { RunBounds } from '../trials/runner.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { type Execution, execute } from './execution.ts'
import { readReplay } from './plan-file.ts'
import { checkFiles, NOT_WRITTEN, REPORT_OPTIONS } from './reports.ts'
import { withServerOptions } from './start.ts'
import {
  JOBS,
  millisecondsOf,
  type ReadTrial,
  readTrial,
  SEPARATE_TRIAL_OPTIONS,
  WINDOW,
  windowOf,
  withoutOptions,
} from './trial-options.ts'

/** The time for everything by default, and how long the tiers on which the result rests may take. */
const USUAL_BUDGET = { optional: '1m', needed: '10m' } as const

/** Options that do not change a trial. The line that replays a finding omits them. */
const SEARCH_OPTIONS = {
  ...JOBS,
  budget: {
    kind: timeLimit,
    help: 'Time limit of the search for faults that break the command.',
    defaultText: `${USUAL_BUDGET.optional}, or as long as the first two tiers take and each other fault once, up to ${USUAL_BUDGET.needed}; with --runs, no limit`,
  },
  runs: {
    kind: wholeNumber(1, 1_000_000),
    help: 'Maximum number of starts of the command, the baseline included.',
    defaultText: 'as often as the budget allows',
  },
  replay: {
    kind: text,
    placeholder: 'PLAN',
    help: 'Run the command once with the faults of PLAN: a file with fault rules, a finding or a report; or their JSON.',
  },
  failOn: {
    kind: someOf(['findings', 'inconclusive', 'gave-up']),
    help: 'Reasons to fail: findings, which always are a reason; a search that was too short for a result; a command that gave up after a fault.',
    default: ['findings', 'inconclusive'],
  },
  baseline: {
    kind: fileName,
    help: 'JSON file of known findings that do not count, each with a reason, and perhaps with a last day.',
  },
  updateBaseline: optIn(
    'Write the findings of this run to the file of --baseline. A finding that is gone is removed from the file only if everything was tried.',
  ),
} as const satisfies Options

const OPTIONS = {
  ...SEPARATE_TRIAL_OPTIONS,
  ...SEARCH_OPTIONS,
  scaleWindows: {
    kind: toggle,
    help: 'Shorten quota windows, so that a client that waits for a reset does not take an hour.',
    defaultText: 'on',
  },
  window: {
    ...WINDOW.window,
    help: 'Length of a shortened quota window. explore itself tries a longer one, too, where the command survives a 429.',
    defaultText: '2s, or that of the finding in --replay',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

export const explore: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readTrial('explore', OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    const { baseline, report, updateBaseline: isUpdated } = values
    if (values.port !== 0 && values.jobs > 1) {
      throw new UsageError(`${sources.port}: trials at the same time need a port each; leave it out, or --jobs`)
    }
    if (values.window !== undefined && values.scaleWindows === false) {
      throw new UsageError(`${sources.window}: quota windows keep their length with --no-scale-windows; leave one out`)
    }
    if (isUpdated && baseline === undefined)
      throw new UsageError('--update-baseline: needs --baseline FILE, which it writes')
    await checkFiles(report, [{ source: sources.baseline, file: baseline, isRead: !isUpdated }])
    return execute('explore', terminal, (execution) => searchFaults(reading, execution), {
      exitsWith: values.exitWith,
    })
  },
}

/** Looks for faults that break the command, or runs it with those of a plan. Resolves to the exit code. */
async function searchFaults(reading: ReadTrial<typeof OPTIONS>, execution: Execution): Promise<number> {
  const { values, words, command } = reading
  const { ExploreSession, SHORT_WINDOW } = await import('../trials/explore/session.ts')
  const known = await readKnown(values)
  const overlays = await readOverlays(values.overlays)
  const contractWith = (longestWindow: number) => loadContract({ overlays, longestWindow })
  const replayed =
    values.replay === undefined
      ? undefined
      : await readReplay(values.replay, await contractWith(Number.POSITIVE_INFINITY))
  const given = windowOf(values.window, reading.sources.window) ?? replayed?.window
  const window = values.scaleWindows === false ? undefined : (given ?? SHORT_WINDOW)
  const contract = await contractWith(window ?? Number.POSITIVE_INFINITY)
  const { terminal, onSignal, signal: stop } = execution
  const { runs, jobs } = values
  const { milliseconds, optional } = budgetOf(values)
  const rest = (time: number | undefined) => (time === undefined ? undefined : Math.max(0, time - execution.duration))
  return withServerOptions(reading, terminal, async (options) => {
    const session = new ExploreSession({
      ...{ command, contract, contractWith, options, window, runs, jobs, stop, onSignal },
      redact: terminal.redact,
      environment: terminal.environment,
      variables: values.setEnv,
      timeout: millisecondsOf(values.timeout),
      milliseconds: rest(milliseconds),
      optional: rest(optional),
      watch: (text) => execution.show(text),
    })
    const baseline = await session.establish()
    if (typeof baseline === 'string') return execution.say(baseline, execution.times.interruptedWith ?? 1)
    const found =
      replayed === undefined ? await session.explore(baseline) : await session.replay(replayed.plan, baseline)
    const times = execution.times
    const isWhole = found.left === 0 && times.interruptedWith === undefined
    const terms: ExploreTerms = {
      ...{ command, runs: session.runs, pace: session.pace, window, ...times },
      options: withoutOptions(words, { ...SEARCH_OPTIONS, ...WINDOW, ...REPORT_OPTIONS }),
      failsOnGaveUp: values.failOn.includes('gave-up'),
      failsIfInconclusive: values.failOn.includes('inconclusive'),
      countsRuns: values.runs !== undefined,
      isStable: baseline.isStable,
      known: known && applyBaseline(found.findings, () => isWhole, known, dayOf(systemClock())),
      ...{ redact: terminal.redact, writeCommandLine: terminal.writeCommandLine },
    }
    const code = await tell(found, terms, values.report, execution)
    const { baseline: file } = values
    if (!values.updateBaseline || file === undefined || replayed !== undefined) return code
    return await writeKnown(
      file,
      updateBaseline(found.findings, () => isWhole, known),
      code,
      execution,
    )
  })
}

/** The known findings; `undefined` without `--baseline`. The file may be missing if it is to be written. */
async function readKnown({
  baseline,
  updateBaseline: isUpdated,
}: Values<typeof OPTIONS>): Promise<Baseline | undefined> {
  if (baseline === undefined) return undefined
  return isUpdated && !existsSync(baseline) ? { findings: [] } : readBaseline(baseline)
}

async function writeKnown(file: string, known: Baseline, code: number, execution: Execution): Promise<number> {
  try {
    await writeBaseline(file, known)
    return code
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error
    return execution.say(`explore: ${error.message}`, NOT_WRITTEN)
  }
}

/** How many findings are printed with all their requests. */
const STORIES = 3

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
    const story = tellStory(observation).map(wordStory)
    const output = lastLines(observation.end.output, terms.redact)
    const printed = output === '' ? [] : ['It printed:', ...output.split('\n').map((line) => `  ${line}`)]
    const lines = [...story, ...printed].map((line) => `  ${printable(line)}`)
    for (const line of [`${title}:`, ...lines, '']) execution.terminal.printError(line)
  }
  return execution.deliver(describeExploration(found, terms), targets)
}

/** In milliseconds. By default there is no time limit if runs are counted, or if a single plan is run. */
function budgetOf({ budget, runs, replay }: Values<typeof OPTIONS>): Pick<RunBounds, 'milliseconds' | 'optional'> {
  if (budget !== undefined) return { milliseconds: readDuration(budget) }
  if (runs !== undefined || replay !== undefined) return {}
  return { milliseconds: readDuration(USUAL_BUDGET.needed), optional: readDuration(USUAL_BUDGET.optional) }
}
