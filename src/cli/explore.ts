import { type Contract, loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import type { FaultRule } from '../domain/faults.ts'
import { loadFaultSets } from '../faults/fault-sets.ts'
import { loadRuleCheck } from '../faults/rule-check.ts'
import { parseJson } from '../ground/json.ts'
import { printable, shorten } from '../ground/show.ts'
import { type Options, readDuration, someOf, text, timeLimit, type Values, wholeNumber } from '../server/option.ts'
import type { Exploration } from '../trials/explore/exploration.ts'
import type { ExploreTerms } from '../trials/explore/report.ts'
import { tellingLines } from '../trials/output.ts'
import type { RunBounds } from '../trials/runner.ts'
import { defineCommand, type Reading, withoutOptions } from './command.ts'
import { type Execution, execute } from './execution.ts'
import { UsageError } from './options.ts'
import { REPORT_OPTIONS } from './reports.ts'
import { BASELINE_OPTIONS, type Known, openBaseline } from './review.ts'
import { withServerOptions } from './start.ts'
import { JOBS, millisecondsOf, SEPARATE_TRIAL_OPTIONS, WINDOW, windowOf } from './trial-options.ts'

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
    help: 'Maximum number of starts of the command, those without faults included.',
    defaultText: 'as often as the budget allows',
  },
  replay: {
    kind: text,
    placeholder: 'RULES',
    help: 'Run the command once with these faults: a list of fault rules as JSON, or what --faults takes.',
  },
  failOn: {
    kind: someOf(['findings', 'inconclusive', 'gave-up']),
    help: 'Reasons to fail: findings, which always are a reason; a search without a result; a command that gave up after a fault.',
    default: ['findings', 'inconclusive'],
  },
  ...BASELINE_OPTIONS,
} as const satisfies Options

const OPTIONS = {
  ...SEPARATE_TRIAL_OPTIONS,
  timeout: {
    ...SEPARATE_TRIAL_OPTIONS.timeout,
    defaultText: 'no limit without faults, then about three times the duration without faults',
  },
  ...SEARCH_OPTIONS,
  window: {
    ...WINDOW.window,
    help: 'Length of a shortened quota window. explore itself tries a longer one, too, where the command survives a 429.',
    defaultText: '2s',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

export const explore = defineCommand(
  'explore',
  OPTIONS,
  async (reading, terminal) => {
    const known = await openBaseline(reading, [])
    return execute('explore', terminal, (execution) => searchFaults(reading, known, execution), reading.values)
  },
  'a command',
)

/** Looks for faults that break the command, or runs it with those of a plan. Resolves to the exit code. */
async function searchFaults(reading: Reading<typeof OPTIONS>, known: Known, execution: Execution): Promise<number> {
  const { values, words, command, sources } = reading
  const { ExploreSession, SHORT_WINDOW } = await import('../trials/explore/session.ts')
  const { FaultSearch } = await import('../trials/explore/search.ts')
  const overlays = await readOverlays(values.overlays)
  const contractWith = (longestWindow: number) => loadContract({ overlays, longestWindow })
  const window = windowOf(values.window, sources.window) ?? SHORT_WINDOW
  const contract = await contractWith(window)
  const plan = values.replay === undefined ? undefined : await readPlan(values.replay, contract)
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
    const faultless = await session.establish()
    if (typeof faultless === 'string') return execution.say(faultless, execution.times.interruptedWith ?? 1)
    const search = new FaultSearch(session, faultless)
    const found = plan === undefined ? await search.search() : await search.replay(plan)
    const times = execution.times
    const isWhole = () => found.left === 0 && times.interruptedWith === undefined
    const code = await tell(found, values.report, execution, {
      ...{ command, runs: session.runs, pace: session.pace, window, ...times },
      options: withoutOptions(words, { ...SEARCH_OPTIONS, ...WINDOW, ...REPORT_OPTIONS }),
      failsOnGaveUp: values.failOn.includes('gave-up'),
      failsIfInconclusive: values.failOn.includes('inconclusive'),
      countsRuns: values.runs !== undefined,
      isStable: faultless.isStable,
      known: known.apply(found.findings, isWhole),
      ...{ redact: terminal.redact, writeCommandLine: terminal.writeCommandLine },
    })
    return plan === undefined ? execution.keep(code, () => known.update(found.findings, isWhole)) : code
  })
}

/** The fault rules of `--replay`, which may also be one rule. @throws UsageError, FaultSetError */
async function readPlan(given: string, contract: Contract): Promise<readonly FaultRule[]> {
  const check = await loadRuleCheck(contract)
  if (!/^\s*[[{]/.test(given)) return (await loadFaultSets(given, check)).flatMap(({ rules }) => rules)
  const source = `--replay ${shorten(given)}`
  const parsed = parseJson(given, (reason) => new UsageError(`${source}: ${reason}`)) as FaultRule[] | FaultRule
  const plan = Array.isArray(parsed) ? parsed : [parsed]
  const most = check.limits.faultsPerAccount
  if (plan.length < 1 || plan.length > most) throw new UsageError(`${source}: must have 1 to ${most} fault rules`)
  for (const [index, rule] of plan.entries()) {
    const problem = check.findProblem(rule, `/${index}`)
    if (problem !== undefined) throw new UsageError(`${source}#${problem.pointer}: ${problem.message}`)
  }
  return plan
}

/** How many findings are printed with all their requests. */
const STORIES = 3

/** Prints the stories of the first findings, and then the summary. */
async function tell(
  found: Exploration,
  targets: Values<typeof REPORT_OPTIONS>['report'],
  execution: Execution,
  terms: ExploreTerms,
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
    const output = tellingLines(observation.end.output, terms.redact)
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
