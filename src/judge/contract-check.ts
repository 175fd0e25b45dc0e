import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { createRouter } from '../contract/router.ts'
import { isRefusedBy } from '../contract/rules.ts'
import type { Widest } from '../contract/widest.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { shorten, show } from '../ground/show.ts'
import { redactKeys } from '../journal/redaction/key-shapes.ts'
import { type JudgedDifference, type Label, partyOf } from './finding.ts'
import { type ContractProblem, codesOfUnusual, findInRequest } from './request-check.ts'
import { findInResponse } from './response-check.ts'

/**
 * Everything in an exchange that the document forbids under every alternative, whatever the account holds. Each aspect
 * is judged separately, so a service may deviate in several ways at once.
 */
export function findContractProblems(reading: ReadExchange, widest: Widest): JudgedDifference[] {
  const failure = findFailure(reading)
  const asked = operationOf(reading, widest)
  const sent = findInRequest(reading, asked, widest)
  // A failure is no answer to the request, so the form of the response says nothing. The request is as wrong as ever.
  const came = failure === undefined ? findInResponse(reading, asked, widest) : []
  if (failure === undefined && sent.length === 0 && came.length === 0) return []
  const failed = failure === undefined ? [] : [findingOf(reading, widest.contract, failure.finding)]
  const became = failure?.said ?? whatBecameOf(reading)
  return [
    ...failed,
    ...describe(sent, reading, widest, (reason) => `The request ${reason} ${became}`),
    ...describe(came, reading, widest, (reason, isOpen) => `The response ${reason}${isOpen ? ` ${LEFT_OPEN}` : ''}`),
  ]
}

const LEFT_OPEN = 'The specification leaves that open, and no alternative of openapi.yaml is like it.'

/** The operation of a request under our choice, or if there is none, under an alternative. */
export function operationOf({ exchange, operation, path }: ReadExchange, widest: Widest): Operation | undefined {
  if (operation !== undefined) return operation
  const route = laxRouterOf(widest)(exchange.request.method, path)
  return route.ok ? route.operation : undefined
}

const laxRouterOf = memoizeWeakly(({ contract }: Widest) =>
  createRouter(contract, { ...contract.settings, pathMatching: 'lenient' }),
)

/** One finding for each id, which says how often the same is wrong. */
function describe(
  problems: readonly ContractProblem[],
  reading: ReadExchange,
  { contract }: Widest,
  say: (reason: string, isOpen: boolean) => string,
): JudgedDifference[] {
  const first = new Map<string, { problem: ContractProblem; label: Label; more: number }>()
  for (const problem of problems) {
    const label = problem.isOpen === true ? 'another choice' : 'contract violation'
    const known = first.get(label + problem.what)
    if (known === undefined) first.set(label + problem.what, { problem, label, more: 0 })
    else known.more++
  }
  return [...first.values()].map(({ problem: { what, place, reason, isOpen = false, overlay }, label, more }) => {
    const others = more === 0 ? '' : ` The same is wrong at ${more} more of its places.`
    const located = { pointer: place, ...(overlay !== undefined && { overlay }) }
    return findingOf(reading, contract, { label, what, message: say(reason, isOpen) + others, ...located })
  })
}

/** What is found if the request was not answered as the specification demands, and what it says of the request. */
function findFailure({
  failed,
  response: { status },
}: ReadExchange): { finding: { label: Label; what: string; message: string }; said: string } | undefined {
  if (failed === 'gateway') {
    const said = `A gateway answered with ${status} in place of the service`
    const message = `${said}, so it is not known what the service has done.`
    return { finding: { label: 'cannot tell', what: 'gateway', message }, said: `${said}.` }
  }
  if (failed !== 'service') return undefined
  const said = `The service failed with ${status}.`
  const message = `${said} The specification names no error for that: each request gets a success or one of its error codes.`
  return { finding: { label: 'unexplained', what: 'failed', message }, said }
}

function whatBecameOf({ outcome, response: { status } }: ReadExchange): string {
  if (outcome.kind === 'refusal') return `The service refused it with ${status} ${show(outcome.code)}.`
  return outcome.kind === 'success' ? `The service accepted it with ${status}.` : `The service answered ${status}.`
}

