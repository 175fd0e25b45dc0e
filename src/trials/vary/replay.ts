import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import type { Contract } from '../../contract/contract.ts'
import type { AccountState } from '../../domain/account.ts'
import { arrivalOf } from '../../doors/direct-arrival.ts'
import type { Delivery } from '../../http/delivery.ts'
import { malformedResponse } from '../../http/malformed-response.ts'
import { completeOptions } from '../../start/option-table.ts'
import type { ServerOptions } from '../../start/options.ts'
import { openStandIn, type StandIn } from '../../start/stand-in.ts'
import type { ReplayedAnswer } from './answer.ts'
import { type Again, askAgain } from './recorded-request.ts'
import { type OtherWorld, RecordedStore } from './recorded-store.ts'
import type { RecordedRequest } from './recording.ts'

export interface ReplayOptions {
  /** The options of the server of the recording. */
  server: ServerOptions
  contract: Contract
  requests: readonly RecordedRequest[]
  /** See `RecordedStore`. */
  recounted: Set<RecordedRequest>
  /** Whether this is the contract of the recording. */
  isOwn: boolean
  /** The accounts with a different initial state, by id. */
  beginnings?: ReadonlyMap<string, OtherWorld> | undefined
  /**
   * Called with the answer to each request in order; `undefined` for a request that cannot be repeated. If it returns
   * false, the replay ends.
   */
  onAnswer(index: number, answer: ReplayedAnswer | undefined): boolean
}

/** Repeats recorded requests under a contract, each with its recorded state and instant. */
export async function replay(options: ReplayOptions): Promise<void> {
  const { server, contract, requests, recounted, isOwn, beginnings, onAnswer } = options
  const [account] = requests.flatMap(({ past, others }) => past?.account ?? others[0] ?? [])
  if (account === undefined) return
  const store = new RecordedStore(account, recounted, isOwn, beginnings)
  let now = 0
  const inside = { contract, hurries: true, journal: { entries: 0 } }
  const standIn = await openStandIn(
    optionsFor(server, store, () => now),
    OPERATIONS,
    inside,
  )
  try {
    for (const [index, request] of requests.entries()) {
      store.show(request)
      now = instantOf(request)
      const again = askAgain(request.entry)
      const answer = again && (await answerTo(standIn, again, store))
      if (!onAnswer(index, store.isLost ? undefined : answer)) break
    }
    store.show(undefined)
  } finally {
    await standIn.opened.close()
  }
}

/** Keeps the options that affect responses, and omits the others. */
function optionsFor(server: ServerOptions, store: RecordedStore, clock: () => number) {
  const { seed, host, prefer, simulator, cors, enforceQuotas } = server
  const same = { seed, host, prefer, simulator, cors, enforceQuotas }
  const given = Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined))
  // Tests prove that responses obey the contract under each alternative. Compiling all schemas takes longest.
  const other = { fixture: 'empty', admin: false, sandboxKeys: false, responseValidation: 'off' } as const
  return completeOptions({ ...given, ...other, store, clock })
}

/** The time on the clock of the machine. */
function instantOf({ entry: { at }, past }: RecordedRequest): number {
  const clock = past?.account.clock
  return clock !== undefined && 'offset' in clock ? at - clock.offset : at
}

async function answerTo(
  { answer, contract, opened }: StandIn,
  again: Again,
  store: RecordedStore,
): Promise<ReplayedAnswer> {
  if ('problem' in again) {
    const { status, headers = {}, body } = malformedResponse(contract, again.problem, opened.nextId('malformed')) ?? {}
    const content = body && { held: body, size: body.length }
    return { status, headers: Object.entries(headers).flat(), body: content, after: undefined }
  }
  return answerOf(await answer(arrivalOf(again)), store.after)
}

/** The journal records a response that was not sent as no response. */
function answerOf(delivery: Delivery | undefined, after: AccountState | undefined): ReplayedAnswer {
  if (delivery === undefined || 'lost' in delivery) return { status: undefined, headers: [], body: undefined, after }
  const { status, headers, body } = delivery
  return { status, headers, body, after }
}
