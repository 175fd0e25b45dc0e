import { expect, it, onTestFinished } from 'vitest'
import { startUnderstudy, type Understudy } from '../../src/index.ts'
import { freshPrefix, sharedRedis } from '../support/redis-server.ts'
import { API_KEY } from '../support/service.ts'

const HEADERS = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

/** Starts stand-ins on one store. */
async function startAll(...listens: boolean[]) {
  const shared = { store: (await sharedRedis()).url, storePrefix: freshPrefix(), fixture: 'empty', apiKey: API_KEY }
  const services: Understudy[] = []
  for (const listen of listens) services.push(await startUnderstudy({ ...shared, listen }))
  onTestFinished(async () => void (await Promise.all(services.map((service) => service.stop()))))
  return services
}

it('Stand-ins without a port share a store, with one that has a port, too', async () => {
  const services = await startAll(false, false, true)
  const domains = services.map((_, index) => `${index}.example`)
  for (const [index, service] of services.entries()) {
    const sent = { method: 'POST', headers: HEADERS, body: JSON.stringify({ domains: [domains[index]] }) }
    expect((await service.fetch(`${service.baseUrl}/domains`, sent)).status).toBe(200)
  }
  for (const service of services) {
    const answer = await service.fetch(`${service.baseUrl}/domains`, { headers: HEADERS })
    expect(await answer.json()).toMatchObject({ data: { domains } })
  }
  for (const { requests } of services) await expect.poll(() => requests.list()).toHaveLength(6)
})
