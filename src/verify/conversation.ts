import type { Investigation } from '../conformance/investigation.ts'
import type { Contract } from '../contract/contract.ts'
import { undoCoding } from '../exchanges/content-coding.ts'
import type { Exchange, SeenResponse } from '../exchanges/exchange.ts'
import { codeIn } from '../exchanges/reading.ts'
import { systemClock } from '../ground/clock.ts'
import type { RequestBudget } from './budget.ts'
import { type Client, ConnectionError, LARGEST_RESPONSE, type WireResponse } from './client.ts'
import { findHarm } from './harmful-requests.ts'
import { type Holdings, intentOf } from './holdings.ts'
import { dataOf, type KeptExchange, type Ledger, LedgerError } from './ledger.ts'
import { bytesOfBody, headersOf, isRead, type ProbeAnswer, type ProbeRequest, quotaPathOf } from './probe.ts'

/** The part that a request has in a run. */
export interface RequestRole {
  /** The probe that it belongs to. */
  probe?: string | undefined
  /** Whether it sets up the probe. */
  setUp?: boolean
  /** Whether the answer of a gateway to a write is taken for the service's, because the write was lost before. */
  isLastTry?: boolean
}

/** The judge of the exchanges: an `Investigation`. */
export type ConversationJudge = Pick<Investigation, 'take' | 'conclude'>

export interface ConversationOptions {
  client: Pick<Client, 'send'>
  contract: Contract
  apiKey: string
  budget: RequestBudget
  holdings: Holdings
  ledger: Pick<Ledger, 'write' | 'keep'>
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  /** Resolves after this many milliseconds. */
  pause(milliseconds: number): Promise<void>
}

/** A request that a run must not send. `Asking` leaves its probe out; anywhere else, it means a bug of this program. */
export class HarmfulRequest extends Error {
  override name = 'HarmfulRequest'
}

/** In milliseconds: how long to wait before a read is tried again. */
const PAUSES = [500, 2_000]
/** In milliseconds: after this time, a list that contradicts an answer is no longer old. */
export const SETTLING = 2_000
/** How many reads are sent again because they may be old. A service that never shows a change costs no more. */
const MOST_DOUBTS = 5
/** After so many reads in a row that failed each time, none is sent again. */
const MOST_FAILURES = 3
const NOTHING: SeenResponse = { status: 0, headers: {}, body: { isKnown: true, bytes: Buffer.alloc(0) } }

/**
 * Sends the requests of a run, one after the other. It notes in the ledger what a request may create before it sends
 * the request. A read that met trouble on the way is tried again. A write is not: the service may have done it.
 */
export class Conversation {
  readonly exchanges: KeptExchange[] = []
  /** What went wrong on the way to the service, one sentence each. */
  readonly troubles: string[] = []
  /** Judges the exchanges from now on. */
  judge: ConversationJudge | undefined
  /** During the cleanup, a full disk must not stop the run: it creates nothing any more. */
  isCleaning = false
  /** How many requests were sent. */
  sent = 0
  readonly #options: ConversationOptions
  /** Whether there was a write since the last pause. */
  #hasWritten = false
  /** Whether a read was seen to be older than a change before it. */
  #hasOldReads = false
  /** The read that was sent again because it may be old, and how many there were. */
  #doubted: ProbeRequest | undefined
  #doubts = 0
  /** How many reads in a row failed each time. */
  #failures = 0

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  /** Judges the exchanges so far, and then each exchange to come. */
  async judgeWith(judge: ConversationJudge, earlier: readonly KeptExchange[]): Promise<void> {
    this.exchanges.unshift(...earlier)
    for (const { exchange } of this.exchanges) await judge.take(exchange)
    this.judge = judge
  }

  /** @throws ConnectionError if no answer came, except to a write that may have arrived */
  async ask(request: ProbeRequest, role: RequestRole = {}): Promise<ProbeAnswer> {
    const { holdings, ledger, writes } = this.#options
    const harm = writes || isRead(request) ? findHarm(request, holdings) : `${request.method} is a write`
    if (harm !== undefined) throw new HarmfulRequest(`A probe must not be sent: ${harm}.`)
    const intent = intentOf(request)
    if (intent !== undefined) {
      ledger.write({ creates: intent })
      holdings.intend(intent)
    }
    await this.#settle(request)
    for (let attempt = 0; ; attempt++) {
      const { exchange, error, ...sent } = await this.#send(request)
      const trouble = sent.trouble ?? this.#oldAge(request, exchange)
      const isLast = isRead(request) ? attempt === this.#retries : role.isLastTry === true
      if (isRead(request) && (isLast || trouble === undefined))
        this.#failures = trouble === undefined ? 0 : this.#failures + 1
      if (trouble === undefined || (isLast && error === undefined)) return this.#take(exchange, request, role)
      if (isRead(request) && isLast) throw error
      const next = isRead(request) ? 'It was sent again.' : 'It was not sent again, because it may have been done.'
      this.troubles.push(`${request.method} ${request.path}: ${trouble}. ${next}`)
      if (!isRead(request)) {
        holdings.suspect(request)
        return this.#take({ ...exchange, response: undefined }, request, role)
      }
      await this.#options.pause(this.#doubted === request ? SETTLING : (PAUSES[attempt] ?? 0))
    }
  }

