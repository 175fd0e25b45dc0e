import { recreateAccount } from '../../accounts/creation.ts'
import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import type { Contract } from '../../contract/contract.ts'
import type { AccountState } from '../../domain/account.ts'
import type { ServerOptions } from '../../start/options.ts'
import { type Answer, areSameBodies, areSameStates, differencesOf } from './answer.ts'
import type { OtherWorld } from './recorded-store.ts'
import type { RecordedRequest, Recording } from './recording.ts'
import { replay } from './replay.ts'

/** What is otherwise about one request: parts of its response, such as `status`, `body` or `header date`, or the `state`. */
interface Change {
  /** The place of the request in the recording. */
  index: number
  parts: readonly string[]
}

/** What an alternative would have changed of a recorded run. */
export interface Reach {
  alternative: Alternative
  /**
   * What would have been otherwise in the first recording. What comes after the first of it depends on the client, too.
   */
  changes: readonly Change[]
  /** Whether an account of the run would have begun otherwise. */
  changesCreation: boolean
}

export interface Counterfactual {
  /** Each alternative that could have changed a byte of a response, or the state of an account. */
  reached: readonly Reach[]
  /** Alternatives that cannot be tried, because the accounts of the run cannot be made under them; and why. */
  unfit: readonly { alternative: Alternative; reason: string }[]
  /** How many requests could not be answered again as they were, so that any alternative might have changed them. */
  unanswerable: number
}

export interface CounterfactualOptions {
  server: ServerOptions
  choices: Choices
  recordings: readonly Recording[]
  /** Is called before each alternative is looked at. */
  onProgress?(done: number, all: number): void
  signal?: AbortSignal | undefined
}

/** A recording with the answers of our own contract. */
interface Reference {
  firsts: readonly AccountState[]
  requests: readonly RecordedRequest[]
  answers: readonly (Answer | undefined)[]
  recounted: Set<RecordedRequest>
  unanswerable: number
}

/**
 * Finds out which alternatives a run has reached: each of its requests is answered again from the state that it found,
 * under our contract and under the alternative. If no answer and no change of state differs, then the whole run would
 * have been the same: each request would have found the same state as well. What is counted is not taken from the
 * recording but counted anew, because an alternative may count otherwise without showing it at once.
 *
 * @throws the reason of the signal
 */
export async function findReached(options: CounterfactualOptions): Promise<Counterfactual> {
  const { server, choices, recordings, onProgress, signal } = options
  const { contract, alternatives } = choices
  const references = await mapInOrder(recordings, (recording) => answerAgain(server, contract, recording))
  const origins = new Beginnings(recordings.flatMap((recording) => recording.origins))
  const reference = await origins.under(contract)
  const unanswerable = references.reduce((sum, each) => sum + each.unanswerable, 0)
  // Of what is not recorded, nobody knows what would have changed it.
  const isUncertain = unanswerable > 0 || recordings.some(({ isCut }) => isCut)
  const reached: Reach[] = []
  const unfit: { alternative: Alternative; reason: string }[] = []
  for (const [index, alternative] of alternatives.entries()) {
    signal?.throwIfAborted()
    onProgress?.(index, alternatives.length)
    const compiled = await tryToCompile(choices, alternative)
    if (typeof compiled === 'string') {
      unfit.push({ alternative, reason: compiled })
      continue
    }
    const beginnings = await origins.under(compiled)
    if (typeof beginnings === 'string') {
      unfit.push({ alternative, reason: beginnings })
      continue
    }
    const changesCreation = typeof reference === 'string' || !areAllSame(reference, beginnings)
    const changed = await mapInOrder(references, (each) =>
      findChanged(server, contract, compiled, each, changesCreation),
    )
    if (isUncertain || changed.some(({ length }) => length > 0)) {
      reached.push({ alternative, changes: changed[0] ?? [], changesCreation })
    }
  }
  return { reached, unfit, unanswerable }
}

async function tryToCompile(choices: Choices, alternative: Alternative): Promise<Contract | string> {
  try {
    return await choices.compile([alternative])
  } catch (error) {
    if ((error as Error).name !== 'ContractError') throw error
    return `${nameOf(alternative)} does not fit the overlays that are given: ${(error as Error).message}`
  }
}

