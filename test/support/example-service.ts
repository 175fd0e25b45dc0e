import { test } from 'vitest'
import { ACCOUNT, idOf } from './account.ts'
import type { SentHeaders } from './request.ts'
import { startService, type TestResponse, type TestService } from './service.ts'

/** A test of one service, which is started when the test asks for it: `empty`, or `service` with the account `ACCOUNT`. */
export const it = test.extend('empty', () => startService()).extend('service', () => startService({ fixture: ACCOUNT }))

/** Sends a request such as `PATCH /domaingroups?id={Sales}`, where the id of the group stands for its name in braces. */
export async function ask(
  service: TestService,
  request: string,
  body?: unknown,
  headers?: SentHeaders,
): Promise<TestResponse> {
  const [method = '', path = ''] = request.split(' ')
  return service.send(method, await withIds(service, path), body, headers)
}

/** A path or query in which the id of each group stands for its name in braces. */
export async function withIds(service: TestService, path: string): Promise<string> {
  let text = path
  for (const [braced, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    text = text.replaceAll(braced, await idOf(service, name))
  }
  return text
}

export async function domainsOf(service: TestService): Promise<string[]> {
  return (await service.get('/domains')).body.data.domains
}
