import { expect } from 'vitest'
import type { OperationBehaviour } from '../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { askControl, type ControlResponse, controlApi, journalOf } from './control-plane.ts'
import { startService, type TestService } from './service.ts'

export interface ObservedService extends TestService {
  adminUrl: string
  /** Asks the control plane; every answer is held to its document. */
  ask(method: string, path: string, body?: unknown): Promise<ControlResponse>
  /** The account's entries, from the oldest to the newest. */
  requests(query?: string): Promise<RequestReport[]>
  /** The newest entry of all, whosever it is. */
  latest(): Promise<RequestReport>
  /** The explanation of the newest entry, or of this request. */
  explain(requestId?: string): Promise<ExplanationReport>
}

/** Starts a stand-in whose control plane is looked at. */
export async function startObserved(
  options: ServerOptions = {},
  behaviours: Readonly<Record<string, OperationBehaviour>> = OPERATIONS,
): Promise<ObservedService> {
  const service = await startService(options, behaviours)
  const adminUrl = new URL('/__admin', service.baseUrl).href

  function ask(method: string, path: string, body?: unknown): Promise<ControlResponse> {
    return askControl(service, method, path, body)
  }

  async function latest(): Promise<RequestReport> {
    const { data } = await ask('GET', '/requests?limit=1')
    const [entry] = data.requests
    if (entry === undefined) throw new Error('Nothing was recorded.')
    return entry
  }

  async function explain(requestId?: string): Promise<ExplanationReport> {
    const id = requestId ?? (await latest()).request_id
    const { status, text, data } = await ask('GET', `/explain/${id}`)
    expect(status, text).toBe(200)
    return data
  }

  return { ...service, adminUrl, ask, requests: (query) => journalOf(service, 'default', query), latest, explain }
}

/** Holds one entry to the document, such as one of an event. */
export function expectEntry(entry: unknown): void {
  const operation = controlApi.operations.find(({ id }) => id === 'listAllRequests')
  expect(operation?.success.check({ success: true, data: { requests: [entry], count: 1, next: null } })).toEqual([])
}
