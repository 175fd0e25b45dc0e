import { textOf } from '../../http/content.ts'
import type { Entry } from '../../journal/entry.ts'
import type { CommandEnd } from '../command.ts'
import type { TrialResult } from '../trial.ts'

/** A run, as far as two of them are compared. */
type Run = Pick<TrialResult, 'end' | 'exchanges' | 'lost'>

/**
 * In what two runs of the same command differ, in a sentence; `undefined` where they do not. Requests in another order are
 * no difference: commands send some at the same time.
 */
export function compareBaselines(one: Run, other: Run): string | undefined {
  const [first, second] = [resultOf(one.end), resultOf(other.end)]
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
export function sendTheSame({ exchanges: some }: Run, { exchanges: others }: Run): boolean {
  if (some.length !== others.length) return false
  return some.every((entry, index) => {
    const other = others[index]
    return other !== undefined && requestIn(entry) === requestIn(other)
  })
}

/** A request as a text. The id of a group is not the client's own. */
export function requestIn({ method, target, body }: Entry): string {
  const path = target.replace(/([?&]id=)[^&]+/, '$1*')
  return `${method} ${path} ${body === undefined ? '' : textOf(body)}`
}

function countRequests(exchanges: readonly Entry[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const entry of exchanges) counts.set(requestIn(entry), (counts.get(requestIn(entry)) ?? 0) + 1)
  return counts
}

function resultOf({ exitCode, signal, timedOut }: CommandEnd): string {
  if (timedOut) return 'took too long'
  if (exitCode === 0) return 'succeeded'
  return exitCode === undefined ? `was ended by ${signal}` : `failed with exit code ${exitCode}`
}
