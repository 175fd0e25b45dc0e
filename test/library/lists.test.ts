import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { controlApi } from '../support/control-plane.ts'
import { send, start, WAYS_OF_CALLS } from './stand-in.ts'

const { pageLimit } = readLimits(controlApi)
describe('a list of the library is whole, however many pages it has:', () => {
  it('domains', async () => {
    const domains = Array.from({ length: pageLimit + 5 }, (_, index) => `d${index}.example`)
    const { account } = await start({ fixture: { domains } })
    expect((await account.domains.list()).map(({ domain }) => domain)).toEqual(domains)
  })

  it('accounts, also when those on the edge of a page are deleted meanwhile', async () => {
    const store = openMemoryStore()
    const understudy = await start({ store })
    for (let number = 0; number < pageLimit + 5; number++) await understudy.createAccount({ fixture: 'empty' })
    const { list } = store
    let lists = 0
    store.list = async () => {
      const ids = await list.call(store)
      // The last three of the first page are not there any more when the second one is asked for.
      return lists++ === 0 ? ids : ids.filter((_, index) => index < pageLimit - 3 || index >= pageLimit)
    }
    const ids = (await understudy.listAccounts()).map(({ id }) => id)
    expect(lists).toBe(5)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.slice(-6)).toEqual((await list.call(store)).slice(-6))
  })
})

describe.each(WAYS_OF_CALLS)('$way, the requests of the library', ({ start }) => {
  it('are all, or as many of the newest as are asked for, before an ordinal or not', async () => {
    const understudy = await start({ enforceQuotas: false, journal: 5_000 })
    const { account } = understudy
    const count = pageLimit + 50
    for (let number = 0; number < count; number++)
      await send(understudy, account as never, 'GET', `/domains?n=${number}`)
    const ordinals = async (filter: Parameters<typeof account.requests.list>[0]) =>
      (await account.requests.list(filter)).map(({ ordinal }) => ordinal)
    const all = Array.from({ length: count }, (_, index) => index + 1)
    expect(await ordinals(undefined)).toEqual(all)
    expect(await ordinals({ limit: count - 10 })).toEqual(all.slice(10))
    expect(await ordinals({ limit: pageLimit })).toEqual(all.slice(50))
    expect(await ordinals({ limit: 3 })).toEqual(all.slice(-3))
    expect(await ordinals({ limit: 0 })).toEqual([])
    expect(await ordinals({ before: 40 })).toEqual(all.slice(0, 39))
    expect(await ordinals({ before: 40, limit: 2 })).toEqual([38, 39])
    expect((await understudy.requests.list({ before: 2 })).map(({ ordinal }) => ordinal)).toEqual([1])
    await expect(account.requests.list({ limit: 1.5 })).rejects.toMatchObject({ code: 'invalid_value' })
    await expect(account.requests.list({ before: -1 })).rejects.toMatchObject({ code: 'invalid_value' })
  })
})
