import { expect } from 'vitest'
import type { TestService } from '../../support/service.ts'
import {
  AUTHORIZED,
  exchange,
  type Header,
  JSON_BODY,
  requestBytes,
  type WireRequest,
  type WireResponse,
} from '../../support/wire.ts'

export const DOMAINS = '/api/v1/domains'

export const GROUPS = '/api/v1/domaingroups'

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function post(
  service: TestService,
  target: string,
  body: string | Buffer,
  ...headers: Header[]
): Promise<WireResponse> {
  return exchange(service, { method: 'POST', target, headers: [AUTHORIZED, JSON_BODY, ...headers], body })
}

export const ADDITION: WireRequest = {
  ...{ method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY] },
  body: '{"domains":["new.example"]}',
}

export async function expectHealthy(service: TestService): Promise<void> {
  expect((await service.get('/domaingroups')).status).toBe(200)
}

/** All but the last byte of a request. */
export function half(request: WireRequest): Buffer {
  return requestBytes({ headers: [AUTHORIZED, JSON_BODY], ...request }).subarray(0, -1)
}
