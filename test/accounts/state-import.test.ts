import { expect, it } from 'vitest'
import { startService } from '../support/service.ts'

it('a key or a rule that is added while a state is put in place is not lost by it', async () => {
  const { baseUrl } = await startService()
  async function ask(method: string, path: string, body?: object): Promise<{ status: number; data: Answer }> {
    const response = await fetch(new URL(`/__admin/accounts/default${path}`, baseUrl), {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, data: ((await response.json()) as { data: Answer }).data }
  }
  const domains = Array.from({ length: 2000 }, (_, index) => `d${index}.example`)
  const rule = { respond: { error: 'internal_error' } }
  // What an import reads of the account must not be older than what it replaces.
  const asked = await Promise.all([
    ask('PUT', '/state', { domains }),
    ...Array.from({ length: 20 }, () => ask('POST', '/keys', {})),
    ...Array.from({ length: 20 }, () => ask('POST', '/faults', rule)),
  ])
  expect(asked.map(({ status }) => status)).toEqual([200, ...Array.from({ length: 40 }, () => 201)])
  expect((await ask('GET', '')).data.account).toMatchObject({ domains: 2000, keys: 21, faults: 20 })
})

interface Answer {
  account: object
}
