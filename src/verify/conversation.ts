import type { Contract } from '../contract/contract.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import type { Exchange, SeenResponse } from '../exchanges/exchange.ts'
import { codeIn, readOutcome } from '../exchanges/reading.ts'
import type { Clock } from '../ground/clock.ts'
import type { Conclusion } from '../judge/judge.ts'
import type { RequestBudget } from './budget.ts'
import { type Client, ConnectionError, LARGEST_RESPONSE, type WireResponse } from './client.ts'
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
export interface RunJudge {
  take(exchange: Exchange): unknown
  conclude(): Conclusion
}

export interface ConversationOptions {
  client: Pick<Client, 'send'>
  contract: Pick<Contract, 'basePath'>
  apiKey: string
  clock: Clock
  budget: RequestBudget
  holdings: Holdings
  ledger: Pick<Ledger, 'write'>
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  /** Resolves after this many milliseconds. */
  pause(milliseconds: number): Promise<void>
}

/** What a run and its cleanup send and wait with. */
export interface Way extends Pick<ConversationOptions, 'budget' | 'holdings' | 'pause'> {
  conversation: Conversation
  /** Whether to wait for quotas however long it takes. If not, the asking ends when they are used up. */
  waits: boolean
  /** Waits for a new window of the path, or until the signal is aborted. */
  waitFor(path: string): Promise<void>
  signal: AbortSignal
}

/** A request that a run must not send. The run leaves its probe out. */
export class HarmfulRequest extends Error {
  override name = 'HarmfulRequest'
}

/** In milliseconds: how long to wait before a read is sent again. */
const PAUSES = [500, 2_000]
/** In milliseconds: after this time, a list shows every change, and nothing of a killed run is under way. */
export const SETTLING = 2_000
const NOTHING: SeenResponse = { status: 0, headers: {}, body: { isKnown: true, bytes: Buffer.alloc(0) } }

/**
 * Sends the requests of a run, one after the other. What a request may create is in the ledger before it is sent. A read
 * that met trouble on the way is sent again. A write is not: the service may have done it.
 */
export class Conversation {
  readonly exchanges: RunExchange[] = []
  /** What went wrong on the way to the service, one sentence each. */
  readonly troubles: string[] = []
  /** How many requests were sent. */
  sent = 0
  readonly #options: ConversationOptions
  #judge: RunJudge | undefined
  #hasWritten = false
  /** Whether a list shows a change only after a while; `undefined` until the first list after a change. */
  #lags: boolean | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  /** Judges the exchanges so far, and then each exchange to come. */
  judgeWith(judge: RunJudge): void {
    for (const { exchange } of this.exchanges) judge.take(exchange)
    this.#judge = judge
  }

  /** @throws ConnectionError if no answer came, except to a write that may have arrived */
  async ask(request: ProbeRequest, probe?: string): Promise<ProbeAnswer> {
    const { holdings, ledger, writes } = this.#options
    const isWrite = !isRead(request)
    const harm = isWrite && !writes ? `${request.method} is a write` : findHarm(request, holdings)
    if (harm !== undefined) throw new HarmfulRequest(`A probe must not be sent: ${harm}.`)
    const intent = intentOf(request)
    if (intent !== undefined) {
      ledger.write({ creates: intent })
      holdings.intend(intent)
    }
    if (!isWrite && this.#hasWritten && this.#lags === true) await this.#options.pause(SETTLING)
    this.#hasWritten = isWrite
    return isWrite ? this.#write(request, probe) : this.#read(request, probe)
  }

  async #write(request: ProbeRequest, probe: string | undefined): Promise<ProbeAnswer> {
    const { exchange, trouble } = await this.#send(request)
    if (trouble === undefined) return this.#take(exchange, request, probe)
    this.troubles.push(
      `${request.method} ${request.path}: ${trouble}. It was not sent again, because it may have been done.`,
    )
    this.#options.holdings.doubt(request)
    return this.#take({ ...exchange, response: undefined }, request, probe)
  }

  async #read(request: ProbeRequest, probe: string | undefined): Promise<ProbeAnswer> {
    for (const wait of PAUSES) {
      const { exchange, trouble } = await this.#send(request)
      if (await this.#isTooEarly(request, exchange)) continue
      if (trouble === undefined) return this.#take(exchange, request, probe)
      this.troubles.push(`${request.method} ${request.path}: ${trouble}. It was sent again.`)
      await this.#options.pause(wait)
    }
    const { exchange, error } = await this.#send(request)
    if (error !== undefined) throw error
    return this.#take(exchange, request, probe)
  }

