import { operationOf, pointerOf } from '../../contract/api.ts'
import { plural } from '../../ground/plural.ts'
import type { Entry } from '../../journal/entry.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { type CommandTimes, type Finding, listFacts, type Report, type ReportRule } from '../../reports/report.ts'
import { lastLines } from '../output-tail.ts'
import type { Step } from './conductor.ts'
import type { PairRun } from './pair-run.ts'
import { type Changes, countChanges, type Schedule, type Turn, writePlan } from './schedule.ts'
import type { BrokenOrder, OrderSearch } from './search.ts'
import type { ReplayedOrder } from './session.ts'
import { type PairStoryLine, pairColumns, tellPair } from './story.ts'
import { isPairFailure, type PairFailure, type PairNames, type PairVerdict } from './verdict.ts'

/** A finding in the JSON report. */
interface PairFindingReport extends Changes {
  /** The same for the same plan and verdict in every run. */
  id: string
  verdict: PairFailure | 'gave up'
  plan: readonly Turn[]
  /** The operation of the first request after the last change of the turn. */
  operation: string
  reasons: readonly string[]
  others: number
  story: readonly PairStoryLine[]
  /** The last lines of both commands. */
  output: readonly [string, string]
  /** A command line for a POSIX shell. */
  replay: string
}

/** Facts for the report that the search itself does not contain. */
export interface PairReportTerms extends CommandTimes {
  command: readonly string[]
  beside: string
  names: PairNames
  /** The options that a replay also needs, as words; `--beside` is one of them. */
  options: readonly string[]
  /** How often both commands were started, including the serial orders. */
  runs: number
  /** The bound of the search. */
  switches: number
  /** How many runs of both commands there are at the same time; `undefined` if the user has said nothing. */
  jobs: number | undefined
  isStable: boolean
  /** Reasons beside a finding for which a run can fail. */
  failOn: readonly ('findings' | 'inconclusive' | 'gave-up')[]
  redact: Redact
  /** Writes words as a line for a shell, without secrets. */
  writeCommandLine: (words: readonly string[]) => string
}

const RULES: Readonly<Record<PairFailure | 'gave up', Omit<ReportRule, 'id'>>> = {
  'lost update': {
    name: 'A change is lost when both commands run at the same time',
    description: 'When two clients succeed, the account is as if one of them had run after the other one.',
  },
  'wrong success': {
    name: 'A command says that all is well, and its change is not there',
    description: 'A client that ends with 0 has done what it does alone, whatever another client does.',
  },
  'false failure': {
    name: 'A command says that it failed, and the account is as it should be',
    description: 'A user who is told that nothing was done tries again, or repairs by hand what is right.',
  },
  hang: {
    name: 'A command does not end when both run at the same time',
    description: 'A client waits for another one only for some time.',
  },
  'gave up': {
    name: 'A command gave up when both ran at the same time',
    description: 'The command failed, and said so. A client that tries again would survive what another one does.',
  },
}

function ruleFor(verdict: PairFailure | 'gave up'): ReportRule {
  return { id: `explore/${verdict.replaceAll(' ', '-')}`, ...RULES[verdict] }
}

/** The report of `explore --beside`; `docs/schemas/explore-beside.json` describes its JSON. */
export function describeOrders(found: OrderSearch, terms: PairReportTerms): Report {
  const { gaveUp, left, unjudged, flaky, unconfirmed, levels } = found
  const { failOn } = terms
  const findings = found.findings.map((each) => findingOf(each, terms))
  const isComplete = left + unjudged + unconfirmed.length + flaky.length === 0 && terms.isStable
  const hasFailed = findings.length > 0 || (failOn.includes('gave-up') && gaveUp.length > 0)
  const plans = (orders: readonly { schedule: Schedule; verdict: PairFailure }[]) =>
    orders.map(({ schedule, verdict }) => ({ verdict, plan: writePlan(schedule) }))
  return reportOf(
    {
      summary: summarise(found, terms),
      passed: !hasFailed && (isComplete || !failOn.includes('inconclusive')),
      inconclusive: !hasFailed && (!isComplete || terms.interruptedWith !== undefined),
      facts: factsOf(found, terms),
      findings: [...found.findings.map((each, index) => modelFinding(findings[index], each.run, terms))],
      givenUp: failOn.includes('gave-up') ? gaveUp : [],
      json: {
        ...{ findings, gave_up: gaveUp.map((schedule) => ({ plan: writePlan(schedule) })) },
        interleavings: { possible: found.possible, tried: found.tried, equivalent: found.equivalent },
        levels,
        ...{ flaky: plans(flaky), unconfirmed: plans(unconfirmed), unjudged, left, steady: found.isReliable },
      },
    },
    terms,
  )
}

