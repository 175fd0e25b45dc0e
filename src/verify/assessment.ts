import { decideVerdicts } from '../choices/verdicts.ts'
import type { Choices } from '../contract/choices.ts'
import type { Rule } from '../contract/rules.ts'
import { writeCurl } from '../coverage/curl.ts'
import type { SeenBody, SeenResponse } from '../exchanges/exchange.ts'
import { codeIn } from '../exchanges/reading.ts'
import { shorten } from '../ground/show.ts'
import { isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import type { ProbeState } from './asking.ts'
import { isPage } from './conversation.ts'
import { codesOf } from './foresight.ts'
import type { KeptExchange } from './ledger.ts'
import { pairsToldApart } from './plan.ts'
import { describeRequest, headersOf, type ProbeRequest, quotaPathOf, type RuleSide } from './probe.ts'
import { SIDES } from './probes.ts'
import type { VerifyResult } from './verification.ts'

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
  passed: boolean
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
}

/** Makes one check for each rule, assumption, operation and finding, and one for the cleanup. */
export function assess(options: AssessmentOptions): Assessment {
  const { result, choices, minReached } = options
  const { conclusion } = result
  const assumptions = decideVerdicts(conclusion.observations, choices)
  const checks = [
    checkRestoration(result),
    ...checkFindings(options),
    ...checkOperations(options),
    ...checkRules(options),
    ...checkAssumptions(assumptions, options),
  ]
  const count = (...outcomes: CheckOutcome[]) => checks.filter(({ outcome }) => outcomes.includes(outcome)).length
  const done = count('pass', 'fail', 'baselined')
  const reached = Math.floor((100 * done) / Math.max(1, done + count('not reached')))
  const isWhole = result.ended === undefined || result.ended === 'quota'
  // A run without a judged answer shows nothing.
  const isAnything =
    result.exchanges.length > 0 && checks.some(({ id, outcome }) => outcome === 'pass' && id.includes('/'))
  const passed = isWhole && isAnything && count('fail') === 0 && result.cleanup.restored && reached >= minReached
  return { checks, assumptions, reached, passed }
}

function checkRestoration({ cleanup }: VerifyResult): VerifyCheck {
  const { restored, removed, left, changes, reason } = cleanup
  const remains = [...left.domains.map((name) => `the domain ${name}`), ...left.groups.map((id) => `the group ${id}`)]
  const parts = [...(remains.length > 0 ? [`still there: ${shorten(remains.join(', '), 1_000)}`] : []), ...changes]
  return {
    id: 'restoration',
    outcome: restored ? 'pass' : 'fail',
    message: restored
      ? removed.domains + removed.groups === 0
        ? 'Nothing had to be removed.'
        : `${removed.domains} domains and ${removed.groups} groups were removed; the lists of the account are as before.`
      : `It is not shown that the account is as before: ${[reason ?? 'the reason is not known', ...parts].join('; ')}.`,
  }
}

/**
 * Whether a finding is about the service. A run breaks the contract on purpose in many requests, to see how the service
 * refuses them.
 */
export function concernsService(finding: JudgedDifference): boolean {
  return isFailure(finding) && partyOf(finding) === 'service'
}

/** One check for each id of a finding that is a failure. */
function checkFindings({ result, target, isAccepted }: AssessmentOptions): VerifyCheck[] {
  const exchanges = new Map(result.exchanges.map((kept) => [kept.exchange.id, kept]))
  const probes = new Map(result.probes.map((state) => [state.probe.id, state]))
  const seen = new Set<string>()
  const checks: VerifyCheck[] = []
  for (const finding of result.conclusion.findings) {
    if (!concernsService(finding) || seen.has(finding.id)) continue
    seen.add(finding.id)
    const kept = exchanges.get(finding.request_id ?? '')
    const expected = kept && expectedOf(kept, result.exchanges, probes.get(kept.probe ?? ''))
    checks.push({
      id: finding.id,
      outcome: isAccepted(finding) ? 'baselined' : 'fail',
      ...(finding.rule !== undefined && { rule: finding.rule }),
      message: finding.message,
      ...(kept !== undefined && { curl: curlOf(kept, target) }),
      ...(expected !== undefined && { expected }),
      ...(kept?.exchange.response !== undefined && { received: describeResponse(kept.exchange.response) }),
      finding,
    })
  }
  return checks
}

