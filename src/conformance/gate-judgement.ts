import { hypothesesFor } from '../choices/hypotheses.ts'
import { type Assignment, assignmentsOf } from '../choices/observation.ts'
import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import type { Problem } from '../domain/errors.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { AccountTrack } from './account-track.ts'
import { explain, type JudgementContext } from './context.ts'

/** A service treats HEAD like GET or refuses the method. The response has no body, so only its status shows which. */
export function judgeHead(
  { results }: JudgementContext,
  { exchange, operation, response: { status } }: ReadExchange,
): void {
  const isGet = status < 300
  if (operation === undefined || (!isGet && status !== 405)) return
  results.observeSetting('head', (value) => (value === 'get') === isGet, exchange)
}

export const ANSWERED_WITHOUT_KEY = 'The request had no valid key, and was answered nevertheless.'

/** The rule that requests need a key. */
export function keyRuleOf({ rules }: Operation): Operation['rules'][number] | undefined {
  return rules.find((each) => isRefusedBy(each, 'unauthorized', undefined))
}

/** Whether the request passed the checks of key, plan and quota, so that its behaviour can be judged. */
export function judgeGate(
  { results }: JudgementContext,
  reading: ReadExchange,
  track: AccountTrack,
  report: (finding: JudgedDifference) => void,
): boolean {
  const { exchange, operation, outcome } = reading
  const { credentials } = exchange.request
  const form = formOf(credentials)
  const code = outcome.kind === 'refusal' ? outcome.code : undefined
  if (code === 'rate_limited') return false
  if (code === 'unauthorized') {
    if (operation === undefined) results.observeSetting('routing', (value) => value === 'after-key', exchange)
    else if (form === 'any-case' && track.wasAdmitted) {
      const observe = () => results.observeSetting('authorizationScheme', (value) => value === 'exact', exchange)
      track.pending.add(new Set(['key']), observe)
    }
    return false
  }
  if (operation === undefined) {
    if (form === 'none' || form === 'wrong')
      results.observeSetting('routing', (value) => value === 'before-key', exchange)
    return true
  }
  if (form === 'any-case') results.observeSetting('authorizationScheme', (value) => value === 'any-case', exchange)
  if (form === 'none' || form === 'wrong') {
    const rule = keyRuleOf(operation)
    report(results.describe(reading, 'broken rule', rule?.id ?? 'key', ANSWERED_WITHOUT_KEY, rule))
  }
  if (form === 'exact') {
    track.wasAdmitted = true
    track.pending.confirm('key')
  }
  return true
}

/** A service may refuse a valid key because the account has reached a limit. The key must be valid before and after. */
export async function judgeCap(
  context: JudgementContext,
  reading: ReadExchange,
  purpose: RequestPurpose,
  track: AccountTrack,
): Promise<void> {
  const { results, isSoleWriter, isOwnName } = context
  const { exchange, operation, outcome } = reading
  if (operation === undefined || outcome.kind !== 'refusal' || outcome.code !== 'unauthorized') return
  const relies = { onAll: !exchange.overlaps, isOwn: isOwnName }
  const { worlds, facts } = hypothesesFor(reading, purpose, track.knowledge, relies)
  const { isExplained, allows } = await explain(context, purpose, { reading, worlds, now: exchange.until })
  if (!isExplained || allows.length === 0) return
  const relied = new Set([...(isSoleWriter ? [] : facts), 'key'])
  const either = allows.map((each) => orSwitchedOff(context, each, reading))
  track.pending.add(relied, () => results.observeAll(either, exchange))
}

/** Adds all combinations under which the service gives this status to a key that was switched off for a while. */
function orSwitchedOff(
  { variants, permitted }: JudgementContext,
  allows: readonly Assignment[],
  { response: { status } }: ReadExchange,
): Assignment[] {
  const rows = permitted.answersTo({ code: 'unauthorized' })?.rows ?? []
  const all = assignmentsOf(Object.keys(allows[0] ?? {}).map((id) => [id, variants.numbersOf(id)]))
  return all.flatMap((each) => {
    const isAllowed = allows.some((some) => Object.entries(some).every(([id, number]) => each[id] === number))
    const possible = rows.filter(({ answer }) => isAllowed || answer.status === status)
    return possible.map(({ assignment }) => ({ ...each, ...assignment }))
  })
}

/** In bytes. Some services refuse request header fields from this size on, most only larger ones. */
const LARGE_HEADER = 4096

/** Why the service may have refused a request before it looked at the content; empty if it looked at it. */
export function earlyProblems({ exchange, outcome, response }: ReadExchange): Problem<string>[] {
  if (outcome.kind !== 'refusal') return []
  if (response.status === 408) return [{ code: 'invalid_request_body', reason: 'timeout' }]
  const { headers, target, body } = exchange.request
  const size = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, target.length)
  const isPossible = outcome.code === 'request_too_large' || outcome.code === 'invalid_request_body'
  if (size <= LARGE_HEADER || !isPossible) return []
  const isEmpty = body.isKnown && body.bytes.length === 0
  return [{ code: 'request_too_large', reason: 'large-header' }, ...(isEmpty ? [] : [{ code: outcome.code }])]
}