  /** How often a read is sent again. Where several reads in a row have failed each time, it is useless. */
  get #retries(): number {
    return this.#failures < MOST_FAILURES ? PAUSES.length : 0
  }

  /** Where reads were seen to be old, a read that follows a write waits until it shows the write. */
  async #settle(request: ProbeRequest): Promise<void> {
    if (!isRead(request)) this.#hasWritten = true
    else if (this.#hasWritten && this.#hasOldReads) {
      await this.#options.pause(SETTLING)
      this.#hasWritten = false
    }
  }

  /** What is wrong about a read that may be older than the last changes. The read after it shows whether it is. */
  #oldAge(request: ProbeRequest, exchange: Exchange): string | undefined {
    if (this.isCleaning || this.#hasOldReads || this.#doubts >= MOST_DOUBTS) return undefined
    if (!this.#options.holdings.isOlder(request, exchange)) {
      if (this.#doubted === request) this.#hasOldReads = true
      return undefined
    }
    if (this.#doubted === request) return undefined
    this.#doubted = request
    this.#doubts++
    return 'the answer does not show what the run has changed before'
  }

  /** `trouble` is what happened on the way, if the answer is not that of the service. */
  async #send(
    request: ProbeRequest,
  ): Promise<{ exchange: Exchange; trouble?: string | undefined; error?: ConnectionError }> {
    const { client, contract, budget, apiKey } = this.#options
    const { method, path } = request
    const body = bytesOfBody(request)
    const headers = headersOf(request, apiKey)
    budget.spend(quotaPathOf(request))
    this.sent++
    const at = systemClock()
    const exchangeOf = (response: SeenResponse | undefined): Exchange => ({
      id: response?.headers['x-request-id'] || `request ${this.sent}`,
      at,
      until: systemClock(),
      overlaps: false,
      request: {
        method,
        target: contract.basePath + path,
        headers: withoutKey(headers),
        credentials: credentialsOf(headers, request),
        body: { isKnown: true, bytes: body ?? Buffer.alloc(0) },
      },
      response,
    })
    try {
      const response = readResponse(await client.send({ method, path, headers, body }), apiKey)
      budget.believe(quotaPathOf(request), response.headers, codeIn(response))
      return { exchange: exchangeOf(response), trouble: troubleIn(response, isRead(request)) }
    } catch (error) {
      if (!(error instanceof ConnectionError) || !error.isCut) {
        if (!isRead(request)) this.#options.holdings.suspect(request)
        throw error
      }
      return { exchange: exchangeOf(undefined), trouble: error.message, error }
    }
  }

  async #take(exchange: Exchange, request: ProbeRequest, role: RequestRole): Promise<ProbeAnswer> {
    const { holdings, ledger } = this.#options
    const { body: _, padTo, headers, ...sent } = request
    const data = dataOf(exchange)
    const group = holdings.learn(request, data)
    const kept = { exchange, sent, data, probe: role.probe, setUp: role.setUp === true }
    this.#note(() => {
      if (group !== undefined) ledger.write({ group })
      ledger.keep(kept)
    })
    this.exchanges.push(kept)
    await this.judge?.take(exchange)
    const { response = NOTHING } = exchange
    return { response, code: codeIn(response), data, isLost: exchange.response === undefined }
  }

  #note(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!this.isCleaning || !(error instanceof LedgerError)) throw error
    }
  }
}

/** What happened to a request on its way, as the end of a sentence; `undefined` if the service itself answered. */
function troubleIn(response: SeenResponse, isOfRead: boolean): string | undefined {
  const { status } = response
  if (codeIn(response) !== undefined && !isOfRead) return undefined
  if (status >= 502 && status <= 504) return `it was answered ${status}`
  return isPage(response) ? `a web page came (${status})` : undefined
}

/** Whether the response is a web page. */
export function isPage({ headers, body }: SeenResponse): boolean {
  if (body.isKnown && /^\s*\{/.test(body.bytes.subarray(0, 200).toString())) return false
  if (/^text\/html\b/i.test(headers['content-type'] ?? '')) return true
  return body.isKnown && /^\s*<(?:!doctype|html)\b/i.test(body.bytes.subarray(0, 200).toString())
}

/** The response without its content coding, and without the key, because a service might repeat the key. */
function readResponse({ status, rawHeaders, body }: WireResponse, apiKey: string): SeenResponse {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = hideKey(rawHeaders[index + 1] ?? '', apiKey, '[key]')
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const plain = undoCoding(body, (headers['content-encoding'] ?? '').toLowerCase(), LARGEST_RESPONSE) ?? body
  const bytes = plain.includes(apiKey)
    ? Buffer.from(hideKey(plain.toString('latin1'), apiKey, '[key]'), 'latin1')
    : plain
  return { status, headers, body: { isKnown: true, bytes } }
}

/** A shorter key is no secret: everybody can try all keys of its length. */
const SHORTEST_SECRET = 8

/** The text with something else in place of the key. Of a short key, only what stands behind `Bearer` is hidden. */
function hideKey(text: string, apiKey: string, shown: string): string {
  if (apiKey.length >= SHORTEST_SECRET) return text.replaceAll(apiKey, shown)
  return text.replaceAll(`Bearer ${apiKey}`, `Bearer ${shown}`)
}

function withoutKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  const others: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== 'authorization') others[name.toLowerCase()] = value
  }
  return others
}

function credentialsOf(
  { Authorization: sent }: Readonly<Record<string, string>>,
  { key, scheme = 'Bearer' }: ProbeRequest,
): Exchange['request']['credentials'] {
  if (sent === undefined) return { kind: 'none' }
  // The kept exchange must not contain the key itself.
  if (key === 'bare') return { kind: 'sent', scheme: '[key]', key: 'key 1', isWord: false }
  if (key === 'wrong' || key === 'longer')
    return { kind: 'sent', scheme, key: `${key} key`, isWord: true, isInvented: true }
  return { kind: 'sent', scheme, key: 'key 1', isWord: true }
}
