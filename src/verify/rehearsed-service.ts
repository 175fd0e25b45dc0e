import { createAccount } from '../accounts/creation.ts'
import { loadFixture } from '../accounts/fixture.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import { type Observation, observationOf } from '../coverage/observation.ts'
import type { AccountState } from '../domain/account.ts'
import { type Counting, type CountingPlan, refundCharge } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Hits } from '../domain/quotas.ts'
import { arrivalOf } from '../doors/direct-arrival.ts'
import { hashKey } from '../ground/secrets.ts'
import { RealDate } from '../ground/timers.ts'
import { textOf } from '../http/content.ts'
import type { Headers } from '../http/delivery.ts'
import type { ServiceStore } from '../service/gate.ts'
import type { Service } from '../service/pipeline.ts'
import { openDirectService } from '../start/direct-service.ts'
import { enterAccount } from '../store/admission.ts'
import type { Admission, Incarnate, Visitor } from '../store/store.ts'
import { bytesOfBody, headersOf, type ProbeRequest } from './probe.ts'

/** The part of an answer that depends on the contract. */
export interface RehearsedAnswer {
  status: number
  text: string
  /** Reads the data of a success. */
  data(): unknown
  /** Everything except status and body that may differ under another contract. */
  fields: Readonly<Record<string, string | number>>
  observation: Observation
}

/** How many long bodies are cached. */
const PADDED_BODIES = 10
const SECRET = 'rehearsal'
const HASH = hashKey(SECRET)
/** The middle of a quota window, so that the time to its end differs from its length. */
const NOW = RealDate.parse('2026-01-15T09:30:00Z')
/** What other clients have in the account. */
const FIXTURE = {
  domains: ['m.other.example', 'b.other.example'],
  groups: [{ name: 'Other', domains: ['m.other.example'] }],
}
/** Fields that are equal in each answer, or that follow from others. */
const TELL_NOTHING = new Set(['Date', 'Content-Length', 'Retry-After'])

/** The account of the rehearsal, and the observation of its last request. */
class RehearsalStore implements ServiceStore {
  account: AccountState
  counting: Counting = { quotas: PersistentMap.of(), tallies: PersistentMap.of(), requests: 0 }
  observation: Observation | undefined

  constructor(account: AccountState) {
    this.account = account
  }

  enter<Request, Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Request, Plan, Value>,
    request: Request,
  ) {
    if (keyHash !== HASH) return undefined
    return admission.conclude(request, enterAccount(this.account, this.counting, admission, request))
  }

  refund(_: Incarnate, bucket: string, startedAt: number): Hits | undefined {
    return refundCharge(this.counting, bucket, startedAt)
  }

  update<Value, Code extends string = ErrorCode>(
    _: string,
    decide: (state: AccountState) => Decision<AccountState, Value, Code>,
  ): Decision<AccountState, Value, Code> {
    const decision = decide(this.account)
    if (decision.ok) this.account = decision.state
    return decision
  }

  async count<Value>(_: string, visit: Visitor<Value>): Promise<Value> {
    return visit(this.account, this.counting, 1)
  }
}

/**
 * An account and its service under a contract, called directly. It finds out in advance what the answers to requests
 * would show.
 */
export class RehearsedService {
  readonly contract: ServiceContract
  readonly #service: Service
  /** The store of the service, which all copies share. Each copy puts its own account there before a request. */
  readonly #store: RehearsalStore
  #account: AccountState
  #counting: Counting

  private constructor(contract: ServiceContract, service: Service, store: RehearsalStore) {
    this.contract = contract
    this.#service = service
    this.#store = store
    this.#account = store.account
    this.#counting = store.counting
  }

  static async open(contract: ServiceContract): Promise<RehearsedService> {
    const fixture = await loadFixture(FIXTURE)
    const store = new RehearsalStore(createAccount(fixture, { id: 'rehearsal', real: NOW, apiKey: SECRET }, contract))
    const service = openDirectService({
      ...{ contract, store, clock: () => NOW },
      observe(entry, { query, body }) {
        store.observation = entry.status === undefined ? undefined : observationOf(entry, entry.status, query, body)
      },
    })
    return new RehearsedService(contract, service, store)
  }

  /** The same account at the same time; requests to the copy do not change this one. */
  copy(): RehearsedService {
    const copy = new RehearsedService(this.contract, this.#service, this.#store)
    copy.#account = this.#account
    copy.#counting = { ...this.#counting }
    return copy
  }

  answer(request: ProbeRequest): RehearsedAnswer {
    const store = this.#store
    store.account = this.#account
    store.counting = this.#counting
    const { method } = request
    const body = paddedOnce(request)
    const length = body && { 'Content-Length': `${body.length}` }
    const headers = Object.entries({ Host: 'rehearsal', ...headersOf(request, SECRET), ...length }).flat()
    const delivery = this.#service(arrivalOf({ method, target: this.contract.basePath + request.path, headers, body }))
    this.#account = store.account
    const { observation } = store
    // A rehearsal has no delays and no faults.
    if (delivery === undefined || delivery instanceof Promise || 'lost' in delivery || observation === undefined)
      throw new Error(`A rehearsal of ${method} ${request.path} was not answered.`)
    const text = textOf(delivery.body)
    return {
      status: delivery.status,
      text,
      data: () => (observation.code === undefined && text !== '' ? JSON.parse(text).data : undefined),
      fields: { ...this.#fieldsIn(delivery.headers, headers), ...(method === 'HEAD' && { bodyless: 'yes' }) },
      observation,
    }
  }

  /** The header fields that depend on the contract. For an id by the service, only its form counts. */
  #fieldsIn(headers: Headers, sent: readonly string[]): Record<string, string | number> {
    const fields: Record<string, string | number> = {}
    for (let index = 0; index < headers.length; index += 2) {
      const [name = '', value = ''] = [String(headers[index]), headers[index + 1]]
      if (TELL_NOTHING.has(name)) continue
      fields[name] = name === 'X-Request-Id' && !sent.includes(`${value}`) ? this.contract.requestIds : value
    }
    return fields
  }
}

const padded = new Map<string, Buffer>()

/** The bytes of a body. Bodies of a megabyte are cached, because they are equal under a hundred contracts. */
function paddedOnce(request: ProbeRequest): Buffer | undefined {
  const { body, padTo } = request
  if (padTo === undefined) return bytesOfBody(request)
  const key = `${padTo} ${JSON.stringify(body)}`
  const bytes = padded.get(key) ?? bytesOfBody(request)
  if (bytes !== undefined && padded.size < PADDED_BODIES) padded.set(key, bytes)
  return bytes
}
