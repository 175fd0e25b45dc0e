import { expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import type { Counting } from '../../src/domain/counting.ts'
import type { Charge } from '../../src/domain/quotas.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { describeStore } from './conformance.ts'
import { hit } from './counting.ts'
import { applyUpdate, change, exampleAccount, hosts, NOTHING, watch } from './example-account.ts'

const charge: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }

describeStore('the store in memory', async (clock) => ({ store: openMemoryStore({ clock }) }), { outlives: false })

it('tells how much of each account only older states and counters still hold', async () => {
  const store = openMemoryStore()
  const add = (name: string, id = 'acme') => applyUpdate(store, id, watch(name))
  const outdated = new Map<string, number>()
  store.listenOutdated((id, bytes) => outdated.set(id, (outdated.get(id) ?? 0) + bytes))
  const told = () => {
    const bytes = outdated.get('acme') ?? 0
    outdated.clear()
    return bytes
  }
  await store.create(exampleAccount('acme', ['k1']))
  await store.create(exampleAccount('other', ['k2']))
  await store.read('acme')
  await hit(store, 'acme', 'k1 /dmarc', charge, 0)
  expect(told()).toBe(0)
  await add('a.example')
  const small = told()
  await change(store, ({ domains }) => ({ domains: domains.delete('a.example') }))
  expect(told()).toBeGreaterThan(small)
  for (const name of hosts(20)) await add(name)
  told()
  const state = await store.read('acme')
  await store.replace('acme', exampleAccount('acme', ['k1']), NOTHING)
  const whole = told()
  expect(whole).toBeGreaterThan(20 * 100)
  await store.replace('acme', state, NOTHING)
  told()
  await store.replace('acme', state, { ...NOTHING, outdatedSince: 0 })
  expect(told()).toBeLessThan(whole)
  await store.snapshots.take('acme', { name: 's', real: 0, replace: false, limit: 1 })
  await store.replace('acme', state, { ...NOTHING, snapshot: 's' })
  expect(told()).toBeLessThan(whole)
  const setQuotas = (_: AccountState, counting: Counting) => {
    for (let index = 0; index < 50; index++)
      counting.quotas = counting.quotas.set(`${index}`, { startedAt: 0, used: 1 })
  }
  await store.count('acme', setQuotas, { stored: true })
  expect(told()).toBeGreaterThan(50 * 50)
  await add('a.example', 'other')
  expect([...outdated.keys()]).toEqual(['other'])
})
