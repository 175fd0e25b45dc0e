import { expect, it } from 'vitest'
import { readLimits } from '../../src/contract/control-api.ts'
import { controlApi } from '../support/control-plane.ts'
import { openAttached, untilTheEnd, WAYS } from './stand-in.ts'

const { pageLimit } = readLimits(controlApi)

it.each(WAYS)('A list of domains, used $way, is whole', async (way) => {
  const domains = Array.from({ length: pageLimit + 5 }, (_, index) => `d${index}.example`)
  const understudy = untilTheEnd(await way.open())
  const account = await understudy.createAccount({ fixture: { domains } })
  expect((await account.domains.list()).map(({ domain }) => domain)).toEqual(domains)
})

it('A list of requests, used over HTTP, is whole, or the part that is asked for', async () => {
  const understudy = untilTheEnd(await openAttached({ enforceQuotas: false, journal: 5_000 }))
  const account = await understudy.createAccount()
  const count = pageLimit + 50
  const { headers } = account
  for (let sent = 0; sent < count; sent++) await understudy.fetch(`${account.baseUrl}/domains`, { headers })
  const [{ ordinal: first } = { ordinal: 0 }] = await account.requests.list({ before: 1_000_000, limit: count })
  const numbers = async (filter?: Parameters<typeof account.requests.list>[0]) =>
    (await account.requests.list(filter)).map(({ ordinal }) => ordinal - first + 1)
  const all = Array.from({ length: count }, (_, index) => index + 1)
  expect(await numbers()).toEqual(all)
  expect(await numbers({ limit: count - 10 })).toEqual(all.slice(10))
  expect(await numbers({ limit: 0 })).toEqual([])
  expect(await numbers({ before: first + 39, limit: 2 })).toEqual([38, 39])
  await expect(account.requests.list({ limit: 1.5 })).rejects.toMatchObject({ code: 'invalid_value' })
  await expect(account.requests.list({ before: -1 })).rejects.toMatchObject({ code: 'invalid_value' })
})
