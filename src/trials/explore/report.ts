import { pointerOf } from '../../contract/api.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { AppliedBaseline } from '../../evidence/baseline.ts'
import { nameSome, plural } from '../../ground/show.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import {
  type CommandTimes,
  type Finding,
  listFacts,
  type Report,
  type ReportRule,
  type Row,
} from '../../reports/report.ts'
import { findFailedTests, tellingLines } from '../output.ts'
import { type Exploration, type FailingPlan, isComplete, openIn, type PlanAt } from './exploration.ts'
import { canonical, TIERS, type Tier } from './faults.ts'
import { SHORT_WINDOW } from './session.ts'
import { type StoryLine, tellStory, wordStory } from './story.ts'
import type { ExploreFailure } from './verdict.ts'

interface ReportedFailure extends Omit<FailingPlan, 'observation'> {
  story: readonly StoryLine[]
  /** The end of what the command printed, if it printed anything, and the tests that it says have failed. */
  output?: string
  tests?: readonly string[]
  /** A command line for a POSIX shell. */
  replay: string
  /** Why the user has accepted it. */
  accepted?: string
}

export interface ExploreTerms extends CommandTimes {
  command: readonly string[]
  /** The options that a replay also needs, as words. */
  options: readonly string[]
  /** How often the command was started, including those without faults, and the seconds for one start. */
  runs: number
  pace: number
  /** Whether the number of runs was limited, and not the time. */
  countsRuns: boolean
  /** The length of a shortened quota window, in seconds. */
  window: number | undefined
  /** Whether runs without a fault have the same effects. If not, only exit codes were judged. */
  isStable: boolean
  failsOnGaveUp: boolean
  failsIfInconclusive: boolean
  known: AppliedBaseline
  redact: Redact
  /** The line of a shell that starts this program with these words, without secrets. */
  writeCommandLine(words: readonly string[]): string
}

/** By verdict: its name, what a client should do, and what a replay shows. */
const VERDICTS: Readonly<
  Record<ExploreFailure | 'gave up', readonly [name: string, description: string, did: string]>
> = {
  'wrong success': [
    'The command says that all is well, and it is not',
    'A client that ends with 0 has done what it does without faults: no change is lost, and none is made twice.',
    'said that all is well, and it is not',
  ],
  'false failure': [
    'The command says that it failed, and everything is done',
    'A user who is told that nothing was done tries again, or repairs by hand what is right.',
    'said that it failed, and everything is done',
  ],
  hang: [
    'The command does not end',
    'A client waits for a response only for some time, and tries again only so many times.',
    'did not end',
  ],
  crash: [
    'The command crashes',
    'A client handles every answer that the service may give, and a connection that fails.',
    'crashed',
  ],
  storm: [
    'The command sends a storm of requests',
    'A client waits before it tries again, and after a 429 until the instant in X-RateLimit-Reset.',
    'sent a storm of requests',
  ],
  'gave up': [
    'The command gave up',
    'The command failed, and said so. A client that tries again would survive faults that pass.',
    'gave up: it failed, and said so',
  ],
}

function ruleFor(verdict: ExploreFailure | 'gave up'): ReportRule {
  const [name, description] = VERDICTS[verdict]
  return { id: `explore/${verdict.replaceAll(' ', '-')}`, name, description }
}

const INCONCLUSIVE: ReportRule = {
  id: 'explore/inconclusive',
  name: 'Too little was tried or seen',
  description:
    'A client passes if it survives each lost response of its writes, and each refusal that the account can bring about, once for each kind of write. A client that only reads passes if it survives all other faults.',
}
const NEVER_APPLIED: ReportRule = {
  id: 'explore/never-applied',
  name: 'A fault of the plan never applied',
  description: 'A plan shows something of a client only when its faults meet the requests that they are for.',
}

/** The names of the tiers, as the end of a sentence that begins with a number. */
const TIER_WORDS: Readonly<Record<Tier, string>> = {
  [TIERS.lostWrites]: 'lost responses of writes',
  [TIERS.account]: 'refusals of writes by what the account holds, and changes by another client',
  [TIERS.limits]: 'quotas that are used up (429)',
  [TIERS.rest]: 'other faults',
}