async function answerAgain(
  server: ServerOptions,
  contract: Contract,
  { requests, firsts }: Recording,
): Promise<Reference> {
  const answers: (Answer | undefined)[] = []
  const recounted = new Set<RecordedRequest>()
  let unanswerable = 0
  await replay({
    server,
    contract,
    requests,
    recounted,
    isOwn: true,
    onAnswer(index, answer) {
      const request = requests[index]
      const isAsRecorded = answer !== undefined && request !== undefined && isRecorded(answer, request)
      if (!isAsRecorded) unanswerable++
      answers.push(isAsRecorded ? answer : undefined)
      return true
    },
  })
  return { firsts, requests, answers, recounted, unanswerable }
}

/** Whether the answer is the recorded one. The ids of requests that belong to no account depend on all such requests. */
function isRecorded({ status, headers, body }: Answer, { entry }: RecordedRequest): boolean {
  if (status !== entry.status || headers.length !== entry.responseHeaders.length) return false
  const isOther = headers.some(
    (each, index) =>
      each !== entry.responseHeaders[index] && !(entry.account === undefined && headers[index - 1] === 'X-Request-Id'),
  )
  if (isOther) return false
  // The journal keeps the beginning of a very long body.
  const kept = entry.responseBody
  return kept !== undefined && kept.held.length < Math.min(kept.size, body?.size ?? 0)
    ? true
    : areSameBodies(body, kept)
}

/** What is answered otherwise under the other contract. */
async function findChanged(
  server: ServerOptions,
  own: Contract,
  contract: Contract,
  { firsts, requests, answers, recounted }: Reference,
  changesCreation: boolean,
): Promise<Change[]> {
  const everything = () => [...requests.keys()].map((index) => ({ index, parts: ['state'] }))
  // What was counted under other names cannot be taken over where the control plane has set it.
  if (contract.settings.quotaScope !== own.settings.quotaScope && recounted.size > 0) return everything()
  const beginnings = changesCreation ? await findBeginnings(firsts, own, contract) : undefined
  if (changesCreation && beginnings === undefined) return everything()
  const changed: Change[] = []
  await replay({
    server,
    contract,
    requests,
    recounted,
    isOwn: false,
    beginnings,
    onAnswer(index, answer) {
      const reference = answers[index]
      if (reference === undefined) return true
      // The states of an account that has begun otherwise cannot be compared. It is followed to the end instead.
      const parts =
        answer === undefined
          ? ['state']
          : differencesOf(reference, answer).filter((part) => !changesCreation || part !== 'state')
      if (parts.length > 0) changed.push({ index, parts })
      return true
    },
  })
  return changed
}

/**
 * What each account would have been at its first request; `undefined` where that is not known, because the control plane
 * has changed one before.
 */
async function findBeginnings(
  firsts: readonly AccountState[],
  own: Contract,
  contract: Contract,
): Promise<ReadonlyMap<string, OtherWorld> | undefined> {
  const beginnings = new Map<string, OtherWorld>()
  for (const recorded of firsts) {
    const [usual, other] = await mapInOrder([own, contract], (each) =>
      recreateAccount(recorded, { real: recorded.createdAt }, each),
    )
    const { clock } = recorded
    if (usual === undefined || other === undefined || !areSameStates({ ...usual, clock }, recorded)) return undefined
    beginnings.set(recorded.id, { recorded, own: { ...other, clock } })
  }
  return beginnings
}

/** How the accounts of a run begin under different contracts. */
class Beginnings {
  readonly #states: readonly AccountState[]

  constructor(states: readonly AccountState[]) {
    this.#states = states
  }

  /** The accounts as they are made under a contract; or why one cannot be made. */
  async under(contract: Contract): Promise<readonly AccountState[] | string> {
    try {
      return await mapInOrder(this.#states, (state) => recreateAccount(state, { real: state.createdAt }, contract))
    } catch (error) {
      if ((error as Error).name !== 'FixtureError') throw error
      return (error as Error).message
    }
  }
}

function areAllSame(some: readonly AccountState[], others: readonly AccountState[]): boolean {
  return some.every((state, index) => areSameStates(state, others[index]))
}

async function mapInOrder<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await map(item))
  return results
}
