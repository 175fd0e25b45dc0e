import type { Widest } from '../contract/widest.ts'
import { formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { type JudgedDifference, partyOf } from './finding.ts'
import { type ContractProblem, describeRemark, type Remark, type Report, type Tell } from './findings.ts'
import { ANSWERED_WITHOUT_KEY, isAnsweredWithoutKey, keyRuleOf } from './gate.ts'
import { AskedRequest } from './request.ts'
import { checkRequest } from './request-check.ts'
import { checkResponse } from './response-check.ts'

const LEFT_OPEN = 'The specification leaves that open, and no alternative of openapi.yaml is like it.'

/**
 * Reports everything in an exchange that the document forbids under every alternative, whatever the account holds. Each
 * aspect is judged separately, so a service may deviate in several ways at once.
 */
export function checkContract(reading: ReadExchange, asked: AskedRequest, widest: Widest, report: Report): void {
  const failure = describeFailure(reading)
  if (failure !== undefined) report(failure)
  const tell =
    (say: (problem: ContractProblem) => string): Tell =>
    (problem) => {
      const { what, place, isOpen = false, overlay } = problem
      report({ label: isOpen ? 'another choice' : 'contract violation', what, place, overlay, message: say(problem) })
    }
  checkRequest(
    reading,
    asked,
    widest,
    tell(({ reason }) => `The request ${reason} ${whatBecameOf(reading)}`),
  )
  // A failure is no answer to the request, so the form of the response says nothing. The request is as wrong as ever.
  if (failure !== undefined) return
  const sayOfResponse = ({ reason, isOpen }: ContractProblem) =>
    `The response ${reason}${isOpen ? ` ${LEFT_OPEN}` : ''}`
  checkResponse(reading, asked, widest, tell(sayOfResponse))
}

/** What is found if the request was not answered as the specification demands. */
function describeFailure({ failed, response: { status } }: ReadExchange): Remark | undefined {
  if (failed === 'gateway') {
    const message = `A gateway answered with ${status} in place of the service, so it is not known what the service has done.`
    return { label: 'cannot tell', what: 'gateway', message }
  }
  if (failed !== 'service') return undefined
  const because = 'The specification names no error for that: each request gets a success or one of its error codes.'
  return { what: 'failed', message: `The service failed with ${status}. ${because}` }
}

function whatBecameOf({ outcome, failed, response: { status } }: ReadExchange): string {
  if (failed === 'gateway') return `A gateway answered with ${status} in place of the service.`
  if (failed === 'service') return `The service failed with ${status}.`
  if (outcome.kind === 'refusal') return `The service refused it with ${status} ${show(outcome.code)}.`
  return outcome.kind === 'success' ? `The service accepted it with ${status}.` : `The service answered ${status}.`
}

/**
 * Everything in an exchange that no choice of the specification permits, whatever the account holds. Other exchanges and
 * the behaviour play no part. A finding about the request is a mistake of the client. If the service accepted such a
 * request, there is another finding, about the response.
 */
export function judgeSingle(reading: ReadExchange, widest: Widest): JudgedDifference[] {
  const { contract } = widest
  const asked = new AskedRequest(reading)
  const found = new Map<string, JudgedDifference>()
  const report = (remark: Remark) => {
    const finding = describeRemark(remark, reading, contract)
    if (!found.has(finding.id)) found.set(finding.id, finding)
  }
  checkContract(reading, asked, widest, report)
  const sent = [...found.values()].filter((each) => partyOf(each) === 'client' && !mayBeAccepted(each))
  for (const finding of reading.outcome.kind === 'success' ? sent : []) {
    const id = finding.id.replace('/request/', '/response/accepted/')
    const message = `The response accepts a request that has to be refused. ${finding.message}`
    found.set(id, { ...finding, id, message })
  }
  checkKey(reading, asked, report)
  return [...found.values()]
}

/**
 * What a service may accept, although we do not: a longer body, one with a content coding, and a request to remove what
 * cannot be there.
 */
function mayBeAccepted({ id, method }: JudgedDifference): boolean {
  return /\/request\/body\/(?:bytes|coding)$/.test(id) || (method === 'DELETE' && id.endsWith('/format'))
}

/** Reports a request without a key, and an answer to it that only a key gets. */
function checkKey(reading: ReadExchange, asked: AskedRequest, report: Report): void {
  const { exchange, operation, failed } = reading
  const form = formOf(exchange.request.credentials)
  if (operation === undefined || (form !== 'none' && form !== 'wrong')) return
  const rule = keyRuleOf(operation)
  const place = rule === undefined ? '/security' : pointTo(`${rule.place}/x-rule`, rule.id)
  const message = 'The request has no Authorization with `Bearer` and a key.'
  report({ label: 'contract violation', what: 'request/headers/authorization', place, message })
  if (failed !== undefined || !isAnsweredWithoutKey(reading, asked)) return
  report({ label: 'broken rule', rule: rule?.id, what: 'key', place, message: ANSWERED_WITHOUT_KEY })
}
