import { type Conformity, type ConformitySettings, conform, type ReceivedRequest } from '../behaviour/judge.ts'
import type { Api, Operation } from '../contract/api.ts'
import { type AdminRefusal, type ControlLimits, readLimits } from '../contract/control-api.ts'
import type { CallId } from '../contract/control-plane.ts'
import { refuse } from '../domain/errors.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { isDeeperThan } from '../ground/json.ts'
import { StoreError } from '../store/store-error.ts'
import { aboutHandlers } from './about.ts'
import { accountHandlers } from './accounts.ts'
import { type ReachedPlace, urlsFor } from './address.ts'
import { clockHandlers } from './clock.ts'
import { coverageHandlers } from './coverage.ts'
import { recordHandlers } from './daily-records.ts'
import { domainHandlers } from './domains.ts'
import { explanationHandlers } from './explanation.ts'
import { faultHandlers } from './faults.ts'
import { groupHandlers } from './groups.ts'
import type { AccountContext, ControlContext, ControlDeps, ControlOutcome, Handlers } from './handler.ts'
import { getHealth, getReadiness } from './health.ts'
import { keyHandlers } from './keys.ts'
import { overviewHandlers } from './overview.ts'
import { quotaHandlers } from './quotas.ts'
import { invalid, refusalFor, unknownAccount } from './refusals.ts'
import { requestHandlers } from './requests.ts'
import { snapshotHandlers } from './snapshots.ts'
import { stateHandlers } from './state.ts'
import { verdictHandlers } from './verdict.ts'
import { verificationHandlers } from './verification.ts'

export interface ControlRequest {
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

interface ConformingCall {
  parameters: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  body: unknown
  /** Where the client of a request over HTTP reaches the server. */
  place?: ReachedPlace
}

/** The document says of each operation whether it has an account, and what its request is. */
type AnyHandler = (call: ControlContext & ConformingCall & Partial<AccountContext>) => Awaitable<ControlOutcome>

/** The implementation of each operation, by operationId. */
const HANDLERS: Required<Handlers> = {
  ...aboutHandlers,
  getHealth,
  getReadiness,
  ...accountHandlers,
  ...stateHandlers,
  ...snapshotHandlers,
  ...keyHandlers,
  ...domainHandlers,
  ...groupHandlers,
  ...recordHandlers,
  ...overviewHandlers,
  ...clockHandlers,
  ...quotaHandlers,
  ...faultHandlers,
  ...requestHandlers,
  ...explanationHandlers,
  ...verificationHandlers,
  ...coverageHandlers,
  ...verdictHandlers,
}

const CONFORMITY: ConformitySettings = { nullFields: 'wrong-type', unknownQueryParameters: 'refused' }

/** The control plane without HTTP. The HTTP server and the library both use it. */
export class Control {
  readonly api: Api
  readonly limits: ControlLimits
  readonly deps: ControlDeps

  constructor(api: Api, deps: ControlDeps) {
    this.api = api
    this.deps = deps
    this.limits = readLimits(api)
  }

  operation(id: string): Operation {
    const operation = this.api.operations.find((each) => each.id === id)
    if (operation === undefined) throw new Error(`The control plane has no operation ${id}.`)
    return operation
  }

  conform(request: ReceivedRequest): Conformity {
    return conform(request, CONFORMITY, this.api.catalogue)
  }

  async perform(operation: Operation, { parameters = {}, query = {}, body = {} }: ControlRequest) {
    const received = operation.readsBody ? ({ ok: true, value: body } as const) : undefined
    const conforming = this.conform({ operation, query, body: received })
    return conforming.ok ? this.run(operation, { ...conforming, parameters }) : (conforming as AdminRefusal)
  }

  async run(operation: Operation, { place = {}, ...request }: ConformingCall): Promise<ControlOutcome> {
    const urls = () => urlsFor(place, this.deps.urls(), this.deps.namesUs)
    const { api, limits } = this
    const call = { ...this.deps, api, limits, ...request, urls }
    if (call.observed?.offers.has(operation.id) === false) {
      return refuse({ code: 'forbidden', reason: 'observed', about: { operation: operation.id } })
    }
    const { account: id } = request.parameters
    const { nestingLimit: limit } = limits
    if (isDeeperThan(limit, request.body)) return invalid('', undefined, 'nesting', { limit })
    const handler = HANDLERS[operation.id as CallId] as unknown as AnyHandler
    try {
      if (id === undefined) return await handler(call)
      const found = (await call.store.find('id', id)) ?? (await this.#openSandbox(operation, id))
      if (found === undefined) return unknownAccount(this.deps.worlds, id)
      const { state: account } = await call.store.read(id)
      return await handler({ ...call, account, now: call.worlds.now(account) })
    } catch (error) {
      // No account operation handles this error. The message tells the user what to do.
      const isDamaged = error instanceof StoreError && error.problem === 'damaged' && id !== undefined
      return isDamaged ? refuse({ code: 'unavailable', about: { expected: error.message } }) : refusalFor(error, id)
    }
  }

  /**
   * Opens a sandbox by its name, as the service opens it by the same key. So the set-up before its first request is
   * kept. A GET opens none, because it changes nothing. A deletion opens none either.
   */
  async #openSandbox({ id: operationId, method }: Operation, id: string): Promise<string | undefined> {
    return method === 'GET' || operationId === 'deleteAccount' ? undefined : this.deps.worlds.setUpSandbox(id)
  }
}
