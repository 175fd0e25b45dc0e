import { expect } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'
import type { FaultReport } from '../../src/admin/reports.ts'
import type { FaultRule } from '../../src/domain/faults.ts'
import { createRouter } from '../../src/http/router.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import type { TestService } from './service.ts'

export interface ControlAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into data whose shape the document has just validated
  data: any
  error: { code: string; message: string; problems: { code: string; field: string | null; message: string }[] }
}

const api = await loadControlApi()
const route = createRouter(api, { pathMatching: 'exact', head: 'get' })

/** Asks the control plane; its answer is held to its document. `body` is sent as JSON, or as it is when it is a string. */
export async function control(
  { baseUrl }: Pick<TestService, 'baseUrl'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<ControlAnswer> {
  const response = await fetch(`${new URL(baseUrl).origin}/__admin${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  })
  const received = (await response.json()) as Pick<ControlAnswer, 'data' | 'error'>
  const routed = route(method, `/__admin${path.split('?')[0]}`)
  const documented = routed.ok ? routed.operation.responses.get(response.status) : undefined
  const unlawful = documented === undefined ? ['The status is not documented.'] : documented.check(received)
  expect(unlawful, `${method} ${path} → ${response.status} ${JSON.stringify(received).slice(0, 300)}`).toEqual([])
  return { status: response.status, data: received.data, error: received.error }
}

/** Adds a rule to an account and expects it to be accepted. */
export async function addFault(
  service: Pick<TestService, 'baseUrl'>,
  rule: FaultRule,
  account = 'default',
): Promise<FaultReport> {
  const { status, data, error } = await control(service, 'POST', `/accounts/${account}/faults`, rule)
  expect(error).toBeUndefined()
  expect(status).toBe(201)
  return data.fault
}

export async function faultsOf(service: Pick<TestService, 'baseUrl'>, account = 'default'): Promise<FaultReport[]> {
  return (await control(service, 'GET', `/accounts/${account}/faults`)).data.faults
}

/** The journal of an account, from the oldest to the newest. */
export async function journalOf(service: Pick<TestService, 'baseUrl'>, account = 'default'): Promise<RequestReport[]> {
  return (await control(service, 'GET', `/accounts/${account}/requests`)).data.requests
}

/** The three quota headers, as numbers; `undefined` where one is absent. */
export function quotaOf(headers: Readonly<Record<string, string>>): Record<string, number | undefined> {
  const read = (name: string) => (headers[name] === undefined ? undefined : Number(headers[name]))
  return {
    limit: read('x-ratelimit-limit'),
    remaining: read('x-ratelimit-remaining'),
    reset: read('x-ratelimit-reset'),
  }
}

export const NO_QUOTA = { limit: undefined, remaining: undefined, reset: undefined }