/** The report of a run in a given order. */
export function describeReplay(replayed: ReplayedOrder, terms: PairReportTerms): Report {
  const { verdict, run } = replayed
  const isGivingUp = verdict === 'gave up' && terms.failOn.includes('gave-up')
  const finding =
    isPairFailure(verdict) || verdict === 'gave up' ? findingOf({ ...replayed, verdict, others: 0 }, terms) : undefined
  const counts = isPairFailure(verdict) || isGivingUp
  const shown = finding !== undefined && counts ? [modelFinding(finding, run, terms)] : []
  const unfollowed = run.end.isFollowed ? [] : [UNFOLLOWED]
  return reportOf(
    {
      summary: SUMMARIES[verdict],
      passed: !counts,
      inconclusive: false,
      facts: listFacts({ Runs: `${terms.runs}, the serial orders included` }),
      findings: [...shown, ...unfollowed],
      givenUp: [],
      json: {
        findings: counts ? [finding] : [],
        gave_up: verdict === 'gave up' ? [{ plan: writePlan(replayed.schedule) }] : [],
        followed: run.end.isFollowed,
      },
    },
    terms,
  )
}

interface PairContents extends Pick<Report, 'summary' | 'passed' | 'facts' | 'findings'> {
  inconclusive: boolean
  givenUp: readonly Schedule[]
  json: object
}

function reportOf(contents: PairContents, terms: PairReportTerms): Report {
  const { command, beside, names, runs, interruptedWith, startedAt, seconds, isStable } = terms
  const { summary, facts, findings, givenUp, inconclusive, json } = contents
  const passed = contents.passed && interruptedWith === undefined
  return {
    tool: 'explore',
    title: names.join(' beside '),
    summary: interruptedWith === undefined ? summary : `Stopped before the end. ${summary}`,
    passed,
    exitCode: interruptedWith ?? (passed ? 0 : 1),
    ...(inconclusive && { isInconclusive: true }),
    ...{ startedAt, seconds, facts },
    findings: [...findings, ...givenUp.map(modelGivingUp)],
    json: {
      ...{ command, beside, passed: passed && !inconclusive, inconclusive, runs },
      ...{ stable_effects: isStable, interrupted: interruptedWith !== undefined, ...json },
    },
  }
}

type Shown = Pick<BrokenOrder, 'schedule' | 'run' | 'reasons' | 'others'> & { verdict: PairFailure | 'gave up' }

function findingOf({ schedule, run, verdict, reasons, others }: Shown, terms: PairReportTerms): PairFindingReport {
  const plan = writePlan(schedule)
  const text = JSON.stringify(plan)
  const { ends, steps } = run.end
  const words = ['explore', ...terms.options, '--replay', text, '--', ...terms.command]
  return {
    id: `${verdict} ${text}`,
    ...{ verdict, plan, ...countChanges(schedule, steps) },
    operation: firstAfterChange(plan, steps)?.operation ?? 'any',
    ...{ reasons, others, story: tellPair(run) },
    output: [lastLines(ends[0].output, terms.redact), lastLines(ends[1].output, terms.redact)],
    replay: terms.writeCommandLine(['dmarc-understudy', ...words]),
  }
}

function firstAfterChange(plan: readonly Turn[], steps: readonly Step[]): Entry | undefined {
  return steps[plan.reduce((sum, { requests = 0 }) => sum + requests, 0)]?.entry
}

