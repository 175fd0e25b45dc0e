import { pointerOf } from '../../contract/api.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { plural } from '../../ground/plural.ts'
import { writeShellLine } from '../../ground/shell-word.ts'
import { listFacts, listSection } from '../../reports/outline.ts'
import type { CommandTimes, Finding, Report, ReportRule, Section } from '../../reports/report.ts'
import type { Exploration, FailingPlan, PlanAt } from './exploration.ts'
import { canonical } from './faults.ts'
import { type StoryLine, tellStory, wordStory } from './story.ts'
import type { ExploreFailure, RunVerdict } from './verdict.ts'

/** A finding in the JSON report. */
interface FindingReport extends Omit<FailingPlan, 'observation'> {
  story: readonly StoryLine[]
  /** A command line for a POSIX shell. */
  replay: string
}

/** Facts for the report that the exploration itself does not contain. */
export interface ExploreTerms extends CommandTimes {
  command: readonly string[]
  /** The options that a replay also needs, as words. */
  options: readonly string[]
  /** How often the command was started, including the baselines. */
  runs: number
  jobs: number
  /** The length of a shortened quota window, in seconds. */
  scaledWindow: number | undefined
  /** Whether runs without a fault have the same effects. If not, only exit codes were judged. */
  isStable: boolean
  failsOnGaveUp: boolean
}

const RULES: Readonly<Record<ExploreFailure | 'gave up', Omit<ReportRule, 'id'>>> = {
  'wrong success': {
    name: 'The command says that all is well, and it is not',
    description:
      'A client that ends with 0 has done what it does without faults: no change is lost, and none is made twice.',
  },
  'false failure': {
    name: 'The command says that it failed, and everything is done',
    description: 'A user who is told that nothing was done tries again, or repairs by hand what is right.',
  },
  hang: {
    name: 'The command does not end',
    description: 'A client waits for a response only for some time, and tries again only so many times.',
  },
  crash: {
    name: 'The command crashes',
    description: 'A client handles every answer that the service may give, and a connection that fails.',
  },
  storm: {
    name: 'The command sends a storm of requests',
    description: 'A client waits before it tries again, and after a 429 until the instant in X-RateLimit-Reset.',
  },
  'gave up': {
    name: 'The command gave up',
    description: 'The command failed, and said so. A client that tries again would survive faults that pass.',
  },
}

function ruleFor(verdict: ExploreFailure | 'gave up'): ReportRule {
  return { id: `explore/${verdict.replaceAll(' ', '-')}`, ...RULES[verdict] }
}

/** The report of `explore`; `docs/schemas/explore.json` describes its JSON. */
export function describeExploration(found: Exploration, terms: ExploreTerms): Report {
  const { command, options, runs, scaledWindow, isStable, failsOnGaveUp, interruptedWith } = terms
  const { points, tolerated, gaveUp, flaky, unconfirmed, idle, unmet, left, replayed } = found
  const findings = found.findings.map(({ observation, ...finding }): FindingReport => {
    // The command line contains the plan, so it needs no file.
    const words = ['explore', ...options, '--replay', canonical(finding.plan), '--', ...command]
    return { ...finding, story: tellStory(observation), replay: writeShellLine(['dmarc-understudy', ...words]) }
  })
  const failures = [...findings.map(modelFinding), ...(failsOnGaveUp ? gaveUp.map(modelGivingUp) : [])]
  const passed = failures.length === 0
  return {
    tool: 'explore',
    title: command.join(' '),
    summary: replayed === undefined ? summarise(found, interruptedWith !== undefined) : SUMMARIES[replayed.verdict],
    passed: passed && interruptedWith === undefined,
    exitCode: interruptedWith ?? (passed ? 0 : 1),
    startedAt: terms.startedAt,
    seconds: terms.seconds,
    command,
    facts: factsOf(found, terms),
    findings: [...failures, ...idle.map(modelIdle)],
    checks: [],
    sections: sectionsOf(found),
    json: {
      ...{ command, points, runs, tolerated, gave_up: gaveUp, findings, flaky, unconfirmed, never_applied: idle },
      ...{ unmet, left },
      ...(scaledWindow !== undefined && { scaled_window: scaledWindow }),
      ...{ stable_effects: isStable, interrupted: interruptedWith !== undefined },
    },
  }
}

function modelFinding({ verdict, plan, operation, reasons, others, story, replay }: FindingReport): Finding {
  return {
    rule: ruleFor(verdict),
    level: 'error',
    message: `${wordPlan(plan)} ${wordReasons(reasons)}`,
    ...(others > 0 && { occurrences: others + 1 }),
    ...placeOf(story, operation),
    details: [
      { kind: 'list', items: story.map(wordStory) },
      { kind: 'code', title: 'Plan', language: 'json', text: JSON.stringify(plan, undefined, 2) },
    ],
    remedy: { text: 'To see it again:', command: replay },
  }
}

