import { expect } from 'vitest'
import { loadControlApi } from '../../src/admin/control.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ExplanationReport, RequestReport } from '../../src/library/reports.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { startService, type TestService } from './service.ts'

export interface ControlAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies whose shape the document has just proved
  body: any
}

export interface ObservedService extends TestService {
  adminUrl: string
  /** Asks the control plane; every answer is held to its document. */
  ask(method: string, path: string, body?: unknown): Promise<ControlAnswer>
  /** The account's entries, from the oldest to the newest. */
  requests(query?: string): Promise<RequestReport[]>
  /** The newest entry of all, whosever it is. */
  latest(): Promise<RequestReport>
  /** The explanation of the newest entry, or of this request. */
  explain(requestId?: string): Promise<ExplanationReport>
}

const api = await loadControlApi()

/** Starts a stand-in whose control plane is looked at. */
export async function startObserved(options: ServerOptions = {}, behaviours = OPERATIONS): Promise<ObservedService> {
  const service = await startService(options, behaviours)
  const adminUrl = new URL('/__admin', service.baseUrl).href

  async function ask(method: string, path: string, body?: unknown): Promise<ControlAnswer> {
    const response = await fetch(adminUrl + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text, body: parse(text) }
    expectDocumented(method, path, answer)
    return answer
  }

  async function requests(query = ''): Promise<RequestReport[]> {
    const { status, body } = await ask('GET', `/accounts/default/requests${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.data.requests
  }

  async function latest(): Promise<RequestReport> {
    const { body } = await ask('GET', '/requests?limit=1')
    const [entry] = body.data.requests
    if (entry === undefined) throw new Error('Nothing was recorded.')
    return entry
  }

  async function explain(requestId?: string): Promise<ExplanationReport> {
    const id = requestId ?? (await latest()).request_id
    const { status, body } = await ask('GET', `/explain/${id}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.data
  }

  return { ...service, adminUrl, ask, requests, latest, explain }
}

/** Holds one entry to the document, such as one of an event. */
export function expectEntry(entry: unknown): void {
  const operation = api.operations.find(({ id }) => id === 'listAllRequests')
  expect(operation?.success.check({ success: true, data: { requests: [entry], count: 1 } })).toEqual([])
}

function expectDocumented(method: string, path: string, { status, text, body }: ControlAnswer): void {
  const steps = (path.split('?')[0] ?? '').split('/')
  const operation = api.operations.find((each) => {
    const template = each.path.split('/')
    const fits = (step: string, index: number) => step.startsWith('{') || step === steps[index]
    return each.method === method && template.length === steps.length && template.every(fits)
  })
  const response = operation?.responses.get(status)
  expect(response, `${method} ${path} → ${status} ${text.slice(0, 500)}`).toBeDefined()
  if (typeof body === 'object') expect(response?.check(body), text.slice(0, 500)).toEqual([])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
