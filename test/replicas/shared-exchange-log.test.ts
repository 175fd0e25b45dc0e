import { describe, expect, it } from 'vitest'
import { HAS_REDIS } from '../support/redis-server.ts'
import { startReplicas } from './history-replica.ts'

describe.skipIf(!HAS_REDIS)('The exchanges of several replicas', () => {
  it('are the same on each of them, in the same order', async () => {
    const [one, other] = await startReplicas()
    await one.send('GET', '/domains')
    await other.send('POST', '/domains', { domains: ['a.example.com'] })
    await one.send('POST', '/domains', { nonsense: 1 })
    await other.send('GET', '/nowhere', undefined, { authorization: '' })
    const here = await one.ask('GET', '/requests')
    const there = await other.ask('GET', '/requests')
    expect(here.data.requests).toHaveLength(4)
    expect(here.data.requests.map(({ ordinal }: { ordinal: number }) => ordinal)).toEqual([1, 2, 3, 4])
    expect(there.data).toEqual(here.data)
    console.log(JSON.stringify(here.data.requests[2]))
  })
})
