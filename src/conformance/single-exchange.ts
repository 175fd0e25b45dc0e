import type { Permitted } from '../choices/permitted.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { type JudgedDifference, partyOf } from '../judge/finding.ts'
import { findContractProblems, findingOf } from './contract-problems.ts'
import { ANSWERED_WITHOUT_KEY, earlyProblems, keyRuleOf } from './gate-judgement.ts'

/**
 * Everything in an exchange that no choice of the specification permits, whatever the account holds. Other exchanges and
 * the behaviour play no part. A finding about the request is a mistake of the client. If the service accepted such a
 * request, there is another finding, about the response.
 */
export function judgeSingle(reading: ReadExchange, permitted: Permitted): JudgedDifference[] {
  const findings = findContractProblems(reading, permitted)
  const accepted = reading.outcome.kind === 'success' ? findings.filter((each) => partyOf(each) === 'client') : []
  return [
    ...findings,
    ...accepted.map((finding) => ({
      ...finding,
      id: finding.id.replace('/request/', '/response/accepted/'),
      message: `The response accepts a request that has to be refused. ${finding.message}`,
    })),
    ...findAboutKey(reading, permitted),
  ]
}

function findAboutKey(reading: ReadExchange, permitted: Permitted): JudgedDifference[] {
  const { exchange, operation, outcome, failed } = reading
  const form = formOf(exchange.request.credentials)
  if (operation === undefined || (form !== 'none' && form !== 'wrong')) return []
  const rule = keyRuleOf(operation)
  const pointer = rule === undefined ? '/security' : pointTo(`${rule.place}/x-rule`, rule.id)
  const place = { ...(rule !== undefined && { rule: rule.id }), pointer, line: permitted.lineOf(pointer) }
  const message = 'The request has no Authorization with `Bearer` and a key.'
  const missing = { label: 'contract violation', what: 'request/headers/authorization', message } as const
  const request = { ...findingOf(reading, permitted.contract, missing), ...place }
  const isRefused = outcome.kind === 'refusal' && ['unauthorized', 'rate_limited'].includes(outcome.code)
  const isAnswered = outcome.kind !== 'unreadable' && failed === undefined && !isRefused
  if (!isAnswered || earlyProblems(reading).length > 0) return [request]
  const broken = { label: 'broken rule', what: rule?.id ?? 'key', message: ANSWERED_WITHOUT_KEY } as const
  return [request, { ...findingOf(reading, permitted.contract, broken), ...place }]
}