/** What the service would have answered under our choices, if the request belongs to a probe. */
function expectedOf(
  kept: KeptExchange,
  all: readonly KeptExchange[],
  state: ProbeState | undefined,
): string | undefined {
  if (state === undefined || kept.setUp) return undefined
  const own = all.filter(({ probe, setUp }) => probe === kept.probe && !setUp)
  const { answers } = state.probe
  // A probe that was repeated after a 429 has more exchanges than answers.
  return answers[own.indexOf(kept) % Math.max(1, answers.length)]
}

function checkOperations({ result, choices }: AssessmentOptions): VerifyCheck[] {
  const failed = failedExchanges(result)
  return choices.contract.operations.map(({ id: operation, method, path }) => {
    const id = `operation/${operation}`
    const isOfOperation = (sent: Pick<ProbeRequest, 'method' | 'path'>) =>
      sent.method === method && sent.path.split('?')[0] === path
    const own = result.exchanges.filter(({ sent, exchange }) => exchange.response !== undefined && isOfOperation(sent))
    if (own.length === 0) {
      const open = result.probes.filter(({ probe }) => probe.rehearsed.some(isOfOperation))
      return { id, outcome: 'not reached', message: `${method} ${path} was not asked. ${reasonOf(open)}` }
    }
    if (own.some(({ exchange }) => failed.has(exchange.id)))
      return { id, outcome: 'undecidable', message: 'Some of its answers are findings.' }
    const isSuccess = own.some(({ exchange: { response } }) => response !== undefined && response.status < 300)
    if (!isSuccess) return { id, outcome: 'not reached', message: 'It has accepted nothing.' }
    return { id, outcome: 'pass', message: `${own.length} answers are as the contract says.` }
  })
}

function checkRules(options: AssessmentOptions): VerifyCheck[] {
  const { result, choices } = options
  const rules = new Map<string, Rule>()
  for (const operation of choices.contract.operations) for (const rule of operation.rules) rules.set(rule.id, rule)
  const failed = failedExchanges(result)
  const broken = new Set(result.conclusion.findings.filter(concernsService).flatMap(({ rule }) => rule ?? []))
  return [...rules.values()].map((rule) => checkRule(rule, options, failed, broken.has(rule.id)))
}

function checkRule(
  { id, says, unobservable }: Rule,
  options: AssessmentOptions,
  failed: ReadonlySet<string>,
  isBroken: boolean,
): VerifyCheck {
  const { result } = options
  const check = { id: `rule/${id}`, rule: id, expected: says }
  // The finding has its own check, which decides whether the run passes.
  if (isBroken) return { ...check, outcome: 'undecidable', message: 'A finding says that it was not kept.' }
  if (unobservable !== undefined) return { ...check, outcome: 'undecidable', message: unobservable }
  const sides = SIDES[id]
  if (sides !== undefined) return { ...check, ...judgeSides(sides, options, failed) }
  const states = result.probes.filter(({ probe }) => probe.proofs.has(id))
  if (states.length === 0) return { ...check, outcome: 'undecidable', message: 'No request of verify can show it.' }
  const asked = states.filter(({ state }) => state === 'asked')
  if (asked.length === 0) return { ...check, outcome: 'not reached', message: reasonOf(states) }
  const isShown = asked.some(({ probe }) => {
    const last = exchangesOf(probe.id, result).slice(-probe.answers.length)
    const codes = codesOf(last.map(({ exchange: { response } }) => codeOf(response)))
    return probe.proofs.get(id)?.has(codes) === true && last.every(({ exchange }) => !failed.has(exchange.id))
  })
  if (isShown) return { ...check, outcome: 'pass' }
  return { ...check, outcome: 'undecidable', message: 'The answers do not show whether it is kept.' }
}

