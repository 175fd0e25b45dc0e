import type { Contract } from '../contract/contract.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Exchange, SeenHeaders, SeenResponse } from '../exchanges/exchange.ts'
import { codeIn, readOutcome } from '../exchanges/reading.ts'
import { systemClock } from '../ground/clock.ts'
import { isObject } from '../ground/json.ts'
import type { RequestBudget } from './budget.ts'
import type { Client, WireResponse } from './client.ts'
import { type Intent, intentOf, readGroupLoosely } from './created-items.ts'
import { findHarm, type Permission } from './harmful-requests.ts'
import type { Ledger } from './ledger.ts'
import { bytesOfBody, headersOf, isRead, type ProbeRequest, quotaPathOf } from './probe.ts'

/** What a service answered. */
export interface ProbeAnswer {
  exchange: Exchange
  response: SeenResponse
  /** The code of a refusal in the envelope of the service. */
  code: string | undefined
  /** The `data` of a success in the envelope of the service. */
  data: unknown
}

/** The records that are made for each request. */
interface Bookkeeping {
  ledger: Pick<Ledger, 'write'>
  permission: Permission
  onIntent(intent: Intent): void
  onGroup(group: DomainGroup): void
}

interface ConversationOptions {
  client: Pick<Client, 'send'>
  contract: Contract
  apiKey: string
  budget: RequestBudget
  record: Bookkeeping
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
}

/** A request that a run must not send. It means a bug of this program. */
export class HarmfulRequest extends Error {
  override name = 'HarmfulRequest'
}

/** Sends the requests of a run, one after the other. It first writes to the ledger what a request may create. */
export class ProbeConversation {
  readonly #options: ConversationOptions
  #sent = 0

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  /** How many requests were sent. */
  get sent(): number {
    return this.#sent
  }

  /** @throws ConnectionError if no response came. */
  async ask(request: ProbeRequest): Promise<ProbeAnswer> {
    const { client, contract, budget, record, writes, apiKey } = this.#options
    const harm = writes || isRead(request) ? findHarm(request, record.permission) : `${request.method} is a write`
    if (harm !== undefined) throw new HarmfulRequest(`A probe must not be sent: ${harm}.`)
    const intent = intentOf(request)
    if (intent !== undefined) {
      record.ledger.write({ creates: intent })
      record.onIntent(intent)
    }
    const path = quotaPathOf(request)
    const body = bytesOfBody(request)
    const headers = headersOf(request, apiKey)
    budget.spend(path)
    this.#sent++
    const at = systemClock()
    const received = await client.send({ method: request.method, path: request.path, headers, body })
    const until = systemClock()
    const response = this.#read(received)
    const code = codeIn(response)
    budget.believe(path, response.headers, code)
    const outcome = readOutcome(request.method, response)
    const data = outcome.kind === 'success' ? outcome.data : undefined
    const created = request.method === 'POST' && isObject(data) ? readGroupLoosely(data['group']) : undefined
    if (created !== undefined && record.permission.isOwnListedGroup(created)) {
      record.ledger.write({ group: created.id })
      record.onGroup(created)
    }
    const { authorization, ...others } = lowerCase(headers)
    const exchange: Exchange = {
      id: response.headers['x-request-id'] ?? `request ${this.#sent}`,
      at,
      until,
      overlaps: false,
      request: {
        method: request.method,
        target: contract.basePath + request.path,
        headers: others,
        credentials: credentialsOf(authorization, request),
        body: { isKnown: true, bytes: body ?? Buffer.alloc(0) },
      },
      response,
    }
    return { exchange, response, code, data }
  }

  /** The response without the key, because a service might repeat the key. */
  #read({ status, rawHeaders, body }: WireResponse): SeenResponse {
    const { apiKey } = this.#options
    const headers: Record<string, string> = Object.create(null)
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = (rawHeaders[index] ?? '').toLowerCase()
      const value = (rawHeaders[index + 1] ?? '').replaceAll(apiKey, '[key]')
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
    }
    const bytes = body.includes(apiKey)
      ? Buffer.from(body.toString('latin1').replaceAll(apiKey, '[key]'), 'latin1')
      : body
    return { status, headers, body: { isKnown: true, bytes } }
  }
}

function lowerCase(headers: Record<string, string>): SeenHeaders & { authorization?: string } {
  const lower: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
  return lower
}

function credentialsOf(
  authorization: string | undefined,
  { key, scheme = 'Bearer' }: ProbeRequest,
): Exchange['request']['credentials'] {
  if (authorization === undefined) return { kind: 'none' }
  // The kept exchange must not contain the key itself.
  if (key === 'bare') return { kind: 'sent', scheme: '[key]', key: 'key 1', isWord: false }
  if (key === 'wrong') return { kind: 'sent', scheme, key: 'key 2', isWord: true, isInvented: true }
  return { kind: 'sent', scheme, key: 'key 1', isWord: true }
}
