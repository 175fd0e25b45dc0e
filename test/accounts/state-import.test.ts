import { expect, it } from 'vitest'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'

const MANY = Array.from({ length: 1_000 }, (_, index) => `d${index}.example`)

it('a key or a rule that is added while a state is put in place is not lost by it', async () => {
  const service = await startService()
  const ask = (method: string, path: string, body?: object) =>
    askControl(service, method, `/accounts/default${path}`, body)
  const rule = { respond: { error: 'internal_error' } }
  // What an import reads of the account must not be older than what it replaces.
  const asked = await Promise.all([
    ask('PUT', '/state', { domains: MANY }),
    ...Array.from({ length: 20 }, () => ask('POST', '/keys', {})),
    ...Array.from({ length: 20 }, () => ask('POST', '/faults', rule)),
  ])
  expect(asked.map(({ status }) => status)).toEqual([200, ...Array.from({ length: 40 }, () => 201)])
  expect((await ask('GET', '')).data.account).toMatchObject({ domains: MANY.length, keys: 21, faults: 20 })
})