/** A rule with several sides counts as kept if each of them was asked and answered as it must be. */
function judgeSides(
  sides: (typeof SIDES)[string],
  { result, target }: AssessmentOptions,
  failed: ReadonlySet<string>,
): Omit<VerifyCheck, 'id'> {
  const states = new Map(result.probes.map((state) => [state.probe.id, state]))
  // The rehearsal uses up no quota, and a contract with an overlay may accept more.
  const isRefused = (probe: string) => /^[45]/.test(states.get(probe)?.probe.answers.at(-1) ?? '')
  const wrong = sides
    .filter(([probe, side]) => side === 'refused' && isRefused(probe))
    .flatMap(([probe]) => exchangesOf(probe, result).at(-1) ?? [])
    .find(({ exchange }) => sideOf(exchange.response) === 'accepted')
  if (wrong?.exchange.response !== undefined) {
    const received = describeResponse(wrong.exchange.response)
    return { outcome: 'fail', message: `The service accepted ${wrong.probe}.`, curl: curlOf(wrong, target), received }
  }
  const open = sides.flatMap(([probe]) => states.get(probe) ?? []).filter(({ state }) => state !== 'asked')
  if (open.length > 0) {
    const more = sides.length === 1 ? '' : ` ${sides.length - open.length} of ${sides.length} sides of it were asked.`
    return { outcome: 'not reached', message: reasonOf(open) + more }
  }
  for (const [probe, side] of sides) {
    const { probe: { exhausts, answers } = { answers: [] }, allowed } = states.get(probe) ?? {}
    const kept = exchangesOf(probe, result)
    const last = kept.at(-1)
    const shown = side === 'accepted' ? kept.slice(-answers.length) : kept.slice(-1)
    const open = shown.find(({ exchange: { id, response } }) => {
      const came = sideOf(response)
      return came === undefined || (side !== 'answered' && came !== side) || failed.has(id)
    })
    if (last === undefined || open !== undefined) {
      const status = open?.exchange.response?.status ?? 0
      return { outcome: 'undecidable', message: `The answer to ${probe} (${status}) does not show that it is kept.` }
    }
    const { limit } = result.quotas.find(({ path }) => path === quotaPathOf(last.sent)) ?? {}
    if (exhausts !== true || allowed === limit) continue
    if (allowed === undefined) return { outcome: 'undecidable', message: 'No request was refused for the quota.' }
    const why = allowed > (limit ?? 0) ? 'a new key may have more' : 'another client may have sent the others'
    return { outcome: 'undecidable', message: `The service allowed ${allowed} requests of ${limit}; ${why}.` }
  }
  return { outcome: 'pass' }
}

/** What the service has done with a request; `undefined` if nothing or the page of a gateway came. */
function sideOf(response: SeenResponse | undefined): RuleSide | undefined {
  if (response === undefined || isPage(response)) return undefined
  if (response.status < 300) return 'accepted'
  return codeIn(response) === undefined ? undefined : 'refused'
}

function exchangesOf(probe: string, result: VerifyResult): KeptExchange[] {
  return result.exchanges.filter((kept) => kept.probe === probe && !kept.setUp)
}

