import type { Control, ControlRequest } from '../admin/control.ts'
import { describeRefusal } from '../admin/refusal.ts'
import { StoreError } from '../store/store-error.ts'
import { ControlError } from './control-error.ts'

/** Calls one operation of the control plane, as a request over HTTP would. @throws ControlError */
export type Caller = <Data>(operationId: string, request?: ControlRequest) => Promise<Data>

/** `stopping` is aborted when there is nothing to be called any longer. */
export function createCaller(load: () => Promise<Control>, stopping: AbortSignal): Caller {
  return async function call<Data>(operationId: string, request: ControlRequest = {}): Promise<Data> {
    if (stopping.aborted) throw stopped()
    const given = request.body === undefined ? request : { ...request, body: copyOf(request.body) }
    const control = await load()
    try {
      const outcome = await control.perform(control.operation(operationId), given)
      if (outcome.ok) return copyOf(outcome.data) as Data
      const { error } = describeRefusal(control.api.catalogue, outcome.problems).body
      throw new ControlError(error.code, error.message, error.problems)
    } catch (error) {
      throw error instanceof StoreError && error.problem === 'closed' ? stopped() : error
    }
  }
}

/** What would arrive over HTTP, so that neither side can change what the other has. */
function copyOf(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null')
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    throw new ControlError('invalid_json', `What is given must be JSON: ${reason}.`, [])
  }
}

function stopped(): ControlError {
  return new ControlError('stopped', 'The stand-in was stopped; start another with startUnderstudy().', [])
}
