import type { Operation } from '../contract/api.ts'
import type { Choices } from '../contract/choices.ts'
import type { Rule } from '../contract/rules.ts'
import { writeCurl } from '../coverage/curl.ts'
import type { SeenResponse } from '../exchanges/exchange.ts'
import { codeIn } from '../exchanges/reading.ts'
import { shorten } from '../ground/show.ts'
import { isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'
import type { AssumptionVerdict } from '../judge/verdicts.ts'
import { decideVerdicts } from '../judge/verdicts.ts'
import { describeRest, isAsBefore } from './cleanup.ts'
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
  expected?: string
  received?: string
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
  /** Whether a finding is known and accepted. */
  isAccepted(finding: JudgedDifference): boolean
  /** In per cent. */
  minReached: number
  /** Whether no other client changes the account, so that nobody but the service can have changed it. */
  isSoleWriter: boolean
}

type Outcome = Omit<VerifyCheck, 'id'>

/** The share of its questions that a run must ask for a result: few answers would show little, and a pass tells nothing. */
const LEAST_ASKED = 0.5

const undecidable = (message: string): Outcome => ({ outcome: 'undecidable', message })
const notReached = (message: string): Outcome => ({ outcome: 'not reached', message })

/**
 * Makes one check for each rule, assumption, operation and finding, and one for the cleanup. Only findings accuse. A rule
 * that no probe can show has no check.
 */
export function assess(options: AssessmentOptions): Assessment {
  const { result, choices, isSoleWriter } = options
  const { operations } = choices.contract
  const shown = new Set(result.probes.flatMap(({ probe }) => probe.rule ?? []))
  const rules = new Map(operations.flatMap((each) => each.rules).map((rule) => [rule.id, rule]))
  const assumptions = decideVerdicts(result.conclusion.observations, choices)
  const failed = failedExchanges(result)
  const checks: VerifyCheck[] = [
    { id: 'restoration', ...checkRestoration(result, isSoleWriter) },
    ...checkFindings(options),
    ...operations.map((each) => ({ id: `operation/${each.id}`, ...checkOperation(each, result, failed) })),
    ...[...rules.values()]
      .filter(({ id, unobservable }) => shown.has(id) || unobservable !== undefined)
      .map((rule) => ({
        ...{ id: `rule/${rule.id}`, rule: rule.id, expected: rule.says },
        ...checkRule(rule, result, failed),
      })),
    ...assumptions.map((verdict) => ({ id: `assumption/${verdict.id}`, ...checkAssumption(verdict, options) })),
  ]
  const count = (...outcomes: CheckOutcome[]) => checks.filter(({ outcome }) => outcomes.includes(outcome)).length
  const done = count('pass', 'fail', 'baselined')
  const reached = Math.floor((100 * done) / Math.max(1, done + count('not reached')))
  const lacks = listLacks(options, checks, reached)
  const verdict = count('fail') > 0 ? 'failed' : lacks.length > 0 ? 'inconclusive' : 'passed'
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
  const isWhole = ended === undefined || ended.kind === 'quota'
  return [
    ...(isWhole ? [] : [`${capitalise(ended.reason)}.`]),
    ...(checks.some(({ id, outcome }) => outcome === 'pass' && id.includes('/')) ? [] : ['No answer shows anything.']),
    ...(asked < planned.length * LEAST_ASKED
      ? [`Only ${asked} of ${planned.length} questions were asked, which is too little for a result.`]
      : []),
    ...(reached < minReached
      ? [`Only ${reached} % of the checks were reached; --min-reached asks for ${minReached} %.`]
      : []),
    ...(isAsBefore(cleanup) ? [] : ['It is not shown that the account is as before.']),
  ]
}

/**
 * Whether a finding is about the service. A run breaks the contract on purpose in many requests, to see how the service
 * refuses them.
 */
export function concernsService(finding: JudgedDifference): boolean {
  return isFailure(finding) && partyOf(finding) === 'service'
}

