import type { Control, ControlRequest } from '../admin/control.ts'
import { describeRefusal } from '../admin/refusals.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { AdminCode } from '../contract/control-api.ts'
import type { CallId, DataOf } from '../contract/control-plane.ts'
import { describeEntry, type RequestReport } from '../journal/description.ts'
import type { Journal } from '../journal/journal.ts'
import { StoreError } from '../store/store-error.ts'
import { type CallArguments, copyArgument, readArguments } from './arguments.ts'
import { ControlError } from './control-error.ts'

export type { CallId, DataOf } from '../contract/control-plane.ts'

/** Takes the requests to the service, as they are answered. */
export interface RequestReader {
  take(request: RequestReport): void
  /** Called after the last request, with the reason if there should be more. */
  end(reason?: unknown): void
}

/** The way to a control plane: in the same process, or over HTTP. */
export interface Transport {
  /** Aborted when the server stops, or the use of it. After that, no call succeeds. */
  readonly stopping: AbortSignal
  /** The ordinal of the newest request of which this program knows. */
  readonly newest: number
  /** The number of requests that the journal keeps of each account, as far as it is known. */
  readonly journalLimit: number
  /** Executes an operation and returns the `data` of its response. @throws ControlError */
  perform(operationId: string, request: ControlRequest): Promise<unknown>
  /** Gives the reader the requests of an account, or of all accounts, from now on. The returned function ends this. */
  events(account: string | undefined, reader: RequestReader): () => void
}

/** The operations that clear the journal of an account. */
const CLEARING: ReadonlySet<CallId> = new Set<CallId>(['clearRequests', 'resetAccount', 'deleteAccount'])
/** The longest page of a list, after the document of the control plane. */
export const PAGE = 1_000

/** Calls the control plane. The results are the same in each way. */
export class ControlClient {
  readonly transport: Transport
  /** What must be done before a journal is cleared. */
  beforeClearing: () => Promise<void> = async () => {}

  constructor(transport: Transport) {
    this.transport = transport
  }

  /** Calls an operation and returns the `data` of its response. @throws ControlError */
  async call<Id extends CallId>(operationId: Id, args: CallArguments = {}): Promise<DataOf<Id>> {
    if (this.transport.stopping.aborted) throw stopped()
    const request = readArguments(args)
    if (CLEARING.has(operationId)) await this.beforeClearing()
    return (await this.transport.perform(operationId, request)) as DataOf<Id>
  }

  /** All items of a list, in order, from all of its pages. `name` is the field that contains it. @throws ControlError */
  async list<Item>(operation: CallId, name: string, parameters: CallArguments['parameters'] = {}): Promise<Item[]> {
    const items: Item[] = []
    for (let after: unknown; ; ) {
      const page = (await this.call(operation, { parameters, query: { limit: PAGE, after } })) as Record<
        string,
        unknown
      >
      items.push(...((page[name] ?? []) as Item[]))
      if (page['next'] === null) return items
      after = page['next']
    }
  }
}

/** Calls the control plane about one account. */
export class AccountScope {
  readonly id: string
  readonly client: ControlClient

  constructor(id: string, client: ControlClient) {
    this.id = id
    this.client = client
  }

  /** The `data` of the response to an operation about the account. @throws ControlError */
  ask<Id extends CallId>(operationId: Id, { parameters, ...rest }: CallArguments = {}): Promise<DataOf<Id>> {
    return this.client.call(operationId, { ...rest, parameters: { account: this.id, ...parameters } })
  }

  /** One field of this `data`. @throws ControlError */
  async askFor<Id extends CallId, Name extends keyof DataOf<Id>>(
    name: Name,
    operationId: Id,
    args?: CallArguments,
  ): Promise<DataOf<Id>[Name]> {
    return (await this.ask(operationId, args))[name]
  }

  /** Executes an operation whose `data` tells nothing. @throws ControlError */
  async tell(operationId: CallId, args?: CallArguments): Promise<void> {
    await this.ask(operationId, args)
  }

  /** All items of a list of the account. @throws ControlError */
  list<Item>(operation: CallId, name: string): Promise<Item[]> {
    return this.client.list(operation, name, { account: this.id })
  }
}

/** The way to the control plane of a server in the same process. */
export function directTransport(
  load: () => Promise<Control>,
  journal: Journal,
  catalogue: Catalogue,
  stopping: AbortSignal,
): Transport {
  return {
    stopping,
    journalLimit: journal.limits.entries,
    get newest() {
      return journal.recorded
    },
    async perform(operationId, request) {
      const control = await load()
      try {
        const outcome = await control.perform(control.operation(operationId), request)
        if (outcome.ok) return copyArgument(outcome.data)
        const { error } = describeRefusal(control.api.catalogue, outcome.problems).body
        throw new ControlError(error.code as AdminCode, error.message, error.problems)
      } catch (error) {
        throw error instanceof StoreError && error.problem === 'closed' ? stopped() : error
      }
    },
    events: (account, { take }) =>
      journal.subscribe((entry) => {
        if (account === undefined || entry.account === account)
          take(copyArgument(describeEntry(entry, catalogue)) as RequestReport)
      }),
  }
}

function stopped(): ControlError {
  return new ControlError('stopped', 'The stand-in was stopped; start another with startUnderstudy().')
}
