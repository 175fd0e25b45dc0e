import { expect } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import { includesApiAccess } from '../../src/domain/plans.ts'
import { type Correction, correctRequest, type ReceivedRequest } from '../../src/explain/correction.ts'
import { changeAccount } from '../support/account.ts'
import type { TestResponse, TestService } from '../support/service.ts'
import { codeOf, type Header, type WireResponse } from '../support/wire.ts'

/** A request as a client sends it, with its key. */
export interface SentRequest {
  method: string
  target: string
  headers: readonly Header[]
  body?: string | Buffer
}

/** The code of a refusal; the answer to HEAD has but its status. */
export function codeOfRefusal(response: WireResponse): string {
  return codeOf(response) ?? (response.status === 401 || response.status === 403 ? 'unauthorized' : 'not_found')
}

/** What a journal keeps of a request. */
export function received({ method, target, headers, body }: SentRequest): ReceivedRequest {
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'authorization')
  return {
    method,
    target,
    headers: Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value])),
    body: body === undefined ? undefined : Buffer.from(body),
  }
}

/** The correction of a request of which no more is known than the code that it was refused with. */
export async function correctionOf(service: TestService, request: ReceivedRequest, code: string): Promise<Correction> {
  return correctRequest(request, [{ code }], await service.store.read('default'), service.contract)
}

/** Sends a correction with all that comes before it. */
export async function sendCorrection(service: TestService, { before, request }: Correction): Promise<TestResponse> {
  for (const step of before) {
    if (step.plane === 'admin') await control(service, step)
    else expect((await sendPlanned(service, step)).status, JSON.stringify(step)).toBeLessThan(300)
  }
  return sendPlanned(service, request)
}

async function sendPlanned(service: TestService, request: PlannedRequest): Promise<TestResponse> {
  const { plane, method, path, key, headers = {}, body } = request
  expect({ plane, key, headers }).toEqual({ plane: 'service', key: 'valid', headers: {} })
  return service.send(method, path, body)
}

/** Does what a request to the control plane asks for. */
async function control(service: TestService, { method, path, body }: PlannedRequest): Promise<void> {
  if (path === '/accounts/default' && method === 'PATCH') {
    const { plan } = body as { plan: string }
    expect(includesApiAccess(plan, service.contract.settings.plans)).toBe(true)
    return changeAccount(service, (state) => ({ ...state, plan }))
  }
  if (path === '/accounts/default/keys' && method === 'POST') {
    return changeAccount(service, (state) => ({
      ...state,
      keys: state.keys.map((key, index) => (index === 0 ? { ...key, disabled: false } : key)),
    }))
  }
  expect({ method, path }).toEqual({ method: 'PATCH', path: '/accounts/default/quotas' })
  expect(Object.keys(body as object)).toEqual(['bucket', 'remaining'])
  // Nothing but the next window gives requests back without the control plane.
  service.advance(3_600_000)
}
