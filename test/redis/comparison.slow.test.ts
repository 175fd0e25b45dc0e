import { describe, expect, it } from 'vitest'
import { startControlPlane } from '../support/control-plane.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'

const FIXTURE = { domains: ['a.example', 'b.example'], groups: [{ name: 'Shop', domains: ['a.example'] }] }

describe.skipIf(!HAS_REDIS)('Of two servers on one store,', () => {
  it('each compares two accounts, and an account with its earlier state, by the requests to both servers', async () => {
    const { url } = await sharedRedis()
    const common = { store: url, storePrefix: freshPrefix(), clock: undefined }
    const [one, other] = [await startControlPlane(common), await startControlPlane(common)]
    const before = await one.create({ id: 'before', fixture: FIXTURE })
    const after = await other.create({ id: 'after', fixture: FIXTURE })
    await one.post('/accounts/after/snapshots', { name: 'clean' })
    // Requests to two servers within a moment may be recorded in either order.
    const recorded = async (id: string) => (await one.get(`/accounts/${id}/requests`)).data.requests.length
    for (const { id, key } of [
      { id: 'before', key: before.key },
      { id: 'after', key: after.key },
    ]) {
      await one.ask(key, 'GET', '/domains')
      await expect.poll(() => recorded(id)).toBe(1)
      await other.ask(key, 'GET', '/dmarc')
      await expect.poll(() => recorded(id)).toBe(2)
    }
    const path = '/accounts/before/comparison?with=after'
    for (const { get } of [one, other]) {
      // What the other server has covered is known a moment after what it was asked.
      const outcome = async () => {
        const { data } = await get(path)
        return [data.result, data.asked.one, data.asked.other]
      }
      await expect.poll(outcome).toEqual(['same', 2, 2])
    }
    const { headers } = await other.ask(after.key, 'DELETE', '/domains', { domains: ['b.example'] })
    await expect.poll(() => recorded('after')).toBe(3)
    await one.ask(before.key, 'GET', '/domaingroups')
    for (const { get } of [one, other]) {
      const { data } = await get(path)
      expect(data.holds.domains).toMatchObject({ alike: 1, only_in_one: { count: 1 }, only_in_other: { count: 0 } })
      expect(data.asked.parting).toMatchObject({
        position: 3,
        one: { operation: 'listDomainGroups' },
        other: { request_id: headers['x-request-id'], operation: 'deleteDomains' },
      })
      for (const query of ['snapshot=clean', `before=${headers['x-request-id']}`]) {
        const { data: earlier } = await get(`/accounts/after/comparison?${query}`)
        expect(earlier.holds.domains.only_in_other.listed).toMatchObject([{ name: 'b.example' }])
      }
    }
  })
})
