import type { Explanation } from '../choices/explainer.ts'
import { type Hypotheses, hypothesesFor } from '../choices/hypotheses.ts'
import type { Problem } from '../domain/errors.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import { changesSomething, type ReadExchange } from '../exchanges/reading.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { AccountTrack } from './account-track.ts'
import { explain, type JudgementContext } from './context.ts'
import {
  changedByAnother,
  describeMismatch,
  describeUnexplained,
  orderUnknown,
  reportDeviations,
} from './differences.ts'
import { learnFrom } from './learning.ts'

/** An exchange whose request passed the gate. */
export interface JudgedExchange {
  reading: ReadExchange
  purpose: RequestPurpose
  track: AccountTrack
  /** Whether the body of the response breaks the contract, so that its content need not make sense. */
  isMalformed: boolean
  report(finding: JudgedDifference): void
}

/**
 * Judges whether a possible state of the account, together with some choice, leads to the response, and learns from it.
 * Resolves to the problems that the service may have reported; empty if they are not known.
 */
export async function judgeBehaviour(
  context: JudgementContext,
  admitted: JudgedExchange,
): Promise<readonly Problem<string>[]> {
  const { reading, purpose, track, isMalformed, report } = admitted
  const { exchange, operation, outcome, shown } = reading
  const { isSoleWriter, isOwnName } = context
  const now = timeOf(reading)
  // First as if all knowledge were true; `judgeReliance` finds out what also holds if another client has changed the account.
  const relying = hypothesesFor(reading, purpose, track.knowledge, { onAll: !exchange.overlaps, isOwn: isOwnName })
  const known = await explain(context, purpose, { reading, worlds: relying.worlds, now })
  if (known.isExplained && operation?.method === 'DELETE') await judgeFreedom(context, admitted)
  const facts = isSoleWriter ? new Set<string>() : relying.facts
  const explanation = facts.size === 0 ? known : await judgeReliance(context, admitted, known, facts)
  if (facts.size === 0) {
    context.results.observeAll(known.allows, exchange)
    if (known.isExplained) reportDeviations(context, reading, known, report)
  }
  if (!explanation.isExplained && !isMalformed) report(describeUnexplained(context, reading, purpose, track, known))
  if (outcome.kind !== 'success') return explanation.problems
  const isChange = changesSomething(exchange.request.method)
  if (isChange && (exchange.overlaps || !known.isExplained)) track.forget(purpose, operation)
  if (exchange.overlaps) {
    if (isChange || shown.lists !== undefined) report(orderUnknown(context, reading))
    return []
  }
  if (operation !== undefined && shown.lists !== undefined) judgeList(context, admitted)
  // What an unlisted choice does to the account is not known.
  else if (known.open === undefined)
    learnFrom(track.knowledge, reading, purpose, known.isExplained ? known : undefined, now)
  return []
}

/**
 * Judges a response with the help of knowledge that another client may have made wrong. Conclusions that hold without
 * this knowledge are drawn at once; the others wait. Resolves to what explains the response.
 */
async function judgeReliance(
  context: JudgementContext,
  admitted: JudgedExchange,
  known: Explanation,
  facts: Hypotheses['facts'],
): Promise<Explanation> {
  const { reading, purpose, track, report } = admitted
  const isSuccess = reading.outcome.kind === 'success'
  if (isSuccess && known.isSilent) {
    // Every choice explains it in the known worlds already, so it also says nothing in a larger set of worlds.
    for (const fact of facts) track.pending.confirm(fact)
    return known
  }
  const { worlds } = hypothesesFor(reading, purpose, track.knowledge, { onAll: false, isOwn: context.isOwnName })
  const anyhow = await explain(context, purpose, { reading, worlds, now: timeOf(reading) })
  context.results.observeAll(anyhow.allows, reading.exchange)
  if (known.isExplained) {
    if (isSuccess) for (const fact of facts) track.pending.confirm(fact)
    suspend(context, admitted, known, anyhow, facts)
    return { ...known, problems: anyhow.problems }
  }
  track.isShared = true
  for (const fact of facts) track.pending.contradict(fact)
  if (anyhow.isExplained) report(changedByAnother(context, reading, known))
  return anyhow
}

/**
 * A domain that was just added is used by no feature. This matters when the domain is removed later: no service removes
 * a domain while it is used.
 */
async function judgeFreedom(context: JudgementContext, { reading, purpose, track }: JudgedExchange): Promise<void> {
  const { exchange, outcome } = reading
  if (outcome.kind === 'success') {
    for (const name of purpose.names) track.pending.confirm(`free ${name}`)
    return
  }
  const relies = { onAll: !exchange.overlaps, onFreedom: true, isOwn: context.isOwnName }
  const { worlds, facts } = hypothesesFor(reading, purpose, track.knowledge, relies)
  if (![...facts].some((fact) => fact.startsWith('free '))) return
  const { allows } = await explain(context, purpose, { reading, worlds, now: timeOf(reading) })
  if (allows.length === 0) return
  track.pending.add(facts, () => context.results.observeAll(allows, exchange))
}

/** Keeps conclusions that rely on knowledge until a response shows that no other client has changed it. */
function suspend(
  context: JudgementContext,
  { reading, track, report }: JudgedExchange,
  known: Explanation,
  anyhow: Explanation,
  facts: Hypotheses['facts'],
): void {
  const { results } = context
  if (known.allows.length > 0) track.pending.add(facts, () => results.observeAll(known.allows, reading.exchange))
  if (Object.keys(known.deviations).length === 0) return
  if (Object.keys(anyhow.deviations).length > 0) {
    reportDeviations(context, reading, known, report)
    return
  }
  track.pending.add(
    facts,
    () => reportDeviations(context, reading, known, (finding) => results.keep(finding)),
    () => results.keep(changedByAnother(context, reading, known)),
  )
}

function judgeList(context: JudgementContext, { reading, track, report }: JudgedExchange): void {
  const { results } = context
  const { mismatches, allows, likely, isOutOfOrder, alike } = track.compareList(reading, timeOf(reading))
  results.observeAll(allows, reading.exchange)
  track.remember(likely, reading.exchange.id)
  const certain = mismatches.filter(({ isCertain }) => isCertain)
  const [other] = mismatches.filter(({ isCertain }) => !isCertain)
  for (const mismatch of certain) report(describeMismatch(context, reading, mismatch))
  if (other !== undefined && certain.length === 0) {
    const message = `${other.message} Another client may have changed the account since ${other.since || 'it was listed'}.`
    report(results.describe(reading, 'cannot tell', 'changed', message))
  }
  if (isOutOfOrder) report(results.describe(reading, 'another choice', 'order', OTHER_ORDER))
  if (alike !== undefined) {
    const message = `The list has ${show(alike[0])} and ${show(alike[1])}. ${ALIKE}`
    report(results.describe(reading, 'another choice', 'alike', message))
  }
}

const ALIKE =
  'No alternative of openapi.yaml has both in one list, but the specification does not say which names are the same domain.'

const OTHER_ORDER =
  'The list is in the order of no alternative of openapi.yaml, and the specification does not say in which order lists are.'

/** When the service answered, in milliseconds, by its Date field if there is one (RFC 9110 §5.6.7). */
function timeOf({ exchange, response }: ReadExchange): number {
  const date = response.headers['date']
  const time = date === undefined ? Number.NaN : RealDate.parse(date)
  return Number.isNaN(time) ? exchange.until : time
}
