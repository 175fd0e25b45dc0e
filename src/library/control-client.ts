import type { AdminCode } from '../admin/codes.ts'
import type { Control, ControlRequest } from '../admin/control.ts'
import type { ControlLimits } from '../admin/document.ts'
import type { Operations } from '../admin/handlers.ts'
import { describeRefusal } from '../admin/refusals.ts'
import { StoreError } from '../store/store-error.ts'
import { copyArgument, refuseOtherThanTexts } from './arguments.ts'
import { ControlError } from './control-error.ts'

/** The operationId of an operation of the control plane that answers with data. */
export type CallId = keyof Operations
export type DataOf<Id extends CallId> = Operations[Id]['data']

/** Calls the control plane, in the same process or over HTTP. The results are the same. */
export interface ControlClient {
  /** Aborted when the server stops, or the use of it. After that, no call succeeds. */
  readonly stopping: AbortSignal
  limits(): Promise<Pick<ControlLimits, 'pageLimit'>>
  /** Calls an operation and returns the `data` of its response. @throws ControlError */
  call<Id extends CallId>(operationId: Id, request?: ControlRequest): Promise<DataOf<Id>>
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
  readonly stopping: AbortSignal

  constructor(load: () => Promise<Control>, stopping: AbortSignal) {
    this.#load = load
    this.stopping = stopping
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
}

/** A copy, as over HTTP. Neither side can change an object of the other. */
function copyOf(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data) ?? 'null')
}

function stopped(): ControlError {
  return new ControlError('stopped', 'The stand-in was stopped; start another with startUnderstudy().', [])
}