/** What another client may have done is no failure. */
function checkRestoration({ cleanup }: VerifyResult, isSoleWriter: boolean): Outcome {
  const { domains, groups } = cleanup.removed
  const did = `${domains} domains and ${groups} groups were removed`
  const shown =
    domains + groups === 0 ? 'Nothing had to be removed.' : `${did}; the lists of the account are as before.`
  if (isAsBefore(cleanup)) return { outcome: 'pass', message: shown }
  const rest = describeRest(cleanup)
  if (!cleanup.restored || isSoleWriter) {
    return { outcome: 'fail', message: `It is not shown that the account is as before: ${rest}.` }
  }
  const who = 'another client or the service has changed the rest'
  return undecidable(`${did}, and nothing of the run is left; ${who}: ${rest}. With --sole-writer, this fails.`)
}

/** One check for each id of a finding that is a failure. */
function checkFindings({ result, target, isAccepted }: AssessmentOptions): VerifyCheck[] {
  const exchanges = new Map(result.exchanges.map((each) => [each.exchange.id, each]))
  const findings = new Map(result.conclusion.findings.filter(concernsService).map((finding) => [finding.id, finding]))
  return [...findings.values()].map((finding) => {
    const { id, message, rule, request_id: request = '' } = finding
    const seen = exchanges.get(request)
    const response = seen?.exchange.response
    return {
      ...{ id, message, finding, outcome: isAccepted(finding) ? 'baselined' : 'fail' },
      ...(rule !== undefined && { rule }),
      ...(seen !== undefined && { curl: curlOf(seen.sent, target) }),
      ...(response !== undefined && { received: describeResponse(response) }),
    }
  })
}

function checkOperation({ method, path }: Operation, result: VerifyResult, failed: ReadonlySet<string>): Outcome {
  const isOf = (sent: ProbeRequest) => sent.method === method && sent.path.split('?')[0] === path
  const own = result.exchanges.filter(({ sent, exchange }) => exchange.response !== undefined && isOf(sent))
  if (own.length === 0) {
    const open = result.probes.filter(({ sample }) => sample.some(isOf))
    return notReached(`${method} ${path} was not asked. ${reasonOf(open)}`)
  }
  if (own.some(({ exchange }) => failed.has(exchange.id))) return undecidable('Some of its answers are findings.')
  if (!own.some(({ exchange: { response } }) => response !== undefined && isDone({ response })))
    return notReached('It has accepted nothing.')
  return { outcome: 'pass', message: `${own.length} answers are as the contract says.` }
}

/** A rule counts as kept if each probe about it was asked and answered as the specification says. */
function checkRule({ id, unobservable }: Rule, result: VerifyResult, failed: ReadonlySet<string>): Outcome {
  const broken = result.conclusion.findings.some((finding) => concernsService(finding) && finding.rule === id)
  // The finding has its own check, which decides whether the run passes.
  if (broken) return undecidable('A finding says that it was not kept.')
  if (unobservable !== undefined) return undecidable(unobservable)
  const states = result.probes.filter(({ probe }) => probe.rule?.includes(id) === true)
  const open = states.filter(({ isAsked }) => !isAsked)
  if (open.length > 0) {
    const sides = ` ${states.length - open.length} of ${states.length} sides of it were asked.`
    return notReached(reasonOf(open) + (states.length === 1 ? '' : sides))
  }
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
  if (verdict === 'as chosen') return { outcome: 'pass', received: 'as chosen' }
  if (verdict === 'alternative') return { outcome: 'pass', received: `alternative ${alternative}` }
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

/** The ids of exchanges with a finding that is a failure. */
function failedExchanges({ conclusion }: VerifyResult): Set<string> {
  return new Set(conclusion.findings.filter(concernsService).flatMap(({ request_id: id }) => id ?? []))
}

function describeResponse({ status, body }: SeenResponse): string {
  return shorten(`${status} ${body.isKnown ? body.bytes.toString() : ''}`.trimEnd(), 300)
}

/** The request as a POSIX shell command, without the key. */
function curlOf(sent: ProbeRequest, target: string): string {
  const { key, scheme, ...request } = sent
  const authorization = key === undefined && scheme === undefined ? undefined : authorizationOf(sent, '$API_KEY')
  const headers = { ...(authorization !== undefined && { Authorization: authorization }), ...request.headers }
  const form = key === undefined && scheme === undefined ? 'valid' : 'none'
  const line = writeCurl(
    { ...request, plane: 'service', key: form, headers },
    { baseUrl: target, adminUrl: '' },
    undefined,
  )
  // The shell replaces the variable only within double quotes.
  return line.replace(`'Authorization: ${authorization}'`, `"Authorization: ${authorization}"`)
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
