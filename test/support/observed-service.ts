import { expect } from 'vitest'
import type { OperationBehaviour } from '../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import type { InternalOptions } from '../../src/server/stand-in.ts'
import { askControl, type ControlResponse, controlApi, journalOf } from './control-plane.ts'
import { type ServiceOptions, startService } from './service.ts'

export type ObservedService = Awaited<ReturnType<typeof startObserved>>

/** Starts a stand-in whose control plane is looked at. */
export async function startObserved(
  options: ServiceOptions = {},
  behaviours: Readonly<Record<string, OperationBehaviour>> = OPERATIONS,
  internal: InternalOptions = {},
) {
  const service = await startService(options, behaviours, internal)
  const adminUrl = new URL('/__admin', service.baseUrl).href

  /** Asks the control plane; every answer is held to its document. */
  function ask(method: string, path: string, body?: unknown): Promise<ControlResponse> {
    return askControl(service, method, path, body)
  }

  /** The newest entry of all, whosever it is. */
  async function latest(): Promise<RequestReport> {
    const { data } = await ask('GET', '/requests?limit=1')
    const [entry] = data.requests
    if (entry === undefined) throw new Error('Nothing was recorded.')
    return entry
  }

  /** The explanation of the newest entry, or of this request. */
  async function explain(requestId?: string): Promise<ExplanationReport> {
    const id = requestId ?? (await latest()).request_id
    const { status, text, data } = await ask('GET', `/explain/${id}`)
    expect(status, text).toBe(200)
    return data
  }

  /** The account's entries, from the oldest to the newest. */
  function requests(query?: string): Promise<RequestReport[]> {
    return journalOf(service, 'default', query)
  }

  return { ...service, adminUrl, ask, requests, latest, explain }
}

/** Holds one entry to the document, such as one of an event. */
export function expectEntry(entry: unknown): void {
  const operation = controlApi.operations.find(({ id }) => id === 'listAllRequests')
  expect(operation?.success.check({ success: true, data: { requests: [entry], count: 1, next: null } })).toEqual([])
}
