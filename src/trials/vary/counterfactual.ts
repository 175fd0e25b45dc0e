import { createHash } from 'node:crypto'
import { recreateAccount } from '../../accounts/creation.ts'
import { type Alternative, type Choices, nameOf, tryToCompile } from '../../contract/choices.ts'
import type { Contract } from '../../contract/contract.ts'
import { ContractError } from '../../contract/contract-error.ts'
import type { AccountState } from '../../domain/account.ts'
import { contentOf, hasIdOfAccount } from '../../journal/entry.ts'
import type { ServerOptions } from '../../server/options.ts'
import { areSameStates, differencesOf, isKeptBody, type ReplayedAnswer } from './answer.ts'
import { requestIn } from './baselines.ts'
import type { OtherWorld } from './recorded-store.ts'
import type { RecordedRequest, Recording } from './recording.ts'
import { replay } from './replay.ts'

/** The changes to one request: parts of its response, such as `status`, `body` or `header date`, or the `state`. */
interface AnswerChange {
  /** The index of the request in the recording. */
  index: number
  parts: readonly string[]
}

/** The changes that an alternative would make to a recorded run. */
export interface Reach {
  alternative: Alternative
  /** The changes to the first recording. Changes after the first one also depend on the client. */
  changes: readonly AnswerChange[]
  /** Whether the initial state of an account would be different. */
  changesCreation: boolean
}

export interface Counterfactual {
  /** Each alternative that could change a byte of a response, or the state of an account. */
  reached: readonly Reach[]
  /**
   * Alternatives that do not fit the overlays, or under which an account cannot be created, and those for which there was
   * no time, with the reason.
   */
  undecided: readonly { alternative: Alternative; reason: string }[]
  /** How many requests could not be answered again as recorded. Any alternative might have changed them. */
  unanswerable: number
}

export interface CounterfactualOptions {
  server: ServerOptions
  choices: Choices
  recordings: readonly Recording[]
  /** Called before each alternative. */
  onProgress?(done: number, all: number): void
  /** The reason why no further alternative is looked at; `undefined` as long as there is none. */
  whyOver?(): string | undefined
}

/** A recording with the answers under our own contract. */
interface Reference {
  firsts: readonly AccountState[]
  requests: readonly RecordedRequest[]
  answers: readonly (ReplayedAnswer | undefined)[]
  recounted: Set<RecordedRequest>
  unanswerable: number
}

/**
 * Finds the alternatives that a run has reached. It answers each request again from its recorded state, under our
 * contract and under the alternative. If no answer and no change of state differs, the whole run would have been the
 * same: each request would have found the same state. Quotas and other counters are not taken from the recording but
 * counted again. An alternative may count differently without an immediate effect.
 */
export async function findReached(options: CounterfactualOptions): Promise<Counterfactual> {
  const { server, choices, recordings, onProgress, whyOver } = options
  const { contract, alternatives } = choices
  const references = await mapInOrder(recordings, (recording) => answerAgain(server, contract, recording))
  const origins = recordings.flatMap((recording) => recording.origins)
  const reference = await begin(origins, contract)
  const unanswerable = references.reduce((sum, each) => sum + each.unanswerable, 0)
  // Without a complete recording, every alternative may have changed the run.
  const isUncertain = unanswerable > 0 || recordings.some(({ isCut }) => isCut)
  const reached: Reach[] = []
  const undecided: { alternative: Alternative; reason: string }[] = []
  for (const [index, alternative] of alternatives.entries()) {
    const over = whyOver?.()
    if (over !== undefined) {
      undecided.push({ alternative, reason: over })
      continue
    }
    onProgress?.(index, alternatives.length)
    const compiled = await tryToCompile(choices, [alternative])
    if (compiled instanceof ContractError) {
      const reason = `${nameOf(alternative)} does not fit the overlays that are given: ${compiled.message}`
      undecided.push({ alternative, reason })
      continue
    }
    const beginnings = await begin(origins, compiled)
    if (typeof beginnings === 'string') {
      undecided.push({ alternative, reason: beginnings })
      continue
    }
    const changesCreation =
      typeof reference === 'string' || reference.some((state, at) => !areSameStates(state, beginnings[at]))
    const changed = await mapInOrder(references, (each) =>
      findChanged(server, contract, compiled, each, changesCreation),
    )
    if (isUncertain || changed.some(({ length }) => length > 0)) {
      reached.push({ alternative, changes: changed[0] ?? [], changesCreation })
    }
  }
  return { reached, undecided, unanswerable }
}

