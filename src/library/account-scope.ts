import type { ControlRequest } from '../admin/control.ts'
import type { CallId, ControlClient, DataOf } from './control-client.ts'
import { readList } from './lists.ts'
import type { EventReader } from './request-events.ts'

/** Calls the control plane about one account. */
export class AccountScope {
  readonly id: string
  readonly client: ControlClient
  readonly events: EventReader

  constructor(id: string, client: ControlClient, events: EventReader) {
    this.id = id
    this.client = client
    this.events = events
  }

  /** The `data` of the response to an operation about the account. @throws ControlError */
  ask<Id extends CallId>(operationId: Id, request: ControlRequest = {}): Promise<DataOf<Id>> {
    return this.client.call(operationId, { ...request, parameters: { account: this.id, ...request.parameters } })
  }

  /** One field of this `data`. @throws ControlError */
  async askFor<Id extends CallId, Name extends keyof DataOf<Id>>(
    name: Name,
    operationId: Id,
    request?: ControlRequest,
  ): Promise<DataOf<Id>[Name]> {
    return (await this.ask(operationId, request))[name]
  }

  /** All items of a list of the account. @throws ControlError */
  list<Item>(operation: CallId, name: string): Promise<Item[]> {
    return readList(this.client, { operation, name }, { parameters: { account: this.id } })
  }
}
