import { expect, it } from 'vitest'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'

/** So many domains that others have a turn before all are put in place. */
const SIZE = 20_000

const STATE = '/accounts/acme/state'
const MANY = Array.from({ length: SIZE }, (_, index) => `d${index}.example`)

async function startAsking(base = '') {
  const service = await startService()
  return (method: string, path: string, body?: object) => askControl(service, method, base + path, body)
}

it('a key or a rule that is added while a state is put in place is not lost by it', async () => {
  const ask = await startAsking('/accounts/default')
  const rule = { respond: { error: 'internal_error' } }
  // What an import reads of the account must not be older than what it replaces.
  const asked = await Promise.all([
    ask('PUT', '/state', { domains: MANY }),
    ...Array.from({ length: 20 }, () => ask('POST', '/keys', {})),
    ...Array.from({ length: 20 }, () => ask('POST', '/faults', rule)),
  ])
  expect(asked.map(({ status }) => status)).toEqual([200, ...Array.from({ length: 40 }, () => 201)])
  expect((await ask('GET', '')).data.account).toMatchObject({ domains: SIZE, keys: 21, faults: 20 })
})

it('a state that is put in place is there all at once, and takes the place of what was done in the meantime', async () => {
  const ask = await startAsking()
  await ask('POST', '/accounts', { id: 'acme', fixture: { domains: ['old.example'] } })
  let isDone = false
  const imported = ask('PUT', STATE, { domains: MANY }).finally(() => {
    isDone = true
  })
  const seen = new Set<number>()
  let plan = ''
  while (!isDone) {
    const { data } = await ask('GET', '/accounts/acme')
    seen.add(data.account.domains)
    if (plan === '') plan = (await ask('PATCH', '/accounts/acme', { plan: 'above-stone' })).data.account.plan
  }
  expect((await imported).status).toBe(200)
  expect([...seen].filter((count) => count !== 1 && count !== MANY.length)).toEqual([])
  expect(seen.size).toBeGreaterThan(0)
  expect((await ask('GET', '/accounts/acme')).data.account).toMatchObject({ domains: MANY.length, plan: 'above-stone' })
})
