import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import { bindBehaviours } from '../../behaviour/service-contract.ts'
import type { Contract } from '../../contract/contract.ts'
import { DEFAULT_SEED } from '../../domain/account.ts'
import type { Problem } from '../../domain/errors.ts'
import type { Clock } from '../../ground/clock.ts'
import { createHostCheck } from '../../ground/hosts.ts'
import { bytesOf, type Entry, fieldOf, isBodyUnknown, isUnread } from '../../journal/entry.ts'
import { corsFor } from '../../server/allowed-origins.ts'
import { arrivalOf, type DirectRequest } from '../../server/direct-arrival.ts'
import { openDirectService } from '../../server/direct-service.ts'
import { completeOptions } from '../../server/option-table.ts'
import type { ServerOptions } from '../../server/options.ts'
import { countAnonymousIds } from '../../service/anonymous-ids.ts'
import { malformedResponse } from '../../service/malformed-response.ts'
import type { ReplayedAnswer } from './answer.ts'
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
}

/** A request, with the answer to it; `undefined` if it cannot be repeated. */
interface RepeatedRequest {
  request: RecordedRequest
  index: number
  answer: ReplayedAnswer | undefined
}

/** Repeats recorded requests under a contract in their order, each with its recorded state and instant. */
export async function* replay(options: ReplayOptions): AsyncGenerator<RepeatedRequest> {
  const { server, contract, requests, recounted, isOwn, beginnings } = options
  const [account] = requests.flatMap(({ past, others }) => past?.account ?? others[0] ?? [])
  if (account === undefined) return
  let now = 0
  const store = new RecordedStore(() => now, account, recounted, isOwn, beginnings)
  const answerTo = openService(server, contract, store, () => now)
  for (const [index, request] of requests.entries()) {
    store.show(request)
    now = instantOf(request)
    const again = askAgain(request.entry)
    const answer = again && (await answerTo(again))
    yield { request, index, answer: store.isLost ? undefined : answer }
  }
}

/** Answers with the options that affect responses. No fault waits. */
function openService(
  server: ServerOptions,
  own: Contract,
  store: RecordedStore,
  clock: Clock,
): (again: Again) => Promise<ReplayedAnswer> {
  const { seed = DEFAULT_SEED, host, prefer, simulator, cors, enforceQuotas } = completeOptions(server)
  const contract = bindBehaviours(own, { behaviours: OPERATIONS, simulator })
  const nextId = countAnonymousIds(seed, contract.requestIds)
  const service = openDirectService({
    ...{ contract, store, clock, nextId, prefer, simulator, enforceQuotas },
    namesUs: createHostCheck(host, cors),
    cors: corsFor({ cors }, contract),
    stopping: AbortSignal.abort(),
    // See `withKey`.
    hashOf: (secret) => secret,
  })
  return async (again) => {
    if ('problem' in again) {
      const { status, headers = {}, body } = malformedResponse(contract, again.problem, nextId('malformed')) ?? {}
      const content = body && { held: body, size: body.length }
      return { status, headers: Object.entries(headers).flat(), body: content, after: undefined }
    }
    const delivery = await service(arrivalOf(again))
    const { after } = store
    // The journal records a response that was not sent as no response.
    if (delivery === undefined || 'lost' in delivery) return { status: undefined, headers: [], body: undefined, after }
    const { status, headers, body } = delivery
    return { status, headers, body, after }
  }
}

/** The time on the clock of the machine. */
function instantOf({ entry: { at }, past }: RecordedRequest): number {
  const clock = past?.account.clock
  return clock !== undefined && 'offset' in clock ? at - clock.offset : at
}

/** If a body was refused unread, only its size is known. A filler of at most this many bytes replaces it. */
const LONGEST_FILLER = 4 << 20

/** A request to repeat, or the problem of input that was not valid HTTP. */
type Again = DirectRequest | { problem: Problem<string> }

/** The request of a recorded entry; `undefined` if too little of it is known. */
function askAgain(entry: Entry): Again | undefined {
  const { method, target, problems } = entry
  const headers = withKey(entry)
  const [problem] = problems
  const reason = problem?.reason
  if (headers.length === 0 && isNoHttp(entry)) {
    return problem !== undefined && (reason === 'malformed' || reason === 'large-header') ? { problem } : undefined
  }
  const body = bodyOf(entry)
  if (body === undefined) return undefined
  // Without Host, the request was HTTP/1.0, or it was refused for that. The journal does not keep the version.
  const httpVersion = fieldOf(headers, 'host') !== undefined || reason === 'malformed' ? '1.1' : '1.0'
  return { method, target, headers, body, httpVersion }
}

/** The header fields. The hash of the key stands for the key, which is not recorded. */
function withKey({ headers, presented }: Entry): readonly string[] {
  if (presented === undefined) return headers
  return headers.map((each, index) => {
    const isKey = index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'authorization'
    return isKey ? each.replace(/\S+$/, presented) : each
  })
}

/** Whether it was answered before it was a request: by a response that closes the connection, or by no response. */
function isNoHttp({ status, responseHeaders, problems }: Entry): boolean {
  return problems[0]?.reason === 'timeout' || status === undefined || responseHeaders.includes('Connection')
}

function bodyOf({ body, headers }: Entry): Buffer | undefined {
  const declared = Number(fieldOf(headers, 'content-length') ?? Number.NaN)
  if (body === undefined) return declared > 0 || isBodyUnknown({ body, headers }) ? undefined : Buffer.alloc(0)
  if (body.isCut || isUnread(body)) return body.size > LONGEST_FILLER ? undefined : Buffer.alloc(body.size, ' ')
  const bytes = bytesOf(body)
  // The recorded text may differ from the original bytes, and a client may disconnect in the middle of a body.
  if (bytes.length !== body.size || (declared >= 0 && declared !== body.size)) return undefined
  return bytes
}
