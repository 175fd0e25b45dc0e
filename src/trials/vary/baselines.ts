import { isDeepStrictEqual } from 'node:util'
import { textOf } from '../../http/content.ts'
import type { Entry } from '../../journal/entry.ts'
import { wordEnd } from '../command.ts'
import { surplusIn } from '../surplus.ts'
import type { TrialResult } from '../trial.ts'

/** The parts of a run that are compared. */
type ComparedRun = Pick<TrialResult, 'end' | 'exchanges' | 'lost'>

/**
 * The difference between two runs of the same command, in a sentence; `undefined` if there is none. The order of
 * requests does not count, because commands may send requests concurrently.
 */
export function compareBaselines(one: ComparedRun, other: ComparedRun): string | undefined {
  const [first, second] = [wordEnd(one.end), wordEnd(other.end)]
  if (first !== second) return `The command is unsteady: of two runs, one ${first} and one ${second}.`
  if (one.exchanges.length + one.lost !== other.exchanges.length + other.lost) {
    const counts = [one, other].map(({ exchanges, lost }) => exchanges.length + lost)
    return `The command is unsteady: its first run sent ${counts[0]} requests, and its second ${counts[1]}.`
  }
  const [different] = surplusIn(other.exchanges, one.exchanges, requestIn)
  if (different === undefined) return undefined
  return `The command is unsteady: only one of two runs sent ${different.method} ${different.path} as it did.`
}

/** Whether both runs sent the same requests in the same order. */
export function sendTheSame({ exchanges: some }: ComparedRun, { exchanges: others }: ComparedRun): boolean {
  return isDeepStrictEqual(some.map(requestIn), others.map(requestIn))
}

/** A request as a text. The id of a group is left out, because the service chooses it. */
export function requestIn({ method, target, body }: Entry): string {
  const path = target.replace(/([?&]id=)[^&]+/, '$1*')
  return `${method} ${path} ${body === undefined ? '' : textOf(body)}`
}