/** A finding about an exchange. `what` is the end of its id. */
export function findingOf(
  reading: ReadExchange,
  { basePath }: Pick<Contract, 'basePath'>,
  { what, message, ...more }: Partial<JudgedDifference> & { label: Label; what: string; message: string },
): JudgedDifference {
  const { exchange, response, path, query } = reading
  const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path
  return {
    id: idOf(more.label, reading, what),
    request_id: exchange.id,
    method: exchange.request.method,
    path: redactKeys(below + (query === undefined ? '' : `?${query}`)),
    status: response.status,
    ...quote('asked', exchange.request.body),
    ...quote('answered', response.body),
    ...more,
    message: redactKeys(message),
  }
}

/** How many bytes of a body a finding quotes. */
const QUOTED = 400

function quote(field: 'asked' | 'answered', body: SeenBody): Pick<JudgedDifference, typeof field> {
  if (!body.isKnown || body.bytes.length === 0) return {}
  return { [field]: shorten(redactKeys(body.bytes.subarray(0, QUOTED).toString()), QUOTED - 1) }
}

/** The id of a finding. */
export function idOf(label: Label, { operation, route, response }: ReadExchange, what: string): string {
  const neighbour = !route.ok && route.neighbour !== undefined ? route.neighbour.path.slice(1) : 'unknown-path'
  return `${label.replaceAll(' ', '-')}/${operation?.id ?? neighbour}/${response.status}/${what}`
}

/**
 * Everything in an exchange that no choice of the specification permits, whatever the account holds. Other exchanges and
 * the behaviour play no part. A finding about the request is a mistake of the client. If the service accepted such a
 * request, there is another finding, about the response.
 */
export function judgeSingle(reading: ReadExchange, widest: Widest): JudgedDifference[] {
  const findings = findContractProblems(reading, widest)
  const sent = findings.filter((each) => partyOf(each) === 'client')
  const accepted = reading.outcome.kind === 'success' ? sent.filter((each) => !mayBeAccepted(each)) : []
  const aboutKey = findAboutKey(reading, sent.length > 0, widest)
  if (accepted.length + aboutKey.length === 0) return findings
  return [
    ...findings,
    ...accepted.map((finding) => ({
      ...finding,
      id: finding.id.replace('/request/', '/response/accepted/'),
      message: `The response accepts a request that has to be refused. ${finding.message}`,
    })),
    ...aboutKey,
  ]
}

/**
 * What a service may accept, although we do not: a longer body, one with a content coding, and a request to remove what
 * cannot be there.
 */
function mayBeAccepted({ id, method }: JudgedDifference): boolean {
  return /\/request\/body\/(?:bytes|coding)$/.test(id) || (method === 'DELETE' && id.endsWith('/format'))
}

/** The rule that requests need a key. */
export function keyRuleOf({ rules }: Operation): Operation['rules'][number] | undefined {
  return rules.find((each) => isRefusedBy(each, 'unauthorized', undefined))
}

export const ANSWERED_WITHOUT_KEY = 'The request had no valid key, and was answered nevertheless.'

/** `isWrong`: whether the request has another mistake, which a service may see before it looks at the key. */
function findAboutKey(reading: ReadExchange, isWrong: boolean, { contract }: Widest): JudgedDifference[] {
  const { exchange, operation, outcome, failed } = reading
  const form = formOf(exchange.request.credentials)
  if (operation === undefined || (form !== 'none' && form !== 'wrong')) return []
  const rule = keyRuleOf(operation)
  const pointer = rule === undefined ? '/security' : pointTo(`${rule.place}/x-rule`, rule.id)
  const place = { ...(rule !== undefined && { rule: rule.id }), pointer }
  const message = 'The request has no Authorization with `Bearer` and a key.'
  const missing = { label: 'contract violation', what: 'request/headers/authorization', message } as const
  const request = { ...findingOf(reading, contract, missing), ...place }
  const isExpected = (code: string) =>
    ['unauthorized', 'rate_limited'].includes(code) || isWrong || codesOfUnusual(reading, operation).has(code)
  const isAnswered = outcome.kind === 'success' || (outcome.kind === 'refusal' && !isExpected(outcome.code))
  if (failed !== undefined || !isAnswered) return [request]
  const broken = { label: 'broken rule', what: rule?.id ?? 'key', message: ANSWERED_WITHOUT_KEY } as const
  return [request, { ...findingOf(reading, contract, broken), ...place }]
}