/** The first reason is a sentence. The other reasons are parts of a second sentence. */
function wordReasons([first = '', ...differences]: readonly string[]): string {
  if (differences.length === 0) return first
  const list = differences.join('; ')
  return `${first} ${list.charAt(0).toUpperCase()}${list.slice(1)}.`
}

/** The request that the first fault met, and its place in the contract. */
function placeOf(story: readonly StoryLine[], operation: string): Pick<Finding, 'request' | 'pointer'> {
  const met = story.find((line) => 'fault' in line && line.fault !== undefined)
  if (met === undefined || !('method' in met)) return {}
  const { method, path } = met
  return {
    request: { method, path, operation },
    pointer: pointerOf({ path, method: method === 'HEAD' ? 'GET' : method }),
  }
}

function modelIdle(rule: FaultRule): Finding {
  return {
    rule: {
      id: 'explore/never-applied',
      name: 'A fault of the plan never applied',
      description: 'A plan shows something of a client only when its faults meet the requests that they are for.',
    },
    level: 'warning',
    message: `No request met it, or there was nothing that it could change: ${wordPlan([rule])}`,
  }
}

function modelGivingUp({ plan }: PlanAt): Finding {
  return { rule: ruleFor('gave up'), level: 'error', message: `${wordPlan(plan)} The command failed.` }
}

/** The faults of a plan, in sentences. */
function wordPlan(plan: readonly FaultRule[]): string {
  return plan.map(({ description, ...rule }) => description ?? `A fault: ${canonical(rule)}.`).join(' ')
}

const SUMMARIES: Readonly<Record<RunVerdict, string>> = {
  tolerated: 'With the plan, the command did what it does without faults.',
  'gave up': 'With the plan, the command gave up: it failed, and said so.',
  'wrong success': 'With the plan, the command said that all is well, and it is not.',
  'false failure': 'With the plan, the command said that it failed, and everything is done.',
  hang: 'With the plan, the command did not end.',
  crash: 'With the plan, the command crashed.',
  storm: 'With the plan, the command sent a storm of requests.',
}

function summarise({ findings, tolerated, gaveUp, points, left }: Exploration, isStopped: boolean): string {
  const { length } = findings
  const broken = `${plural(length, 'way')} to break the command ${length === 1 ? 'was' : 'were'} found`
  const stopped = isStopped ? 'Stopped before the end. ' : ''
  const rest = left > 0 ? `; ${left} more ${left === 1 ? 'was' : 'were'} left` : ''
  const survived = `it survived ${plural(tolerated, 'plan')} and gave up at ${gaveUp.length}${rest}`
  return `${stopped}${length === 0 ? 'No fault broke the command' : broken}. With faults at ${plural(points, 'request')}, ${survived}.`
}

function factsOf(found: Exploration, { jobs, runs, scaledWindow, isStable }: ExploreTerms): Report['facts'] {
  const { flaky, unconfirmed, unmet, left } = found
  const gaveUp = found.gaveUp.map(({ operation }) => operation)
  const broke = (plans: readonly PlanAt[], when: string) =>
    plans.length > 0 && `${plural(plans.length, 'plan')} broke the command ${when}`
  const more = `a larger --budget or --runs${jobs === 1 ? ', or --jobs 2,' : ''} tries more`
  return listFacts({
    Runs: `${runs}, the baseline included`,
    'Gave up': gaveUp.length > 0 && `${plural(gaveUp.length, 'time')}, at ${[...new Set(gaveUp)].join(', ')}`,
    Flaky: broke(flaky, 'once and not again'),
    'Not repeated': broke(unconfirmed, 'when the budget was over'),
    Left: left > 0 && `${plural(left, 'plan')}; ${more}`,
    'Not met': unmet > 0 && `${plural(unmet, 'plan')} met no request, or changed nothing`,
    'Quota windows':
      scaledWindow !== undefined &&
      `${scaledWindow} s instead of those of the contract; --no-scale-windows keeps those`,
    Effects: !isStable && 'differ between two runs without a fault, so only exit codes were judged',
  })
}

function sectionsOf({ gaveUp, flaky, unconfirmed }: Exploration): Section[] {
  const broke = ({ plan, verdict }: PlanAt & { verdict: RunVerdict }) => `${verdict}: ${wordPlan(plan)}`
  return [
    ...listSection(
      'Where the command gave up',
      gaveUp.map(({ plan }) => wordPlan(plan)),
    ),
    ...listSection('What broke the command once and not again', flaky.map(broke)),
    ...listSection('What broke the command and was not repeated', unconfirmed.map(broke)),
  ]
}
