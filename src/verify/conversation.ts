import type { Contract } from '../contract/contract.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import { EMPTY_BODY, type Exchange, KnownBody, type SeenResponse, unknownBody } from '../exchanges/exchange.ts'
import { type HeaderFields, Keys, pairsOf, readFields, redactBody } from '../exchanges/keys.ts'
import { codeIn, readOutcome } from '../exchanges/reading.ts'
import { type Clock, clearInterval, setInterval } from '../ground/timers.ts'
import type { Judge } from '../judge/judge.ts'
import { inWords, RequestBudget } from './budget.ts'
import { ConnectionError, LARGEST_RESPONSE, type Send, type WireResponse } from './client.ts'
import { findHarm } from './harmful-requests.ts'
import { type Holdings, intentOf } from './holdings.ts'
import type { Ledger } from './ledger.ts'
import { authorizationOf, bytesOfBody, hasKey, headersOf, isRead, type ProbeRequest, quotaPathOf } from './probe.ts'

/** An exchange of the run, and its purpose. */
export interface RunExchange {
  exchange: Exchange
  sent: ProbeRequest
  /** The id of the probe that it belongs to, if it does not only set up the probe. */
  probe: string | undefined
}

/** What came of a request. */
export interface ProbeAnswer {
  /** Empty, with the status 0, if the answer was lost: nobody knows whether the service did what was asked. */
  response: SeenResponse
  /** The code of a refusal in the envelope of the service. */
  code: string | undefined
  /** The `data` of a success in the envelope of the service. */
  data: unknown
  isLost: boolean
}

/** What judges the exchanges of a run. */
export type RunJudge = Pick<Judge, 'take' | 'conclude'>

export interface ConversationOptions {
  send: Send
  contract: Pick<Contract, 'basePath' | 'operations'>
  apiKey: string
  clock: Clock
  /** How many requests of each path are left to other clients. */
  reserve: number
  /** They are empty, or, for a sweep, what the ledger says. */
  holdings: Holdings
  ledger: Pick<Ledger, 'write'>
  judge: Pick<RunJudge, 'take'> | undefined
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  /** Whether to wait for quotas however long it takes. If not, the asking ends when they are used up. */
  waits: boolean
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Ends the asking, and all waiting for quotas. */
  signal: AbortSignal
  /** Takes what the run does, as a clause. */
  tell(doing: string): void
}

/** A request that a run must not send. The run leaves its probe out. */
export class HarmfulRequest extends Error {
  override name = 'HarmfulRequest'
}

/** In milliseconds: how long to wait before a read is sent again, once. */
const PAUSE = 500
/** In milliseconds: after this time, a list shows every change, and nothing of a killed run is under way. */
export const SETTLING = 2_000
/** In milliseconds. If the clocks differ, the whole second in which a window ends may not be over. */
const AFTER_RESET = 1_000
/** In milliseconds: how often the run reports that it still waits. */
const TICK = 1_000
const TOO_LONG = unknownBody(`The body is longer than ${LARGEST_RESPONSE >> 20} MiB.`)
const NOTHING: SeenResponse = { status: 0, headers: {}, body: EMPTY_BODY }

/**
 * Sends the requests of a run, one after the other, within its quotas. What a request may create is in the ledger before
 * it is sent. A read that met trouble on the way is sent again. A write is not: the service may have done it.
 */
export class Conversation {
  readonly exchanges: RunExchange[] = []
  readonly options: ConversationOptions
  readonly budget: RequestBudget
  /** How many requests were sent. */
  sent = 0
  readonly #keys = new Keys()
  #hasWritten = false
  /** Whether a list shows a change only after a while; `undefined` until the first list after a change. */
  #lags: boolean | undefined

  constructor(options: ConversationOptions) {
    this.options = options
    this.budget = new RequestBudget(options.contract, options.reserve, options.clock)
  }

  /** A short pause, which a signal does not end: the cleanup needs it. */
  pause(milliseconds: number): Promise<void> {
    return this.options.sleep(milliseconds, new AbortController().signal)
  }

  /** Waits for a new window of the path, or until the signal is aborted. */
  async waitFor(path: string): Promise<void> {
    const { sleep, signal, tell } = this.options
    const wait = this.budget.untilReset(path) + AFTER_RESET
    const say = () => tell(`waits ${inWords(this.budget.untilReset(path) / 1000)} for the quota of ${path}`)
    say()
    const timer = setInterval(say, TICK).unref()
    await sleep(wait, signal)
    clearInterval(timer)
  }