/** The report of `explore`; `docs/schemas/explore.json` describes its JSON. */
export function describeExploration(found: Exploration, terms: ExploreTerms): Report {
  const { command, runs, window, isStable, failsOnGaveUp, failsIfInconclusive, interruptedWith } = terms
  const { points, tiers, tolerated, gaveUp, flaky, unconfirmed, idle, unmet, left } = found
  const reported = found.findings.map((each) => reportFailure(each, terms))
  const isBroken = reported.some(({ accepted }) => accepted === undefined)
  const isInconclusive = !isBroken && (interruptedWith !== undefined || !isConclusive(found, terms))
  const level = failsIfInconclusive ? 'error' : 'warning'
  const findings: Finding[] = [
    ...reported.map(findingOf),
    ...(failsOnGaveUp ? gaveUp : []).map(
      ({ plan }): Finding => ({
        rule: ruleFor('gave up'),
        level: 'error',
        message: `${wordPlan(plan)} The command failed.`,
      }),
    ),
    ...(isInconclusive ? [{ rule: INCONCLUSIVE, level, message: wordDoubt(found, terms) ?? STOPPED } as const] : []),
    ...idle.map((rule): Finding => {
      const message = `No request met it, or there was nothing that it could change: ${wordPlan([rule])}`
      return { rule: NEVER_APPLIED, level: 'warning', message }
    }),
  ]
  const hasFailed = findings.some((finding) => finding.level === 'error')
  return {
    tool: 'explore',
    title: command.join(' '),
    summary: summarise(found, terms, isInconclusive),
    passed: !hasFailed && interruptedWith === undefined,
    exitCode: interruptedWith ?? (hasFailed ? 1 : 0),
    ...(isInconclusive && { isInconclusive }),
    startedAt: terms.startedAt,
    seconds: terms.seconds,
    facts: factsOf(found, terms),
    findings,
    table: { title: 'What was tried', columns: ['Faults', 'Result'], rows: rowsOf(found) },
    json: {
      ...{ command, passed: !isBroken && !isInconclusive, inconclusive: isInconclusive, points, runs, tiers },
      ...{ tolerated, gave_up: gaveUp, findings: reported, flaky, unconfirmed, never_applied: idle, unmet, left },
      ...(window !== undefined && { scaled_window: window }),
      ...{ stable_effects: isStable, interrupted: interruptedWith !== undefined },
    },
  }
}

/** A replay is conclusive if a fault of its plan applied. */
function isConclusive(found: Exploration, { isStable }: ExploreTerms): boolean {
  return found.replayed?.hasApplied ?? (isStable && found.tiers.length > 0 && isComplete(found))
}

/** A finding as it is in the JSON report. */
function reportFailure({ observation, ...finding }: FailingPlan, terms: ExploreTerms): ReportedFailure {
  const { command, options, known, redact, window: usual } = terms
  const window = finding.window ?? usual
  const isUsual = window === undefined || window === SHORT_WINDOW
  // The command line contains the plan, so it needs no file.
  const plan = ['--replay', canonical(finding.plan), '--', ...command]
  const words = ['explore', ...options, ...(isUsual ? [] : ['--window', `${window}s`]), ...plan]
  const output = tellingLines(observation.end.output, redact)
  const tests = findFailedTests(observation.end.output).map(redact)
  const accepted = known.accepted.get(finding.id)?.reason
  return {
    ...finding,
    ...(!isUsual && { window }),
    story: tellStory(observation),
    ...(output !== '' && { output }),
    ...(tests.length > 0 && { tests }),
    replay: terms.writeCommandLine(words),
    ...(accepted !== undefined && { accepted }),
  }
}

const NAMED = 6

