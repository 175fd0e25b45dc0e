import type { ServerOptions } from '../../src/start/options.ts'
import type { TestService } from '../support/service.ts'
import { outcome } from './outcome.ts'

export const monitoring = (...domains: string[]): ServerOptions => ({ fixture: { domains } })
export const SHOP = { fixture: { domains: ['a.example'], groups: [{ name: 'Shop', domains: ['a.example'] }] } }

export async function firstGroup(service: TestService): Promise<string> {
  return (await service.get('/domaingroups')).body.data.groups[0].id
}

export const post = (path: string, body: unknown) => async (service: TestService) =>
  outcome(await service.send('POST', path, body))
export const remove = (path: string, body?: unknown) => async (service: TestService) =>
  outcome(await service.send('DELETE', path, body))

export async function firstChanges(service: TestService, body: unknown): Promise<string> {
  return outcome(await service.send('PATCH', `/domaingroups?id=${await firstGroup(service)}`, body))
}
