import type { ControlRequest } from '../admin/control.ts'
import type { ControlClient } from './control-client.ts'
import { readList } from './lists.ts'
import type { RequestFeed } from './request-feed.ts'

/** Calls the control plane about one account. */
export class AccountScope {
  readonly id: string
  readonly client: ControlClient
  readonly feed: RequestFeed

  constructor(id: string, client: ControlClient, feed: RequestFeed) {
    this.id = id
    this.client = client
    this.feed = feed
  }

  /** The `data` of the response to an operation about the account. @throws ControlError */
  ask<Data>(operationId: string, request: ControlRequest = {}): Promise<Data> {
    return this.client.call(operationId, { ...request, parameters: { account: this.id, ...request.parameters } })
  }

  /** One field of this `data`. @throws ControlError */
  async askFor<Value>(name: string, operationId: string, request?: ControlRequest): Promise<Value> {
    return (await this.ask<Record<string, Value>>(operationId, request))[name] as Value
  }

  /** All items of a list of the account. @throws ControlError */
  list<Item>(operation: string, name: string, idOf: (item: Item) => string): Promise<Item[]> {
    return readList(this.client, { operation, name, idOf }, { parameters: { account: this.id } })
  }
}