function findingOf(failure: ReportedFailure): Finding {
  const { verdict, plan, operation, places, reasons, story, output, tests = [], replay, accepted } = failure
  const [first = '', ...differences] = reasons
  const list = differences.join('; ')
  const names = new Set(places.map(({ operation, about }) => operation + (about === undefined ? '' : ` (${about})`)))
  const same = places.length > 1 ? `It is the same at ${nameSome([...names], NAMED)}. ` : ''
  return {
    rule: ruleFor(verdict),
    level: accepted === undefined ? 'error' : 'note',
    message: [
      wordPlan(plan),
      first,
      ...(list === '' ? [] : [`${capitalise(list)}.`]),
      ...(tests.length === 0 ? [] : [`Failed: ${tests.join(', ')}.`]),
      ...(accepted === undefined ? [] : [`Accepted: ${accepted}`]),
    ].join(' '),
    ...(places.length > 1 && { occurrences: places.length }),
    ...placeOf(story, operation),
    details: [
      { title: 'Requests', text: story.map(wordStory).join('\n') },
      ...(output === undefined ? [] : [{ title: 'What the command printed last', text: output }]),
      { title: 'Plan', text: JSON.stringify(plan, undefined, 2) },
    ],
    remedy: { text: `${same}To see it again:`, command: replay },
  }
}

/** The request that the first fault met, and its place in the contract. */
function placeOf(story: readonly StoryLine[], operation: string): Pick<Finding, 'request' | 'pointer'> {
  const met = story.find((line) => 'fault' in line && line.fault !== undefined)
  if (met === undefined || !('method' in met)) return {}
  const { method, path } = met
  const pointer = pointerOf({ path, method: method === 'HEAD' ? 'GET' : method })
  return { request: { method, path, operation }, pointer }
}

const ELUSIVE =
  'That is so if the requests of the command or its keys are others in each run, or if it resets accounts.'
const UNSTABLE =
  'the command makes other changes in each run, such as random names, so one that is lost or made twice is not seen'
const STOPPED = 'Stopped before the end.'
/** How much more than expected a budget should have. */
const RESERVE = 1.3

