import { isObservable } from '../../src/choices/observability.ts'
import { nameOf } from '../../src/contract/choices.ts'
import { accusationsIn, choices, isFound, judge, wrongVerdicts } from '../conformance/judgement.ts'
import { askNew, shown } from './asked.ts'

/**
 * What the judgement of exchanges needs more for than the probe and the lists: those that a run of verify finds, and the time
 * of the refresh, of which the figures tell.
 */
const TAKES_MORE = ['path-matching', 'request-charset', 'domain-cap', 'group-cap', 'member-cap', 'refresh-time']

/** The names of all alternatives that exchanges can show. */
export const OBSERVABLE = choices.alternatives
  .filter(({ assumption, number }) => isObservable(assumption, number))
  .map(nameOf)

/** What is wrong about the requests that are to show an alternative, and about what is concluded from their answers. */
export async function mistakesAbout(name: string): Promise<string[]> {
  const alternative = choices.alternatives.find((each) => nameOf(each) === name)
  if (alternative === undefined) throw new Error(`There is no alternative ${name}.`)
  const [chosen, again] = [await askNew(alternative, choices.contract), await askNew(alternative, choices.contract)]
  const other = await askNew(alternative, await choices.compile([alternative]))
  const [usual, repeated, changed] = [chosen, again, other].map((answers) => JSON.stringify(shown(answers)))
  const mistakes: string[] = []
  if (usual === changed) mistakes.push('The answers are the same.')
  if (usual !== repeated) mistakes.push('The answers differ without a reason.')
  if (TAKES_MORE.includes(alternative.id)) return mistakes
  const judgement = await judge(other, { isSoleWriter: true, isOwnName: (domain) => domain === 'b.example' })
  if (!isFound(judgement, name)) mistakes.push('It is not found.')
  return [...mistakes, ...wrongVerdicts(judgement.verdicts, [name]), ...accusationsIn(judgement.conclusion)]
}