function checkAssumptions(
  verdicts: readonly AssumptionVerdict[],
  { result, choices }: AssessmentOptions,
): VerifyCheck[] {
  const withAlternatives = new Set(choices.alternatives.map(({ id }) => id))
  return verdicts.map(({ id: assumption, verdict, alternative, left, evidence }) => {
    const id = `assumption/${assumption}`
    const undecidable = (message: string): VerifyCheck => ({ id, outcome: 'undecidable', message })
    if (verdict === 'as chosen') return { id, outcome: 'pass', received: 'as chosen' }
    if (verdict === 'alternative') return { id, outcome: 'pass', received: `alternative ${alternative}` }
    // The specification leaves it open, so a choice that no alternative describes is no failure.
    if (verdict === 'contradicted') {
      const requests = evidence.join(', ')
      return undecidable(`No alternative explains all answers, so it is another choice. See the requests ${requests}.`)
    }
    if (!withAlternatives.has(assumption)) return undecidable('It has no alternative.')
    const states = result.probes.filter(
      ({ probe: { tells, exhausts, decides } }) =>
        Object.hasOwn(tells, assumption) || (exhausts === true && decides.includes(assumption)),
    )
    if (states.length === 0) return undecidable('No request of verify can tell its alternatives apart.')
    const pairsOf = ({ probe: { exhausts, tells } }: ProbeState) =>
      exhausts === true ? [assumption] : pairsToldApart(tells[assumption] ?? [])
    const told = new Set(states.flatMap((each) => (each.state === 'asked' ? pairsOf(each) : [])))
    const open = states.filter((each) => each.state !== 'asked' && pairsOf(each).some((pair) => !told.has(pair)))
    if (open.length > 0) return { id, outcome: 'not reached', message: reasonOf(open) }
    const still = left === undefined ? '' : ` Still possible: ${left.join(', ')}.`
    return undecidable(`The answers do not tell its alternatives apart.${still}`)
  })
}

/** Which request would show it, and why it was not sent. */
function reasonOf(states: readonly ProbeState[]): string {
  const [first] = states
  const request = first?.probe.rehearsed.at(-1)
  if (first === undefined || request === undefined) return 'Nothing was asked.'
  const { id, exhausts } = first.probe
  const how = exhausts === true ? `${describeRequest(request)}, until it is refused` : describeRequest(request)
  return `${id} was not asked, because ${first.reason ?? 'the run ended before'}: ${shorten(how, 200)}.`
}

/** The ids of exchanges with a finding that is a failure. */
function failedExchanges({ conclusion }: VerifyResult): Set<string> {
  return new Set(conclusion.findings.filter(concernsService).flatMap(({ request_id: id }) => id ?? []))
}

function codeOf(response: SeenResponse | undefined): string | undefined {
  if (response === undefined) return 'nothing'
  return codeIn(response) ?? (response.status < 300 ? undefined : `${response.status}`)
}

function describeResponse(response: SeenResponse): string {
  const text = textOf(response.body)
  return shorten(text === '' ? `${response.status}` : `${response.status} ${text}`, 300)
}

function textOf(body: SeenBody): string {
  return body.isKnown ? body.bytes.toString() : ''
}

/** Header fields that a client adds automatically. */
const OWN_FIELDS = new Set(['accept', 'host', 'connection', 'content-length'])

/** The request as a POSIX shell command, without the key. */
function curlOf({ exchange: { request }, sent }: KeptExchange, target: string): string {
  const { headers, body } = request
  const text = textOf(body)
  const trimmed = text.trimEnd()
  const isPadded = text.length - trimmed.length > 100
  const fields = Object.entries(headers).filter(([name]) => !OWN_FIELDS.has(name))
  const { Authorization: authorization } = headersOf(sent, '$API_KEY')
  const line = writeCurl(
    {
      plane: 'service',
      method: sent.method,
      path: sent.path,
      key: 'none',
      headers: Object.fromEntries([
        ...(authorization === undefined ? [] : [['Authorization', authorization]]),
        ...fields.filter(([name, value]) => name !== 'content-type' || value !== 'application/json' || text === ''),
      ]),
      ...((text !== '' || headers['content-type'] !== undefined) && { body: isPadded ? trimmed : text }),
      ...(isPadded && { padTo: text.length }),
    },
    { baseUrl: target, adminUrl: '' },
    undefined,
  )
  // The shell replaces the variable only within double quotes.
  return line.replace(`'Authorization: ${authorization}'`, `"Authorization: ${authorization}"`)
}