  /** @throws ConnectionError if no answer came, except to a write that may have arrived; HarmfulRequest, LedgerError */
  async ask(request: ProbeRequest, probe?: string): Promise<ProbeAnswer> {
    const { holdings } = this.options
    const isWrite = !isRead(request)
    this.#prepare(request, isWrite)
    if (!isWrite && this.#hasWritten && this.#lags === true) await this.pause(SETTLING)
    this.#hasWritten = isWrite
    for (let isAgain = false; ; isAgain = true) {
      const { exchange, error } = await this.#send(request)
      const { response } = exchange
      if (!isWrite && (await this.#isTooEarly(request, response))) continue
      const isTrouble = response === undefined || isOfGateway(response, !isWrite)
      if (isTrouble && isWrite) {
        holdings.doubt(request)
        return this.#take({ ...exchange, response: undefined }, request, probe)
      }
      if (!isTrouble || (isAgain && error === undefined)) return this.#take(exchange, request, probe)
      if (isAgain) throw error
      await this.pause(PAUSE)
    }
  }

  /** Notes what the request may create. */
  #prepare(request: ProbeRequest, isWrite: boolean): void {
    const { ledger, writes, holdings } = this.options
    const harm = isWrite && !writes ? `${request.method} is a write` : findHarm(request, holdings)
    if (harm !== undefined) throw new HarmfulRequest(`A probe must not be sent: ${harm}.`)
    const intent = intentOf(request)
    if (intent === undefined) return
    ledger.write({ creates: intent })
    holdings.hasIntents = true
  }

  /**
   * Whether the first list after an addition lacks it, and the next one may not. Where that one shows it, each read after
   * a change waits from then on: a list that is a second old is no mistake of the service.
   */
  async #isTooEarly(request: ProbeRequest, response: SeenResponse | undefined): Promise<boolean> {
    if (this.#lags === false || response === undefined) return false
    const lacks = this.options.holdings.lacksOwn(request, dataOf(request, response))
    if (lacks === undefined) return false
    const isFirst = this.#lags === undefined
    this.#lags = lacks === isFirst
    if (!isFirst || !lacks) return false
    await this.pause(SETTLING)
    return true
  }

  /**
   * Without a response, the connection was cut, with the error that says so.
   * @throws ConnectionError if the request certainly did not arrive, or nobody knows what becomes of it
   */
  async #send(request: ProbeRequest): Promise<{ exchange: Exchange; error?: ConnectionError }> {
    const { send, clock, contract, apiKey, holdings } = this.options
    const { method, path, key } = request
    const body = bytesOfBody(request)
    const headers = headersOf(request)
    const authorization = authorizationOf(request, apiKey)
    const own: HeaderFields = authorization === undefined ? [] : [['authorization', authorization]]
    const credentials = this.#keys.credentialsOf(own)
    const isInvented = credentials.kind === 'sent' && (key === 'wrong' || key === 'longer')
    if (hasKey(request)) this.budget.spend(quotaPathOf(request))
    this.sent++
    const at = clock()
    const exchangeOf = (response: SeenResponse | undefined): Exchange => ({
      id: response?.headers['x-request-id'] || `request ${this.sent}`,
      ...{ at, until: clock(), overlaps: false, response },
      request: {
        ...{ method, target: contract.basePath + path, headers },
        credentials: isInvented ? { ...credentials, isInvented } : credentials,
        body: body === undefined ? EMPTY_BODY : new KnownBody(body),
      },
    })
    try {
      const fields = { ...headers, ...Object.fromEntries(own) }
      return {
        exchange: exchangeOf(this.#read(request, own, await send({ method, path, headers: fields, body }))),
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      if (error.isCut) return { exchange: exchangeOf(undefined), error }
      if (!isRead(request)) {
        holdings.doubt(request)
        // The service may carry it out late, so that the lists of the cleanup show either.
        this.options.judge?.take(exchangeOf(undefined))
      }
      throw error
    }
  }

  /** The response without the key, which a service might repeat. */
  #read(request: ProbeRequest, own: HeaderFields, answer: WireResponse): SeenResponse {
    const { status, rawHeaders, body: raw, isTooLong = false } = answer
    const received = pairsOf(rawHeaders)
    const redact = this.#keys.redactorFor({ target: request.path, fields: [...own, ...received] })
    const headers = readFields(received, redact)
    const seen = isTooLong ? TOO_LONG : decodeBody(raw, headers['content-encoding'], LARGEST_RESPONSE)
    const body = redactBody(seen, redact)
    const response = { status, headers, body }
    const isRefused = isOverQuota({ code: codeIn(response), response })
    if (hasKey(request)) this.budget.believe(quotaPathOf(request), headers, isRefused)
    return response
  }

  #take(exchange: Exchange, request: ProbeRequest, probe: string | undefined): ProbeAnswer {
    const { holdings, ledger, judge } = this.options
    const { response = NOTHING } = exchange
    const data = dataOf(request, response)
    const group = holdings.learn(request, data)
    if (group !== undefined) ledger.write({ group })
    this.exchanges.push({ exchange, sent: request, probe })
    judge?.take(exchange)
    return { response, code: codeIn(response), data, isLost: exchange.response === undefined }
  }
}

/** The `data` of a success; `undefined` for anything else. */
function dataOf({ method }: ProbeRequest, response: SeenResponse): unknown {
  const outcome = readOutcome(method, response)
  return outcome.kind === 'success' ? outcome.data : undefined
}

/** Whether a gateway has answered in place of the service. A refusal of a write is none, whatever it looks like. */
function isOfGateway(response: SeenResponse, isOfRead: boolean): boolean {
  const { status } = response
  if (codeIn(response) !== undefined && !isOfRead) return false
  return (status >= 502 && status <= 504) || (isPage(response) && !(status >= 400 && status < 500))
}

/** Whether the response is a web page. */
export function isPage({ headers, body }: SeenResponse): boolean {
  const text = body.isKnown ? body.bytes.subarray(0, 200).toString() : ''
  if (/^\s*\{/.test(text)) return false
  return /^text\/html\b/i.test(headers['content-type'] ?? '') || /^\s*<(?:!doctype|html)\b/i.test(text)
}

/** Whether the quota is used up, as the service or a gateway before it says. */
export function isOverQuota({ code, response }: Pick<ProbeAnswer, 'code' | 'response'>): boolean {
  return code === 'rate_limited' || response.status === 429
}

export function isDone({ response: { status } }: Pick<ProbeAnswer, 'response'>): boolean {
  return status >= 200 && status < 300
}
