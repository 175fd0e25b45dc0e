import type { Choices } from '../contract/choices.ts'
import type { Rule } from '../contract/rules.ts'
import { writeCurl } from '../coverage/curl.ts'
import { codeIn } from '../exchanges/reading.ts'
import { shorten } from '../ground/show.ts'
import { isCounted, type JudgedDifference } from '../judge/finding.ts'
import { type AssumptionVerdict, decideVerdicts } from '../judge/verdicts.ts'
import { describeCleanup, isAsBefore } from './cleanup.ts'
import { isDone, isPage } from './conversation.ts'
import { authorizationOf, describeRequest, type ProbeRequest, quotaPathOf } from './probe.ts'
import type { ProbeState } from './questioning.ts'
import type { VerifyResult } from './run.ts'

export const CHECK_OUTCOMES = ['pass', 'fail', 'not reached', 'undecidable', 'baselined'] as const
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number]

/** A property that was checked, or that should have been checked. */
export interface VerifyCheck {
  id: string
  outcome: CheckOutcome
  /** The id of the `x-rule`. */
  rule?: string
  /** The reason of the outcome. */
  message?: string
  /** The request as a POSIX shell command, with the key in a variable. */
  curl?: string
  /** The finding, if the judgement of an exchange found it. */
  finding?: JudgedDifference
}

export interface Assessment {
  checks: readonly VerifyCheck[]
  assumptions: readonly AssumptionVerdict[]
  /** How many of the reachable checks were reached, in per cent. */
  reached: number
  verdict: 'passed' | 'failed' | 'inconclusive'
  /** What is missing for a result, in sentences. If nothing fails either, the run has passed. */
  lacks: readonly string[]
}

export interface AssessmentOptions {
  result: VerifyResult
  choices: Choices
  /** The base URL for the command lines in a report. */
  target: string
  /** The ids of findings that are known and do not count. */
  accepted: Pick<ReadonlySet<string>, 'has'>
  /** In per cent. */
  minReached: number
  /** Whether no other client changes the account, so that nobody but the service can have changed it. */
  isSoleWriter: boolean
}

type Outcome = Omit<VerifyCheck, 'id'>

/** The share of its questions that a run must ask for a result: few answers would show little, and a pass tells nothing. */
const LEAST_ASKED = 0.5

const RESTORATION = 'restoration'

const undecidable = (message: string): Outcome => ({ outcome: 'undecidable', message })
const notReached = (message: string): Outcome => ({ outcome: 'not reached', message })

/**
 * Makes one check for each rule, assumption and finding, and one for the cleanup. Only findings accuse, and only the
 * service: a run breaks the contract on purpose in many requests, to see how they are refused. A rule that no probe can
 * show has no check.
 */
export function assess(options: AssessmentOptions): Assessment {
  const { result, choices, isSoleWriter } = options
  const findings = result.conclusion.findings.filter((finding) => isCounted(finding, 'service'))
  const shown = new Set(result.probes.flatMap(({ probe }) => probe.rule ?? []))
  const rules = new Map(choices.contract.operations.flatMap((each) => each.rules).map((rule) => [rule.id, rule]))
  const observable = [...rules.values()].filter(({ id, unobservable }) => shown.has(id) || unobservable !== undefined)
  const assumptions = decideVerdicts(result.conclusion.observations, choices)
  const checks: VerifyCheck[] = [
    { id: RESTORATION, ...checkRestoration(result, isSoleWriter) },
    ...findings.map((each) => checkFinding(each, options)),
    ...observable.map((rule) => {
      const { id, says } = rule
      return { id: `rule/${id}`, rule: id, message: says, ...checkRule(rule, result, findings) }
    }),
    ...assumptions.map((verdict) => ({ id: `assumption/${verdict.id}`, ...checkAssumption(verdict, options) })),
  ]
  const count = (...outcomes: CheckOutcome[]) => checks.filter(({ outcome }) => outcomes.includes(outcome)).length
  const done = count('pass', 'fail', 'baselined')
  const reached = Math.floor((100 * done) / Math.max(1, done + count('not reached')))
  const lacks = listLacks(options, checks, reached)
  // What the run could not remove accuses nobody: a gateway, or another client, may have hindered it.
  const isAccused = checks.some(({ id, outcome }) => {
    return outcome === 'fail' && (id !== RESTORATION || result.cleanup.restored)
  })
  const verdict = isAccused ? 'failed' : lacks.length > 0 ? 'inconclusive' : 'passed'
  return { checks, assumptions, reached, verdict, lacks }
}

/** What is missing for a result, the reason of an early end first, because it explains the rest. */
function listLacks(
  { result: { ended, probes, cleanup }, minReached }: AssessmentOptions,
  checks: readonly VerifyCheck[],
  reached: number,
): string[] {
  const planned = probes.filter(({ barrier }) => barrier === undefined)
  const asked = planned.filter(({ isAsked }) => isAsked).length
  const hasShown = checks.some(({ id, outcome }) => outcome === 'pass' && id.includes('/'))
  const lacks: string[] = []
  if (ended !== undefined && ended.kind !== 'quota') lacks.push(`${capitalise(ended.reason)}.`)
  if (!hasShown) lacks.push('No answer shows anything.')
  if (asked < planned.length * LEAST_ASKED) {
    lacks.push(`Only ${asked} of ${planned.length} questions were asked, which is too little for a result.`)
  }
  if (reached < minReached) {
    lacks.push(`Only ${reached} % of the checks were reached; --min-reached asks for ${minReached} %.`)
  }
  if (!isAsBefore(cleanup)) lacks.push('It is not shown that the account is as before.')
  return lacks
}

