import { isDeepStrictEqual } from 'node:util'
import type { Contract } from '../../contract/contract.ts'
import { type Entry, textOf } from '../../journal/entry.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { hasPassed, wordEnd } from '../command.ts'
import { without } from '../effects.ts'
import { describeFailure } from '../failed-tests.ts'
import type { TrialResult } from '../trial.ts'
import type { TrialRunner } from './trial-runner.ts'

/** What the command does without an alternative, in two runs. */
export interface Baselines {
  /** The first run that has passed. */
  first: TrialResult
  runs: readonly [TrialResult, TrialResult]
  /** The difference between both runs, in a sentence; `undefined` if they had the same result and the same requests. */
  difference: string | undefined
  /** Whether there is no difference, and each account got its requests in the same order. */
  isInOrder: boolean
}

/** A command that cannot be examined. The message is one sentence. */
export class BaselineError extends Error {
  override name = 'BaselineError'
}

const NO_REQUEST =
  'The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL, or a variable that --set-env sets?'

/**
 * Runs the command twice without an alternative. `limit` is in milliseconds.
 * @throws BaselineError if the command fails; CommandError if it cannot start; the errors of a server start; the reason
 * of the signal
 */
export async function runBaselines(
  runner: TrialRunner,
  contract: Contract,
  limit: number | undefined,
  redact: Redact,
  signal?: AbortSignal,
): Promise<Baselines> {
  async function run(name: string): Promise<TrialResult> {
    const result = await runner.run(name, contract, limit)
    signal?.throwIfAborted()
    if ('untried' in result) throw new BaselineError(`The command has not run twice: ${result.untried}`)
    return result
  }
  const one = await run('baseline 1')
  const other = await run('baseline 2')
  const [first, second] = hasPassed(one.end) ? [one, other] : [other, one]
  if (!hasPassed(first.end)) {
    throw new BaselineError(`The command fails although nothing is varied: ${describeFailure(first.end, redact)}`)
  }
  if (first.exchanges.length === 0 && second.exchanges.length === 0) throw new BaselineError(NO_REQUEST)
  const difference = compareRuns(one, other)
  return { first, runs: [one, other], difference, isInOrder: difference === undefined && areInSameOrder(one, other) }
}

/** The parts of a run that are compared. */
type ComparedRun = Pick<TrialResult, 'end' | 'exchanges' | 'lost'>

/**
 * The difference between two runs of the same command, in a sentence; `undefined` if there is none. The order of
 * requests does not count, because commands may send requests concurrently.
 */
export function compareRuns(one: ComparedRun, other: ComparedRun): string | undefined {
  const [first, second] = [wordEnd(one.end), wordEnd(other.end)]
  if (first !== second) return `The command is unsteady: of two runs, one ${first} and one ${second}.`
  if (one.exchanges.length + one.lost !== other.exchanges.length + other.lost) {
    const counts = [one, other].map(({ exchanges, lost }) => exchanges.length + lost)
    return `The command is unsteady: its first run sent ${counts[0]} requests, and its second ${counts[1]}.`
  }
  const [different] = without(other.exchanges.map(requestIn), one.exchanges.map(requestIn))
  if (different === undefined) return undefined
  const [method, target = ''] = different.split(' ')
  return `The command is unsteady: only one of two runs sent ${method} ${target.replace(/\?.*/, '')} as it did.`
}

/**
 * Whether each account got the same requests in the same order in both runs. Accounts do not affect each other, so tests
 * that have one account each may run concurrently.
 */
function areInSameOrder({ exchanges: some }: ComparedRun, { exchanges: others }: ComparedRun): boolean {
  return isDeepStrictEqual(requestsByAccount(some), requestsByAccount(others))
}

/** The requests to each account in their order. The accounts have no order, and their ids may differ. */
function requestsByAccount(exchanges: readonly Entry[]): string[] {
  const accounts = new Map<string | undefined, string>()
  for (const entry of exchanges) {
    accounts.set(entry.account, `${accounts.get(entry.account) ?? ''}${requestIn(entry)}\n`)
  }
  return [...accounts.values()].toSorted()
}

/** A request as a text. The id of a group is left out, because the service chooses it. */
export function requestIn({ method, target, body }: Entry): string {
  const path = target.replace(/([?&]id=)[^&]+/, '$1*')
  return `${method} ${path} ${body === undefined ? '' : textOf(body)}`
}
