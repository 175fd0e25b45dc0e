import { describe, expect, it } from 'vitest'
import { quotaPathOf } from '../../src/verify/probe.ts'
import type { VerifyResult } from '../../src/verify/run.ts'
import { createRandom } from '../support/random.ts'
import { API_KEY, startService } from '../support/service.ts'
import { inventoryOf, NO_JUDGE, NO_LEDGER, prepareRun, SHORT, type Way } from './runs.ts'

const PATHS = ['/dmarc', '/domains', '/domaingroups'] as const
const HOUR = 3_600_000
const TERMS = { judge: NO_JUDGE, ledger: NO_LEDGER }

describe('the budget of verify', () => {
  it('leaves the reserve to a second client, whatever that one spends', async () => {
    const chance = createRandom(1)
    const reserve = 2
    const service = await startService()
    const before = await inventoryOf(service)
    /** What is left for all clients, as the last response to the run said. */
    const known = new Map<string, number>()
    let isCleaning = false
    const onProgress = (line: string) => {
      isCleaning ||= line.includes('restores the account')
    }
    const way: Way = async (request, send) => {
      const path = quotaPathOf(request)
      // The reserve does not bind the cleanup.
      const isBound = !isCleaning && request.headers['authorization']?.includes(API_KEY) === true
      if (isBound) expect(known.get(path) ?? reserve + 1, path).toBeGreaterThan(reserve)
      const response = await send(request)
      const index = response.rawHeaders.indexOf('X-RateLimit-Remaining')
      if (index >= 0) known.set(path, Number(response.rawHeaders[index + 1]))
      // The second client spends after the response, which the run cannot know.
      while (chance() < 0.15) await service.get(PATHS[Math.floor(chance() * 3)] ?? '/dmarc')
      return response
    }
    const { cleanup, ended } = await prepareRun(service, { ...TERMS, reserve, way, onProgress }).result()
    expect(ended?.kind).toBe('quota')
    expect(cleanup).toMatchObject({ restored: true })
    expect(await inventoryOf(service)).toEqual(before)
  })

  it.each(['/domains', '/domaingroups'])('keeps enough for the cleanup where others have spent of %s', async (path) => {
    const service = await startService()
    const before = await inventoryOf(service)
    for (let spent = path === '/domains' ? 15 : 60; spent > 0; spent--) await service.get(path)
    const { cleanup, ended } = await prepareRun(service, TERMS).result()
    expect([ended?.kind, cleanup.restored]).toEqual(['quota', true])
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('counts what was sent where no response says what is left', async () => {
    const service = await startService()
    const sent = new Map<string, number>()
    const way: Way = async (request, send) => {
      const path = quotaPathOf(request)
      if (request.headers['authorization']?.includes(API_KEY)) sent.set(path, (sent.get(path) ?? 0) + 1)
      const { rawHeaders, ...response } = await send(request)
      return { ...response, rawHeaders: rawHeaders.map((name) => name.replace(/^x-ratelimit-/i, 'X-')) }
    }
    const { ended, quotas } = await prepareRun(service, { ...TERMS, reserve: 2, way }).result()
    expect(ended?.kind).toBe('quota')
    for (const { path, limit, total } of quotas) {
      expect(total, path).toBe(sent.get(path))
      expect(total, path).toBeLessThanOrEqual(limit - 2)
    }
  })
})

describe('a run whose first request is refused for the quota', () => {
  it.each([
    ['the service', '{"success":false,"error":{"code":"rate_limited","message":"No."}}'],
    ['a gateway', ''],
  ])('waits for the reset if it may, and ends at a signal: %s', async (_, body) => {
    const service = await startService()
    const refusal = { status: 429, rawHeaders: ['Content-Type', 'application/json'], body: Buffer.from(body) }
    const way = (): Way => {
      let sent = 0
      return async (request, send) => (++sent === 1 ? refusal : send(request))
    }
    const terms = { ...TERMS, waits: true, plan: SHORT.slice(0, 2) }
    const { exchanges } = await prepareRun(service, { ...terms, way: way() }).result()
    expect(exchanges.slice(0, 3).map(({ exchange: { response } }) => response?.status)).toEqual([429, 200, 200])
    const controller = new AbortController()
    const sleep = async () => controller.abort(new Error('a signal'))
    const stopped = prepareRun(service, { ...terms, way: way(), sleep, signal: controller.signal })
    await expect(stopped.result()).rejects.toThrow('a signal')
  })
})

describe('a run that meets used-up quotas', () => {
  it('asks the rest after the reset if it may wait, and nothing twice', async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const asked = ({ probes }: VerifyResult) => probes.filter(({ isAsked }) => isAsked).length
    // A signal while it restores the account comes before it uses up quotas on purpose.
    const controller = new AbortController()
    const onProgress = (line: string) => line.includes('restores the account') && controller.abort()
    const { signal } = controller
    const stopped = await prepareRun(service, { ...TERMS, exhaust: true, signal, onProgress }).result()
    expect(stopped).toMatchObject({ ended: { kind: 'interrupted' }, cleanup: { restored: true } })
    expect(stopped.probes.filter(({ probe, isAsked }) => probe.exhausts && isAsked)).toEqual([])
    service.advance(HOUR)
    const whole = await prepareRun(service, { ...TERMS, waits: true }).result()
    expect(whole).toMatchObject({ ended: undefined, cleanup: { restored: true } })
    expect(asked(whole)).toBeGreaterThan(asked(stopped))
    const counts = new Map<string, number>()
    for (const { probe = '' } of whole.exchanges) counts.set(probe, (counts.get(probe) ?? 0) + 1)
    const twice = whole.probes.filter(({ probe: { id }, sample }) => (counts.get(id) ?? 0) > sample.length)
    expect(twice.map(({ probe }) => probe.id)).toEqual([])
    expect(await inventoryOf(service)).toEqual(before)
  })
})
