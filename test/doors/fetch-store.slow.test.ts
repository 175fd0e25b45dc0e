import { expect, it, onTestFinished } from 'vitest'
import { startUnderstudy } from '../../src/index.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { API_KEY } from '../support/service.ts'

it.skipIf(!HAS_REDIS)('Stand-ins without a port share a store, with one that has a port, too', async () => {
  const { url: store } = await sharedRedis()
  const shared = { store, storePrefix: freshPrefix(), fixture: 'empty', apiKey: API_KEY }
  const services = []
  for (const listen of [false, false, true]) {
    const service = await startUnderstudy({ ...shared, listen })
    onTestFinished(() => service.stop())
    services.push(service)
  }
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  for (const [index, service] of services.entries()) {
    const body = JSON.stringify({ domains: [`${index}.example`] })
    expect((await service.fetch(`${service.baseUrl}/domains`, { method: 'POST', headers, body })).status).toBe(200)
  }
  for (const service of services) {
    const answer = (await (await service.fetch(`${service.baseUrl}/domains`, { headers })).json()) as {
      data: { domains: string[] }
    }
    expect(answer.data.domains).toEqual(['0.example', '1.example', '2.example'])
  }
  for (const { requests } of services) await expect.poll(() => requests.list()).toHaveLength(6)
})

it.skipIf(!HAS_REDIS)('A client that leaves while the store works is recorded without an answer', async () => {
  const { url: store } = await sharedRedis()
  const service = await startUnderstudy({
    store,
    storePrefix: freshPrefix(),
    fixture: 'empty',
    apiKey: API_KEY,
    listen: false,
  })
  onTestFinished(() => service.stop())
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${API_KEY}` }
  const asked = service.fetch(`${service.baseUrl}/domains`, { headers, signal: leaving.signal })
  leaving.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  await expect.poll(() => service.requests.list()).toMatchObject([{ status: null }])
})
