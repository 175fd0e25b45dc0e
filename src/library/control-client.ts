import type { Control, ControlRequest } from '../admin/control.ts'
import { describeRefusal } from '../admin/refusals.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { AdminCode, ControlLimits } from '../contract/control-api.ts'
import type { CallId, DataOf } from '../contract/control-plane.ts'
import { describeEntry, type RequestReport } from '../journal/description.ts'
import type { Journal } from '../journal/journal.ts'
import { StoreError } from '../store/store-error.ts'
import { copyArgument, refuseOtherThanTexts } from './arguments.ts'
import { ControlError } from './control-error.ts'

export type { CallId, DataOf } from '../contract/control-plane.ts'

/** Takes the requests to the service, as they are answered. */
export interface RequestReader {
  take(request: RequestReport): void
  /** Called after the last request, with the reason if there should be more. */
  end(reason?: unknown): void
}

/** Calls the control plane, in the same process or over HTTP. The results are the same. */
export interface ControlClient {
  /** Aborted when the server stops, or the use of it. After that, no call succeeds. */
  readonly stopping: AbortSignal
  /** The ordinal of the newest request of which this program knows. */
  readonly newest: number
  /** The number of requests that the journal keeps of each account, as far as it is known. */
  readonly journalLimit: number
  limits(): Promise<Pick<ControlLimits, 'pageLimit'>>
  /** Calls an operation and returns the `data` of its response. @throws ControlError */
  call<Id extends CallId>(operationId: Id, request?: ControlRequest): Promise<DataOf<Id>>
  /**
   * Gives the reader the requests of an account, or of all accounts, after the one with this ordinal. In the same
   * process, they are those from now on. The returned function ends this.
   */
  events(account: string | undefined, after: number, reader: RequestReader): () => void
}

/** A request with copied arguments. @throws ControlError for arguments that cannot be sent, and after the stop */
export function checkRequest(request: ControlRequest, stopping: AbortSignal): ControlRequest {
  if (stopping.aborted) throw stopped()
  refuseOtherThanTexts(request.parameters ?? {})
  return request.body === undefined ? request : { ...request, body: copyArgument(request.body) }
}

/** Calls the control plane of a server in the same process. */
export class DirectClient implements ControlClient {
  readonly #load: () => Promise<Control>
  readonly #journal: Journal
  readonly #catalogue: Catalogue
  readonly stopping: AbortSignal

  constructor(load: () => Promise<Control>, journal: Journal, catalogue: Catalogue, stopping: AbortSignal) {
    this.#load = load
    this.#journal = journal
    this.#catalogue = catalogue
    this.stopping = stopping
  }

  get newest(): number {
    return this.#journal.recorded
  }

  get journalLimit(): number {
    return this.#journal.limits.entries
  }

  async limits(): Promise<ControlLimits> {
    if (this.stopping.aborted) throw stopped()
    return (await this.#load()).limits
  }

  async call<Id extends CallId>(operationId: Id, request: ControlRequest = {}): Promise<DataOf<Id>> {
    const given = checkRequest(request, this.stopping)
    const control = await this.#load()
    try {
      const outcome = await control.perform(control.operation(operationId), given)
      if (outcome.ok) return copyOf(outcome.data) as DataOf<Id>
      const { error } = describeRefusal(control.api.catalogue, outcome.problems).body
      throw new ControlError(error.code as AdminCode, error.message, error.problems)
    } catch (error) {
      throw error instanceof StoreError && error.problem === 'closed' ? stopped() : error
    }
  }

  events(account: string | undefined, _after: number, { take }: RequestReader): () => void {
    return this.#journal.subscribe((entry) => {
      if (account === undefined || entry.account === account)
        take(copyOf(describeEntry(entry, this.#catalogue)) as RequestReport)
    })
  }
}

/** A copy, as over HTTP. Neither side can change an object of the other. */
function copyOf(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data) ?? 'null')
}

function stopped(): ControlError {
  return new ControlError('stopped', 'The stand-in was stopped; start another with startUnderstudy().', [])
}
