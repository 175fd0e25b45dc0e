import { describe, expect, it, vi } from 'vitest'
import { applyUpdate, watch } from '../store/example-account.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { type Replica, startReplicas } from './history-replica.ts'

const PATH = '/accounts/default'

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

async function domainsOf({ store }: Replica): Promise<string[]> {
  return [...(await store.read('default')).domains.keys()]
}

describe.skipIf(!HAS_REDIS)('Where the store keeps what requests found', () => {
  it('a rewind and the state before a request ask it, with the version on which the request was decided', async () => {
    const [one, other] = await startReplicas()
    const { store, send, ask } = one
    await send('POST', '/domains', { domains: ['a.example'] })
    const recalled = vi.spyOn(store, 'recall')
    // Somebody else changes the account after the request has entered it.
    const update = store.update.bind(store)
    vi.spyOn(store, 'update').mockImplementationOnce(async (...given) => {
      await applyUpdate(other.store, 'default', watch('between.example'))
      return update(...given)
    })
    const request = idOf(await send('POST', '/domains', { domains: ['b.example'] }))
    await send('POST', '/domains', { domains: ['c.example'] })
    const quotas = (await ask('GET', `${PATH}/quotas`)).data
    const { data } = await ask('GET', `${PATH}/state?before=${request}`)
    expect(data.domains).toHaveLength(2)
    expect((await ask('POST', `${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await domainsOf(one)).toEqual(['a.example', 'between.example'])
    expect((await ask('GET', `${PATH}/quotas`)).data).not.toEqual(quotas)
    expect(recalled).toHaveBeenCalledTimes(2)
  })

  it('what it no longer keeps is not found', async () => {
    const [{ store, send, ask }] = await startReplicas()
    const request = idOf(await send('GET', '/domains'))
    vi.spyOn(store, 'recall').mockResolvedValue(undefined)
    const refusals = [
      ask('POST', `${PATH}/rewind`, { request_id: request }),
      ask('GET', `${PATH}/state?before=${request}`),
    ]
    for (const { status, error } of await Promise.all(refusals))
      expect([status, error.code]).toEqual([404, 'not_found'])
  })

  it('the account is not rewound when another one has its id by then', async () => {
    const [{ store, send, ask }, other] = await startReplicas()
    const account = { id: 'mine', fixture: { domains: ['a.example'] } }
    const { api_key } = (await ask('POST', '/accounts', account)).data
    const authorization = `Bearer ${api_key}`
    const request = idOf(await send('DELETE', '/domains', { domains: ['a.example'] }, { authorization }))
    const recall = store.recall.bind(store)
    vi.spyOn(store, 'recall').mockImplementationOnce(async (moment) => {
      const found = await recall(moment)
      if (found === undefined) throw new Error('The store keeps what the request found.')
      // Another process deletes it, and this one has not heard of it yet.
      await other.store.delete('mine')
      await other.store.create({ ...found.state, domains: found.state.domains.delete('a.example') })
      return found
    })
    expect((await ask('POST', '/accounts/mine/rewind', { request_id: request })).status).toBe(404)
    expect((await ask('GET', '/accounts/mine')).data.account.domains).toBe(0)
  })
})
