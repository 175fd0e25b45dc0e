import { textOf } from '../../http/content.ts'
import type { Entry } from '../../journal/entry.ts'
import { wordEnd } from '../command.ts'
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
  const sent = countRequests(one.exchanges)
  const different = other.exchanges.find((entry) => {
    const count = sent.get(requestIn(entry)) ?? 0
    sent.set(requestIn(entry), count - 1)
    return count === 0
  })
  if (different === undefined) return undefined
  return `The command is unsteady: only one of two runs sent ${different.method} ${different.path} as it did.`
}

/** Whether both runs sent the same requests in the same order. */
export function sendTheSame({ exchanges: some }: ComparedRun, { exchanges: others }: ComparedRun): boolean {
  if (some.length !== others.length) return false
  return some.every((entry, index) => {
    const other = others[index]
    return other !== undefined && requestIn(entry) === requestIn(other)
  })
}

/** A request as a text. The id of a group is left out, because the service chooses it. */
export function requestIn({ method, target, body }: Entry): string {
  const path = target.replace(/([?&]id=)[^&]+/, '$1*')
  return `${method} ${path} ${body === undefined ? '' : textOf(body)}`
}

function countRequests(exchanges: readonly Entry[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const entry of exchanges) counts.set(requestIn(entry), (counts.get(requestIn(entry)) ?? 0) + 1)
  return counts
}