  /**
   * Whether the first list after an addition lacks it, and the next one may not. Where that one shows it, each read after
   * a change waits from then on: a list that is a second old is no mistake of the service.
   */
  async #isTooEarly(request: ProbeRequest, { response }: Exchange): Promise<boolean> {
    if (this.#lags === false || response === undefined) return false
    const lacks = this.#options.holdings.lacksOwn(request, dataOf(request, response))
    if (lacks === undefined) return false
    const isFirst = this.#lags === undefined
    this.#lags = lacks === isFirst
    if (!isFirst || !lacks) return false
    await this.#options.pause(SETTLING)
    return true
  }

  /** `trouble` is what happened on the way, if the answer is not that of the service. */
  async #send(request: ProbeRequest): Promise<{ exchange: Exchange; trouble?: string; error?: ConnectionError }> {
    const { client, clock, contract, budget, apiKey, holdings } = this.#options
    const { method, path } = request
    const body = bytesOfBody(request)
    const headers = headersOf(request)
    const authorization = authorizationOf(request, apiKey)
    if (hasKey(request)) budget.spend(quotaPathOf(request))
    this.sent++
    const at = clock()
    const exchangeOf = (response: SeenResponse | undefined): Exchange => ({
      id: response?.headers['x-request-id'] || `request ${this.sent}`,
      at,
      until: clock(),
      overlaps: false,
      request: {
        ...{ method, target: contract.basePath + path, headers, credentials: credentialsOf(request) },
        body: { isKnown: true, bytes: body ?? Buffer.alloc(0) },
      },
      response,
    })
    try {
      const fields = { ...headers, ...(authorization !== undefined && { authorization }) }
      const response = readResponse(await client.send({ method, path, headers: fields, body }), apiKey)
      if (hasKey(request)) {
        budget.believe(quotaPathOf(request), response.headers, isOverQuota({ code: codeIn(response), response }))
      }
      const trouble = troubleIn(response, isRead(request))
      return { exchange: exchangeOf(response), ...(trouble !== undefined && { trouble }) }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      if (error.isCut) return { exchange: exchangeOf(undefined), trouble: error.message, error }
      if (!isRead(request)) holdings.doubt(request)
      throw error
    }
  }

  #take(exchange: Exchange, request: ProbeRequest, probe: string | undefined): ProbeAnswer {
    const { response = NOTHING } = exchange
    const data = dataOf(request, response)
    const group = this.#options.holdings.learn(request, data)
    if (group !== undefined) this.#options.ledger.write({ group })
    this.exchanges.push({ exchange, sent: request, probe })
    this.#judge?.take(exchange)
    return { response, code: codeIn(response), data, isLost: exchange.response === undefined }
  }
}

/** The `data` of a success; `undefined` for anything else. */
function dataOf({ method }: ProbeRequest, response: SeenResponse): unknown {
  const outcome = readOutcome(method, response)
  return outcome.kind === 'success' ? outcome.data : undefined
}

/** What happened to a request on its way, as the end of a sentence; `undefined` if the service itself answered. */
function troubleIn(response: SeenResponse, isOfRead: boolean): string | undefined {
  const { status } = response
  if (codeIn(response) !== undefined && !isOfRead) return undefined
  if (status >= 502 && status <= 504) return `it was answered ${status}`
  // A refusal is one, whatever it looks like.
  const isRefusal = status >= 400 && status < 500
  return isPage(response) && !isRefusal ? `a web page came (${status})` : undefined
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

/** The response without its content coding, and without the key, because a service might repeat the key. */
function readResponse({ status, rawHeaders, body }: WireResponse, apiKey: string): SeenResponse {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = hideKey(rawHeaders[index + 1] ?? '', apiKey)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const decoded = decodeBody(body, headers['content-encoding'], LARGEST_RESPONSE)
  if (!decoded.isKnown) return { status, headers, body: decoded }
  const plain = decoded.bytes
  const bytes = plain.includes(apiKey) ? Buffer.from(hideKey(plain.toString('latin1'), apiKey), 'latin1') : plain
  return { status, headers, body: { isKnown: true, bytes } }
}

/** A shorter key is no secret: everybody can try all keys of its length. */
const SHORTEST_SECRET = 8

/** Of a short key, only what stands behind `Bearer` is hidden. */
function hideKey(text: string, apiKey: string): string {
  if (apiKey.length >= SHORTEST_SECRET) return text.replaceAll(apiKey, '[key]')
  return text.replaceAll(`Bearer ${apiKey}`, 'Bearer [key]')
}

/** The kept exchange must not contain the key itself. */
function credentialsOf({ key, scheme = 'Bearer' }: ProbeRequest): Exchange['request']['credentials'] {
  if (key === 'none') return { kind: 'none' }
  if (key === 'bare') return { kind: 'sent', scheme: '[key]', key: 'key 1', isWord: false }
  if (key === undefined) return { kind: 'sent', scheme, key: 'key 1', isWord: true }
  return { kind: 'sent', scheme, key: `${key} key`, isWord: true, isInvented: true }
}
