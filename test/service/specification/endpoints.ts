import { expect } from 'vitest'
import { pathOf } from '../../support/account.ts'
import type { TestResponse, TestService } from '../../support/service.ts'

/** Every endpoint with a request that it accepts. */
export const ENDPOINTS: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/dmarc'],
  ['GET', '/domains'],
  ['POST', '/domains', { domains: ['new.example'] }],
  ['DELETE', '/domains', { domains: ['two.example'] }],
  ['GET', '/domaingroups'],
  ['POST', '/domaingroups', { name: 'Support' }],
  ['PATCH', '/domaingroups?id={Sales}', { add_domains: ['one.example'] }],
  ['DELETE', '/domaingroups?id={Sales}'],
]

/** Sends a request of the table above. */
export async function call(
  service: TestService,
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string | null>,
): Promise<TestResponse> {
  return service.send(method, path.replace('/domaingroups?id={Sales}', await pathOf(service, 'Sales')), body, headers)
}

export async function domainsOf(service: TestService): Promise<string[]> {
  return (await service.get('/domains')).body.data.domains
}

export async function membersOf(service: TestService, group: string): Promise<string[]> {
  return (await service.get(await pathOf(service, group))).body.data.group.domains
}

export function refusal(code: string): object {
  return { success: false, error: { code, message: expect.stringMatching(/./) } }
}