function modelFinding(finding: PairFindingReport | undefined, run: PairRun, { names }: PairReportTerms): Finding {
  if (finding === undefined) throw new Error('Each order that broke the commands has a finding.')
  const { verdict, reasons, others, plan, replay, output, operation } = finding
  const [first = '', ...differences] = reasons
  const more = differences.length === 0 ? '' : ` ${sentence(differences.join('; '))}.`
  const { method, target, operation: id } = firstAfterChange(plan, run.end.steps) ?? {}
  const met = operationOf(run.contract, id)
  return {
    rule: ruleFor(verdict),
    level: 'error',
    message: `With ${wordChanges(finding)}: ${first}${more}`,
    ...(others > 0 && { occurrences: others + 1 }),
    ...(met !== undefined &&
      method !== undefined &&
      target !== undefined && {
        request: { method, path: met.path, operation },
        pointer: pointerOf({ path: met.path, method: method === 'HEAD' ? 'GET' : method }),
      }),
    details: [
      {
        title: 'Requests',
        text: pairColumns(run, names)
          .rows.map((row) => row.join(' | '))
          .join('\n'),
      },
      ...output.flatMap((text, index) => (text === '' ? [] : [{ title: `Output of ${names[index]}`, text }])),
      { title: 'Plan', text: JSON.stringify(plan) },
    ],
    remedy: { text: 'To see it again:', command: replay },
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function modelGivingUp(schedule: Schedule): Finding {
  return { rule: ruleFor('gave up'), level: 'error', message: `${wordPlan(writePlan(schedule))} A command failed.` }
}

const UNFOLLOWED: Finding = {
  rule: {
    id: 'explore/not-followed',
    name: 'The order of the plan did not come about',
    description: 'A plan shows something of two clients only when they send the requests that it puts in order.',
  },
  level: 'warning',
  message: 'A command ended before its turn, waited for the other one, or did not have the thread of the plan.',
}

/** How often the turn changes, for a person. */
function wordChanges({ switches, overtakings }: Changes): string {
  const threads = overtakings === 0 ? '' : ` and ${plural(overtakings, 'change', 'changes')} of the thread`
  return `${switches === 0 ? 'no switch' : plural(switches, 'switch', 'switches')}${threads}`
}

function wordPlan(plan: readonly Turn[]): string {
  const turns = plan.map(({ command, thread, requests }) => {
    const who = `command ${command}${thread === undefined ? '' : `, thread ${thread}`}`
    return `${requests === undefined ? 'then' : plural(requests, 'request')} of ${who}`
  })
  return `${sentence(turns.join(', ').replace(/, then of /, ', then '))}.`
}

const SUMMARIES: Readonly<Record<PairVerdict, string>> = {
  passed: 'In this order, both commands did what they do one after the other.',
  'gave up': 'In this order, a command gave up: it failed, and said so.',
  'lost update': 'In this order, both commands said that all is well, and a change is lost.',
  'wrong success': 'In this order, a command said that all is well, and its change is not there.',
  'false failure': 'In this order, a command said that it failed, and the account is as it should be.',
  hang: 'In this order, a command did not end.',
}

/** Whether both commands can run several times at once is not tried out: they may share files or ports with each other. */
function wordJobs(jobs: number | undefined): string {
  if (jobs === undefined)
    return 'one after the other, because nobody has tried whether the pair can run several times at once; --jobs 2 does'
  return `${jobs === 1 ? 'one after the other' : `${jobs} at a time`}, because --jobs says so`
}

function summarise(found: OrderSearch, { switches, isStable }: PairReportTerms): string {
  const { findings, tried, equivalent, possible, left, unjudged, unconfirmed, flaky } = found
  const { length } = findings
  const counts = `Of ${plural(possible, 'order')} of their requests, ${plural(tried, 'order')} ${tried === 1 ? 'was' : 'were'} tried, and ${equivalent} cannot differ from one of these.`
  if (length > 0) {
    return `${plural(length, 'way')} in which the commands break each other ${length === 1 ? 'was' : 'were'} found. ${counts}`
  }
  const bound = `up to ${plural(switches, 'switch', 'switches')}`
  if (!isStable) return `Not decided: the same order left different accounts, so only exit codes were judged. ${counts}`
  if (left + unjudged + unconfirmed.length > 0) return `Not decided: not all orders ${bound} could be tried. ${counts}`
  if (flaky.length > 0) {
    return `Not decided: ${plural(flaky.length, 'order')} broke the commands once and not again. ${counts}`
  }
  return `No order ${bound} broke the commands. ${counts}`
}

function factsOf(found: OrderSearch, { runs, jobs, isStable }: PairReportTerms): Report['facts'] {
  const { levels, gaveUp, flaky, unconfirmed, unjudged, left, isReliable } = found
  const perLevel = levels.map(({ switches, of, tried }) => `${switches}: ${tried} of ${of}`).join(', ')
  return listFacts({
    Runs: `${runs}, the serial orders included`,
    Trials: wordJobs(jobs),
    'By number of switches': perLevel,
    'Gave up': gaveUp.length > 0 && plural(gaveUp.length, 'time'),
    Flaky: flaky.length > 0 && `${plural(flaky.length, 'order')} broke the commands once and not again`,
    'Not repeated':
      unconfirmed.length > 0 && `${plural(unconfirmed.length, 'order')} broke the commands at the end of the budget`,
    'Not judged':
      unjudged > 0 &&
      `${plural(unjudged, 'order')}: a command gave up a request that was held; let it wait longer for a response`,
    Left: left > 0 && `${plural(left, 'order')}; a larger --budget or --runs tries more, fewer --switches need less`,
    Requests: !isReliable && 'differ after the same answers, so every order was run',
    Effects: !isStable && 'differ between two runs in the same order, so only exit codes were judged',
  })
}