/** What is missing for a result, and what would bring it; `undefined` if nothing is. */
function wordDoubt(found: Exploration, { runs, pace, countsRuns, isStable }: ExploreTerms): string | undefined {
  const { tiers, elusive, unconfirmed, tolerated, gaveUp, findings, left, replayed } = found
  if (replayed !== undefined) return 'No fault of the plan met a request, so the run shows nothing.'
  const open = openIn(tiers) - elusive
  const broken = unconfirmed.length
  const hasWrites = tiers.some(({ tier, of }) => of > 0 && tier <= TIERS.account)
  const rests = hasWrites ? 'the first two tiers' : 'all tiers (the command only reads)'
  const missing = [
    tolerated + gaveUp.length + findings.length === 0 && 'no fault has met a request',
    open > 0 && `${plural(open, 'fault')} of ${rests} ${open === 1 ? 'was' : 'were'} not tried`,
    elusive > 0 && `${plural(elusive, 'fault')} of ${rests} met no request`,
    broken > 0 && `${plural(broken, 'fault')} broke the command and was not repeated`,
    !isStable && UNSTABLE,
  ].filter((each) => each !== false)
  if (missing.length === 0) return undefined
  const needed = Math.ceil((runs + open + broken) * RESERVE) + 1
  const budget = countsRuns ? `--runs ${needed}` : `--budget ${Math.max(1, Math.ceil((needed * pace) / 60))}m`
  const canHelp = left > 0 && (open > 0 || (elusive === 0 && isStable))
  return [
    `${capitalise(missing.join('; '))}.`,
    ...(elusive > 0 ? [ELUSIVE] : []),
    ...(canHelp ? [`${budget} would be enough for that.`] : []),
  ].join(' ')
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The faults of a plan, in sentences. */
function wordPlan(plan: readonly FaultRule[]): string {
  return plan.map(({ description, ...rule }) => description ?? `A fault: ${canonical(rule)}.`).join(' ')
}

/** What came out, and at the end what was tried: no result says more than that. */
function summarise(found: Exploration, terms: ExploreTerms, isInconclusive: boolean): string {
  const { findings, tolerated, gaveUp, flaky, unconfirmed, points, replayed, tiers } = found
  const doubt = isInconclusive ? wordDoubt(found, terms) : undefined
  if (replayed !== undefined) {
    const { verdict } = replayed
    const did = verdict === 'tolerated' ? 'did what it does without faults' : VERDICTS[verdict][2]
    return doubt ?? `With the plan, the command ${did}.`
  }
  const { length } = findings
  const accepted = terms.known.accepted.size
  const broken = [
    length > 0 && `${plural(length, 'way')} to break the command ${length === 1 ? 'was' : 'were'} found`,
    flaky.length > 0 && `${plural(flaky.length, 'fault')} broke the command once and not again`,
    unconfirmed.length > 0 && `${plural(unconfirmed.length, 'fault')} broke it when the budget was over`,
  ].filter((each) => each !== false)
  const result = broken.join('; ') || 'No fault that was tried broke the command'
  const tried = tiers.flatMap(({ tier, of, tried }) => (of === 0 ? [] : [`${tried} of ${of} ${TIER_WORDS[tier]}`]))
  return [
    ...(terms.interruptedWith === undefined ? [] : [STOPPED]),
    `${result}${terms.isStable ? '' : ', by its exit code alone'}.`,
    ...(accepted > 0 ? [`${accepted} of them ${accepted === 1 ? 'is' : 'are'} accepted.`] : []),
    `With faults at ${plural(points, 'request')}, it survived ${tolerated} and gave up at ${gaveUp.length}.`,
    ...(doubt === undefined ? [] : [doubt]),
    tried.length === 0 ? 'Nothing was tried.' : `Tried: ${tried.join('; ')}.`,
  ].join(' ')
}

const GAVE_UP = 'it failed and said so'

function factsOf({ unmet, left, gaveUp }: Exploration, { runs, window, isStable, known, failsOnGaveUp }: ExploreTerms) {
  const operations = [...new Set(gaveUp.map(({ operation }) => operation))].join(', ')
  const old = (['expired', 'fixed', 'not looked at'] as const).flatMap((state) => {
    const count = known.entries.filter((each) => each.state === state).length
    return count > 0 ? [`${count} ${state}`] : []
  })
  return listFacts({
    Runs: `${runs}, those without faults included`,
    'Gave up':
      gaveUp.length > 0 &&
      `${plural(gaveUp.length, 'time')}, at ${operations}: ${failsOnGaveUp ? GAVE_UP : `${GAVE_UP}, which fails nothing without --fail-on gave-up`}`,
    Left: left > 0 && `${plural(left, 'fault')}; a larger --budget or --runs tries more`,
    'Not met': unmet > 0 && `${plural(unmet, 'fault')} met no request, changed nothing, or came to no conclusion`,
    Baseline: old.length > 0 && old.join(', '),
    'Quota windows': window !== undefined && `${window} s instead of those of the contract; --window 1h keeps those`,
    Effects: !isStable && 'differ between two runs without a fault, so only exit codes were judged',
  })
}

/** A row for each tier, which passed if it is complete, and for each plan that is no finding. */
function rowsOf({ tiers, gaveUp, flaky, unconfirmed }: Exploration): Row[] {
  const rowsFor = (plans: readonly (PlanAt & { verdict?: ExploreFailure })[], result: string): Row[] =>
    plans.map(({ plan, verdict }) => ({ cells: [wordPlan(plan), verdict ? `${verdict}: ${result}` : result] }))
  return [
    ...tiers.flatMap(({ tier, of, tried }): Row[] => {
      const cells = [`Tier ${tier}: ${TIER_WORDS[tier]}`, `${tried} of ${of} were tried`]
      return of === 0 ? [] : [{ outcome: tried === of ? 'passed' : 'skipped', cells }]
    }),
    ...rowsFor(gaveUp, 'the command gave up'),
    ...rowsFor(flaky, 'broke the command once and not again'),
    ...rowsFor(unconfirmed, 'broke the command and was not repeated'),
  ]
}
