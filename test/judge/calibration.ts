import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { Judge } from '../../src/judge/judge.ts'
import { type AssumptionVerdict, decideVerdicts } from '../../src/judge/verdicts.ts'
import { choices } from '../support/choices.ts'
import { askNew, shown } from './asked.ts'

export { choices }

/**
 * What takes more than the question and the lists: the time of the refresh, of which the figures tell in the hours after
 * it, and what another choice may be the reason of.
 */
const TAKES_MORE = ['refresh-time/1', 'refresh-time/2']

/** Whether exchanges can show that a service has chosen this alternative. */
export function isObservable({ assumption: { unobservable }, number }: Alternative): boolean {
  return unobservable === undefined || (typeof unobservable !== 'string' && unobservable[number] === undefined)
}

/** The names of all alternatives that exchanges can show. */
export const OBSERVABLE = choices.alternatives.filter(isObservable).map(nameOf)

export function alternativeNamed(name: string): Alternative {
  const alternative = choices.alternatives.find((each) => nameOf(each) === name)
  if (alternative === undefined) throw new Error(`There is no alternative ${name}.`)
  return alternative
}

/** The verdicts about these exchanges. */
export async function calibrate(exchanges: readonly Exchange[], isSoleWriter = true): Promise<AssumptionVerdict[]> {
  const judge = new Judge({ choices, isSoleWriter })
  for (const exchange of exchanges) judge.take(exchange)
  return decideVerdicts(judge.conclude().observations, choices)
}

/** Verdicts that are not so, where the service makes these choices; `undecided` is never wrong. */
export function wrongVerdicts(verdicts: readonly AssumptionVerdict[], truth: readonly Alternative[]): string[] {
  return verdicts.flatMap(({ id, verdict, alternative = 0, evidence, left }) => {
    const number = truth.find((each) => each.id === id)?.number ?? 0
    const isRight =
      verdict === 'undecided' ? left?.includes(number) !== false : verdict !== 'contradicted' && alternative === number
    return isRight ? [] : [`${id} is ${verdict} ${alternative} (${evidence.join()})`]
  })
}

/** What is wrong about the requests that are to show an alternative, and about what is concluded from their answers. */
export async function mistakesAbout(name: string): Promise<string[]> {
  const alternative = alternativeNamed(name)
  const [chosen, again] = [await askNew(alternative, choices.contract), await askNew(alternative, choices.contract)]
  const other = await askNew(alternative, await choices.compile([alternative]))
  const [usual, repeated, changed] = [chosen, again, other].map((answers) => JSON.stringify(shown(answers)))
  const mistakes: string[] = []
  if (usual === changed) mistakes.push('The answers are the same.')
  if (usual !== repeated) mistakes.push('The answers differ without a reason.')
  const verdicts = await calibrate(other)
  const found = verdicts.some(({ id, verdict, alternative: number }) => {
    return id === alternative.id && verdict === 'alternative' && number === alternative.number
  })
  if (!found && !TAKES_MORE.includes(name)) mistakes.push('It is not found.')
  return [...mistakes, ...wrongVerdicts(verdicts, [alternative])]
}
