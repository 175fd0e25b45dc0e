import { describe, expect, it } from 'vitest'
import { startService, type TestService } from '../support/service.ts'

const SNAPSHOTS = '/__admin/accounts/default/snapshots'

describe('the snapshots of an account', () => {
  it('are listed from the oldest to the newest, one that took the place of another last', async () => {
    const service = await startService()
    for (const name of ['first', 'second']) await ask(service, 'POST', SNAPSHOTS, { name })
    service.advance(60_000)
    await ask(service, 'POST', SNAPSHOTS, { name: 'first', replace: true })
    const { snapshots } = await ask(service, 'GET', SNAPSHOTS)
    expect(snapshots.map(({ name, taken_at }) => [name, taken_at])).toEqual([
      ['second', '2026-01-15T09:30:00Z'],
      ['first', '2026-01-15T09:31:00Z'],
    ])
  })
})

async function ask(
  { baseUrl }: TestService,
  method: string,
  path: string,
  body?: object,
): Promise<{ snapshots: { name: string; taken_at: string }[] }> {
  const response = await fetch(new URL(path, baseUrl), {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const answer = (await response.json()) as { data: { snapshots: { name: string; taken_at: string }[] } }
  expect(response.ok, JSON.stringify(answer)).toBe(true)
  return answer.data
}
