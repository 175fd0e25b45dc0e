import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { accept } from '../../src/domain/errors.ts'
import type { Entry } from '../../src/journal/entry.ts'
import { Journal } from '../../src/journal/journal.ts'
import { startService, type TestService } from '../support/service.ts'

describe('an entry of the journal', () => {
  const entries: Entry[] = []
  const last = () => entries.at(-1)
  let service: TestService

  beforeEach(async () => {
    entries.length = 0
    const record = Journal.prototype.record
    vi.spyOn(Journal.prototype, 'record').mockImplementation(function (this: Journal, ...args) {
      const entry = record.apply(this, args)
      entries.push(entry)
      return entry
    })
    service = await startService()
  })

  afterEach(() => {
    vi.restoreAllMocks()
  })

  const state = () => service.store.read('default')
  const lastFound = () => last()?.before?.account
  const rule = { respond: { error: 'rate_limited' } }
  const addRule = () =>
    service.store.update('default', (account) =>
      accept({ ...account, faults: [{ id: 'fault_1', createdAt: 0, rule }], faultsCreated: 1 }, undefined),
    )

  it('has the account before a write and after it, and what was counted before', async () => {
    const first = await state()
    await service.send('POST', '/domains', { domains: ['a.example'] })
    const second = await state()
    expect(last()).toMatchObject({ before: { hits: undefined, requests: 0 } })
    expect([lastFound() === first, last()?.after === second]).toEqual([true, true])
    await service.send('DELETE', '/domains', { domains: ['a.example'] })
    expect([lastFound() === second, last()?.after === (await state())]).toEqual([true, true])
    expect(last()?.before).toMatchObject({ hits: { used: 1 }, requests: 1 })
    expect(last()?.before?.bucket).toMatch(/ \/domains$/)
    expect([...(entries[0]?.before?.quotas.entries() ?? [])]).toEqual([])
    expect([...(entries[1]?.before?.quotas.values() ?? [])]).toEqual([last()?.before?.hits])
  })

  it.each([
    ['a read', 'GET', '/domains', undefined],
    ['a request that the contract forbids', 'POST', '/domains', { domains: 1 }],
    ['a request that the account refuses', 'DELETE', '/domains', { domains: ['a.example'] }],
  ])('has the account before %s, and none after it', async (_, method, path, body) => {
    await service.send(method, path, body)
    expect(last()).toMatchObject({ before: { requests: 0 }, after: undefined })
    expect(lastFound() === (await state())).toBe(true)
  })

  it('has the account of a disabled key, which counts nothing, and none of a key that nobody has', async () => {
    await service.store.update('default', (account) =>
      accept({ ...account, keys: account.keys.map((key) => ({ ...key, disabled: true })) }, undefined),
    )
    for (let sent = 0; sent < 2; sent++) await service.get('/domains')
    expect(lastFound() === (await state())).toBe(true)
    expect(last()).toMatchObject({ account: 'default', before: { requests: 0 } })
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer nobody' })
    expect(last()).toMatchObject({ before: undefined, after: undefined })
  })

  it('has the state on which a write was decided in the end, where another change came first', async () => {
    const { store } = service
    const update = store.update.bind(store)
    let overtaking: (() => unknown) | undefined = addRule
    vi.spyOn(store, 'update').mockImplementation(async (id, decide) => {
      const overtake = overtaking
      overtaking = undefined
      await overtake?.()
      return update(id, decide)
    })
    await service.send('POST', '/domains', { domains: ['a.example'] })
    expect([lastFound()?.faults.length, last()?.after?.faults.length]).toEqual([1, 1])
    expect([lastFound()?.domains.size, last()?.after?.domains.size]).toEqual([0, 1])
  })
})
