import type { AdminCode } from '../admin/codes.ts'
import type { Control, ControlRequest } from '../admin/control.ts'
import type { ControlLimits } from '../admin/document.ts'
import type { ListedData } from '../admin/handler.ts'
import { describeRefusal } from '../admin/refusals.ts'
import { Turns } from '../ground/turns.ts'
import type { Entry } from '../journal/entry.ts'
import type { RequestMatch } from '../journal/match.ts'
import { StoreError } from '../store/store-error.ts'
import { copyArgument, refuseOtherThanTexts } from './arguments.ts'
import { ControlError } from './control-error.ts'

/** Uses the control plane as a client does over HTTP, but in the same process. */
export class ControlClient {
  readonly #load: () => Promise<Control>
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal

  /** No call succeeds after `stopping` is aborted. */
  constructor(load: () => Promise<Control>, stopping: AbortSignal) {
    this.#load = load
    this.stopping = stopping
  }

  async limits(): Promise<ControlLimits> {
    if (this.stopping.aborted) throw stopped()
    return (await this.#load()).limits
  }

  /** A function that tests whether a request of the journal meets all conditions. */
  async matcher(match: RequestMatch): Promise<(entry: Entry) => boolean> {
    const { differencesOf } = await import('../journal/match.ts')
    const { basePath } = (await this.#load()).deps.contract
    return (entry) => differencesOf(entry, match, basePath).length === 0
  }

  /** Calls an operation of the control plane and returns the `data` of its response. @throws ControlError */
  async call<Data>(operationId: string, request: ControlRequest = {}): Promise<Data> {
    if (this.stopping.aborted) throw stopped()
    refuseOtherThanTexts(request.parameters ?? {})
    const given = request.body === undefined ? request : { ...request, body: copyArgument(request.body) }
    const control = await this.#load()
    try {
      const outcome = await control.perform(control.operation(operationId), given)
      if (outcome.ok) return ('list' in outcome ? await copyOfList(outcome.list) : copyOf(outcome.data)) as Data
      const { error } = describeRefusal(control.api.catalogue, outcome.problems).body
      throw new ControlError(error.code as AdminCode, error.message, error.problems)
    } catch (error) {
      throw error instanceof StoreError && error.problem === 'closed' ? stopped() : error
    }
  }
}

/** The data of a list, completely. */
async function copyOfList({ name, items, rest }: ListedData): Promise<object> {
  const turns = new Turns()
  const copies: unknown[] = []
  for (const item of items) {
    copies.push(copyOf(item))
    if (turns.isOver()) await turns.next()
  }
  return { [name]: copies, ...(copyOf(rest) as object) }
}

/** A copy, as over HTTP. Neither side can change an object of the other. */
function copyOf(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data) ?? 'null')
}

function stopped(): ControlError {
  return new ControlError('stopped', 'The stand-in was stopped; start another with startUnderstudy().', [])
}