/** What is left of the run must be loud. What another client may have done is no failure. */
function checkRestoration({ cleanup }: VerifyResult, isSoleWriter: boolean): Outcome {
  const message = `${capitalise(describeCleanup(cleanup))}.`
  if (isAsBefore(cleanup)) return { outcome: 'pass', message }
  return { outcome: cleanup.restored && !isSoleWriter ? 'undecidable' : 'fail', message }
}

function checkFinding(finding: JudgedDifference, { result, target, accepted }: AssessmentOptions): VerifyCheck {
  const { id, message, rule, request_id: request } = finding
  const seen = result.exchanges.find(({ exchange }) => exchange.id === request)
  return {
    ...{ id, message, finding, outcome: accepted.has(id) ? 'baselined' : 'fail' },
    ...(rule !== undefined && { rule }),
    ...(seen !== undefined && { curl: curlOf(seen.sent, target) }),
  }
}

/** A rule counts as kept if each probe about it was asked and answered as the specification says. */
function checkRule({ id, unobservable }: Rule, result: VerifyResult, findings: readonly JudgedDifference[]): Outcome {
  // The finding has its own check, which decides whether the run passes.
  if (findings.some(({ rule }) => rule === id)) return undecidable('A finding says that it was not kept.')
  if (unobservable !== undefined) return undecidable(unobservable)
  const states = result.probes.filter(({ probe }) => probe.rule?.includes(id) === true)
  const open = states.filter(({ isAsked }) => !isAsked)
  if (open.length > 0) {
    const sides = ` ${states.length - open.length} of ${states.length} sides of it were asked.`
    return notReached(reasonOf(open) + (states.length === 1 ? '' : sides))
  }
  const failed = new Set(findings.flatMap(({ request_id: request }) => request ?? []))
  const doubt = states.map((state) => doubtAbout(state, result, failed)).find((each) => each !== undefined)
  return doubt === undefined ? { outcome: 'pass' } : undecidable(doubt)
}

/** Why the answers to a probe do not show that its rules are kept. */
function doubtAbout(
  { probe, sample, allowed }: ProbeState,
  { exchanges, quotas }: VerifyResult,
  failed: ReadonlySet<string>,
): string | undefined {
  const { id, expect, exhausts } = probe
  const own = exchanges.filter((each) => each.probe === id).slice(-sample.length)
  const bad = own.find(({ exchange: { id: exchange, response } }, index) => {
    if (response === undefined || isPage(response) || failed.has(exchange)) return true
    const isRefusal = expect === 'refused' && index === own.length - 1
    return isRefusal ? codeIn(response) === undefined || isDone({ response }) : !isDone({ response })
  })
  if (bad !== undefined) {
    return `The answer to ${id} (${bad.exchange.response?.status ?? 0}) does not show that it is kept.`
  }
  const [request] = sample
  const { limit } = quotas.find(({ path }) => request !== undefined && path === quotaPathOf(request)) ?? {}
  if (exhausts !== true || allowed === limit) return undefined
  if (allowed === undefined) return 'No request was refused for the quota.'
  const why = allowed > (limit ?? 0) ? 'a new key may have more' : 'another client may have sent the others'
  return `The service allowed ${allowed} requests of ${limit}; ${why}.`
}

function checkAssumption(
  { id, verdict, alternative, left, evidence }: AssumptionVerdict,
  { result, choices }: AssessmentOptions,
): Outcome {
  if (verdict === 'as chosen') return { outcome: 'pass', message: verdict }
  if (verdict === 'alternative') return { outcome: 'pass', message: `alternative ${alternative}` }
  // The specification leaves it open, so a choice that no alternative describes is no failure.
  if (verdict === 'contradicted') {
    const requests = evidence.join(', ')
    return undecidable(`No alternative explains all answers, so it is another choice. See the requests ${requests}.`)
  }
  if (choices.alternatives.every((each) => each.id !== id)) return undecidable('It has no alternative.')
  const states = result.probes.filter(({ probe }) => probe.decides?.includes(id) === true)
  if (states.length === 0) return undecidable('No request of verify can tell its alternatives apart.')
  const open = states.filter(({ isAsked }) => !isAsked)
  if (open.length > 0) return notReached(reasonOf(open))
  const still = left === undefined ? '' : ` Still possible: ${left.join(', ')}.`
  return undecidable(`The answers do not tell its alternatives apart.${still}`)
}

/** Which request would show it, and why it was not sent. */
function reasonOf([first]: readonly ProbeState[]): string {
  const request = first?.sample.at(-1)
  if (first === undefined || request === undefined) return 'Nothing was asked.'
  const how = `${describeRequest(request)}${first.probe.exhausts === true ? ', until it is refused' : ''}`
  return `${first.probe.id} was not asked, because ${first.reason}: ${shorten(how, 200)}.`
}

/** The request as a POSIX shell command, without the key. */
function curlOf(sent: ProbeRequest, baseUrl: string): string {
  const { key, scheme, ...request } = sent
  const isPlain = key === undefined && scheme === undefined
  const authorization = isPlain ? undefined : authorizationOf(sent, '$API_KEY')
  const headers = { ...(authorization !== undefined && { Authorization: authorization }), ...request.headers }
  const planned = { ...request, plane: 'service', key: isPlain ? 'valid' : 'none', headers } as const
  const line = writeCurl(planned, { baseUrl, adminUrl: '' }, undefined)
  // The shell replaces the variable only within double quotes.
  return line.replace(`'Authorization: ${authorization}'`, `"Authorization: ${authorization}"`)
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