async function answerAgain(
  server: ServerOptions,
  contract: Contract,
  { requests, firsts }: Recording,
): Promise<Reference> {
  const answers: (ReplayedAnswer | undefined)[] = []
  const recounted = new Set<RecordedRequest>()
  let unanswerable = 0
  for await (const { request, answer } of replay({ server, contract, requests, recounted, isOwn: true })) {
    const isAsRecorded = answer !== undefined && isRecorded(answer, request)
    if (!isAsRecorded) unanswerable++
    answers.push(isAsRecorded ? answer : undefined)
  }
  return { firsts, requests, answers, recounted, unanswerable }
}

/**
 * Whether the answer equals the recorded one. The ids of requests without a valid key depend on all such requests, so
 * they may differ.
 */
function isRecorded({ status, headers, body }: ReplayedAnswer, { entry }: RecordedRequest): boolean {
  if (status !== entry.status || headers.length !== entry.responseHeaders.length) return false
  const isOther = headers.some(
    (each, index) =>
      each !== entry.responseHeaders[index] && !(headers[index - 1] === 'X-Request-Id' && !hasIdOfAccount(entry)),
  )
  return !isOther && isKeptBody(body, entry.responseBody && contentOf(entry.responseBody))
}

/** The requests whose answers differ under the other contract. */
async function findChanged(
  server: ServerOptions,
  own: Contract,
  contract: Contract,
  { firsts, requests, answers, recounted }: Reference,
  changesCreation: boolean,
): Promise<AnswerChange[]> {
  const everything = () => [...requests.keys()].map((index) => ({ index, parts: ['state'] }))
  // The other contract names the counters differently. So the values that the control plane has set cannot be used.
  if (contract.settings.quotaScope !== own.settings.quotaScope && recounted.size > 0) return everything()
  const beginnings = changesCreation ? await findBeginnings(firsts, own, contract) : undefined
  if (changesCreation && beginnings === undefined) return everything()
  const changed: AnswerChange[] = []
  const options = { server, contract, requests, recounted, isOwn: false, beginnings }
  for await (const { index, answer } of replay(options)) {
    const reference = answers[index]
    if (reference === undefined) continue
    // If accounts begin differently, their states cannot be compared. Only the answers are compared, up to the end.
    const parts =
      answer === undefined
        ? ['state']
        : differencesOf(reference, answer).filter((part) => !changesCreation || part !== 'state')
    if (parts.length > 0) changed.push({ index, parts })
  }
  return changed
}

/**
 * The state of each account at its first request under the other contract; `undefined` if it is unknown, because the
 * control plane has changed an account before.
 */
async function findBeginnings(
  firsts: readonly AccountState[],
  own: Contract,
  contract: Contract,
): Promise<ReadonlyMap<string, OtherWorld> | undefined> {
  const beginnings = new Map<string, OtherWorld>()
  for (const recorded of firsts) {
    const [usual, other] = await mapInOrder([own, contract], (each) => recreate(recorded, each))
    const { clock } = recorded
    if (usual === undefined || other === undefined || !areSameStates({ ...usual, clock }, recorded)) return undefined
    beginnings.set(recorded.id, { recorded, own: { ...other, clock } })
  }
  return beginnings
}

/** The initial accounts of a run under a contract, or the reason why one cannot be created. */
async function begin(states: readonly AccountState[], contract: Contract): Promise<readonly AccountState[] | string> {
  try {
    return await mapInOrder(states, (state) => recreate(state, contract))
  } catch (error) {
    if ((error as Error).name !== 'FixtureError') throw error
    return (error as Error).message
  }
}

function recreate(state: AccountState, contract: Contract): Promise<AccountState> {
  return recreateAccount(state, { real: state.createdAt }, contract)
}

async function mapInOrder<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await map(item))
  return results
}

/**
 * Identifies the requests that an alternative reaches, and its changes to them. If both stay the same, the command gets
 * the same answers.
 */
export function fingerprintOf(
  { alternative, changes, changesCreation }: Reach,
  recording: Recording | undefined,
): string {
  const hash = createHash('sha256').update(JSON.stringify([alternative.value, changesCreation]))
  for (const { index, parts } of changes) {
    const entry = recording?.requests[index]?.entry
    hash.update(JSON.stringify([entry === undefined ? index : requestIn(entry), parts]))
  }
  return hash.digest('hex').slice(0, 32)
}
