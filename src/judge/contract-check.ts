import type { Widest } from '../contract/widest.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { type JudgedDifference, partyOf } from './finding.ts'
import { collectFindings, type Report, type Tell } from './findings.ts'
import { ANSWERED_WITHOUT_KEY, isAnsweredWithoutKey, isKeyless, keyRuleOf } from './gate.ts'
import { AskedRequest } from './request.ts'
import { checkRequest } from './request-check.ts'
import { checkResponse } from './response-check.ts'

const LEFT_OPEN = 'The specification leaves that open, and no alternative of openapi.yaml is like it.'
const NO_ERROR = 'The specification names no error for that: each request gets a success or one of its error codes.'

/**
 * Reports everything in an exchange that the document forbids under every alternative, whatever the account holds. Each
 * aspect is judged separately, so a service may deviate in several ways at once.
 */
export function checkContract(reading: ReadExchange, asked: AskedRequest, widest: Widest, report: Report): void {
  const { failed } = reading
  if (failed === 'gateway' || failed === 'page') {
    const message = `${whatBecameOf(reading).slice(0, -1)}, so it is not known what the service has done.`
    report({ label: 'cannot tell', what: failed, message })
  } else if (failed === 'service') report({ what: 'failed', message: `${whatBecameOf(reading)} ${NO_ERROR}` })
  const telling = (say: (reason: string, isOpen: boolean) => string): Tell => {
    return (what, place, reason, { isOpen = false, overlay } = {}) => {
      const message = say(reason, isOpen)
      report({ label: isOpen ? 'another choice' : 'contract violation', what, place, overlay, message })
    }
  }
  checkRequest({ reading, asked, widest, tell: telling((reason) => `The request ${reason} ${whatBecameOf(reading)}`) })
  // A failure is no answer to the request, so the form of the response says nothing. The request is as wrong as ever.
  if (failed !== undefined && failed !== 'unknown') return
  const tell = telling((reason, isOpen) => `The response ${reason}${isOpen ? ` ${LEFT_OPEN}` : ''}`)
  checkResponse({ reading, asked, widest, tell })
}

function whatBecameOf({ outcome, failed, response: { status } }: ReadExchange): string {
  if (failed === 'gateway') return `A gateway answered with ${status} in place of the service.`
  if (failed === 'page') return `A page with ${status} came in place of an answer of the service.`
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
  const asked = new AskedRequest(reading)
  const { findings, report } = collectFindings(reading, widest.contract)
  checkContract(reading, asked, widest, report)
  const sent = findings.filter((each) => partyOf(each) === 'client' && !mayBeAccepted(each))
  for (const finding of reading.outcome.kind === 'success' ? sent : []) {
    const id = finding.id.replace('/request/', '/response/accepted/')
    const message = `The response accepts a request that has to be refused. ${finding.message}`
    findings.push({ ...finding, id, message })
  }
  checkKey(reading, asked, report)
  return findings
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
  if (operation === undefined || !isKeyless(exchange)) return
  const rule = keyRuleOf(operation)
  const place = rule === undefined ? '/security' : pointTo(`${rule.place}/x-rule`, rule.id)
  const message = 'The request has no Authorization with `Bearer` and a key.'
  report({ label: 'contract violation', what: 'request/headers/authorization', place, message })
  if (failed !== undefined || !isAnsweredWithoutKey(reading, asked)) return
  report({ label: 'broken rule', rule: rule?.id, what: 'key', place, message: ANSWERED_WITHOUT_KEY })
}
