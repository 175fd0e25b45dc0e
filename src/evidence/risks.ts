import { isDeepStrictEqual } from 'node:util'
import { observabilityOf } from '../choices/observability.ts'
import type { ChoiceQuestion } from '../choices/questions.ts'
import type { Alternative, Choices } from '../contract/choices.ts'
import { shorten } from '../ground/show.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import type { Dependencies, FirstDifference, VaryVerdict } from './dependencies.ts'

/**
 * - `confirmed`: the client works with what the service does, or with everything that it may do.
 * - `unknown`: it is not decided what the service does, or whether the client works with it.
 * - `contradicted`: the service does something with which the client fails.
 */
export const RISK_RESULTS = ['contradicted', 'unknown', 'confirmed'] as const
export type RiskResult = (typeof RISK_RESULTS)[number]

/** The part of a report of `vary` about a client that is needed here. */
export type ClientReport = Pick<Dependencies, 'command' | 'alternatives'>

/** How a client works with one alternative. `not tried`: the file does not say it. */
export interface ClientSide {
  alternative: number
  verdict: VaryVerdict | 'not tried'
  /** The client, as its command. */
  command: string
  /** Why it was not decided. */
  reason?: string
  /** The first request with a different answer. */
  request?: Omit<FirstDifference['request'], 'body'>
}

/** One row of the table. */
export interface Risk {
  id: string
  result: RiskResult
  /** What the specification leaves open. */
  spec: string
  /** Why the result is what it is, in a sentence. */
  reason: string
  service: Pick<AssumptionVerdict, 'verdict' | 'alternative' | 'left' | 'evidence'>
  /** How clients work with the alternatives that the service may have chosen, unless they certainly work. */
  clients: readonly ClientSide[]
  /** The requests that would show the choice of the service; only with `unknown`. */
  decide_with?: ChoiceQuestion
}

/** Why a dependencies file does not belong to this contract, as a sentence; `undefined` if it does. */
export function findForeignIn(
  { alternatives }: ClientReport,
  choices: Pick<Choices, 'alternatives' | 'ids'>,
): string | undefined {
  for (const { id, alternative, chosen, value } of alternatives) {
    const known = choices.alternatives.find((each) => each.id === id && each.number === alternative)
    if (known === undefined) {
      return choices.ids.includes(id)
        ? `The assumption ${id} has no alternative ${alternative}.`
        : `There is no assumption ${shorten(id)}.`
    }
    if (!isDeepStrictEqual(chosen, known.assumption.choice) || !isDeepStrictEqual(value, known.value)) {
      return `${id}/${alternative} had another meaning.`
    }
  }
  return undefined
}

/** Joins the behaviour of a service with what clients depend on: a row for each assumption that has an alternative. */
export function findRisks(
  verdicts: readonly AssumptionVerdict[],
  clients: readonly ClientReport[],
  choices: Pick<Choices, 'alternatives' | 'assumptions'>,
): Risk[] {
  return choices.assumptions
    .filter(({ alternatives }) => alternatives.length > 0)
    .map(({ id, spec, ...assumption }) => {
      const { id: _, ...service } = verdicts.find((each) => each.id === id) ?? { id, ...NOT_SEEN }
      const own = choices.alternatives.filter((each) => each.id === id)
      const sides = possibleFor(service, own).flatMap((each) => clients.map((client) => sideOf(client, each)))
      const { result, reason } = judge(service, sides, own.length)
      const { decide_with: question } = observabilityOf({ id, ...assumption })
      const isOpen = result === 'unknown' && service.verdict !== 'alternative'
      return {
        id,
        result,
        spec,
        reason,
        service,
        clients: sides.filter((side) => !isFine(side)),
        ...(isOpen && question !== undefined && { decide_with: question }),
      }
    })
}

const NOT_SEEN: Risk['service'] = { verdict: 'undecided', evidence: [] }

/** The alternatives that the service may have chosen. */
function possibleFor(
  { verdict, alternative, left }: Risk['service'],
  own: readonly Alternative[],
): readonly Alternative[] {
  switch (verdict) {
    case 'as chosen':
      return []
    case 'alternative':
      return own.filter(({ number }) => number === alternative)
    case 'contradicted':
      return own
    case 'undecided':
      return own.filter(({ number }) => left === undefined || left.includes(number))
  }
}

function sideOf({ command, alternatives }: ClientReport, { id, number }: Alternative): ClientSide {
  const found = alternatives.find((each) => each.id === id && each.alternative === number)
  const { body: _, ...request } = found?.first_difference?.request ?? {}
  return {
    alternative: number,
    verdict: found?.verdict ?? 'not tried',
    command: command.join(' '),
    ...(found?.reason !== undefined && { reason: found.reason }),
    ...('path' in request && { request }),
  }
}

/** Whether a client certainly works with an alternative. */
function isFine({ verdict }: ClientSide): boolean {
  return verdict === 'tolerates' || verdict === 'not reached'
}

function judge(
  { verdict, alternative, left }: Risk['service'],
  sides: readonly ClientSide[],
  alternatives: number,
): Pick<Risk, 'result' | 'reason'> {
  const say = (result: RiskResult, reason: string) => ({ result, reason })
  if (verdict === 'as chosen') {
    return say('confirmed', 'The service does what the stand-in does, with which the client works.')
  }
  const hasChosen = verdict === 'alternative'
  const chosen = `The service has chosen alternative ${alternative}`
  const bad = sides.filter((side) => !isFine(side))
  if (bad.length === 0) {
    const which = alternatives === 1 ? 'the alternative' : 'every alternative'
    const works = `The client works with ${which} that the service may have chosen.`
    return say('confirmed', hasChosen ? `${chosen}, with which the client works.` : works)
  }
  const failing = new Set(bad.filter((side) => side.verdict === 'depends').map((side) => side.alternative))
  if (hasChosen && failing.size > 0) return say('contradicted', `${chosen}, with which the client fails.`)
  if (left !== undefined && left.length > 0 && left.every((number) => failing.has(number))) {
    const some = `one of the alternatives ${left.join(', ')}`
    return say('contradicted', `The service has chosen ${some}, and the client fails with each.`)
  }
  const open = bad.find((side) => side.verdict !== 'depends')
  const isOpen = `is not decided (${open?.verdict})`
  if (hasChosen) return say('unknown', `${chosen}; whether the client works with it ${isOpen}.`)
  const what = verdict === 'contradicted' ? 'Exchanges contradict each other' : 'What the service does is not decided'
  const whom =
    failing.size > 0
      ? `the client fails with alternative ${[...failing].join(', ')}`
      : `whether the client works with alternative ${open?.alternative} ${isOpen}`
  return say('unknown', `${what}, and ${whom}.`)
}
