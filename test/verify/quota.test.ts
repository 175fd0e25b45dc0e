import { describe, expect, it } from 'vitest'
import { quotaPathOf } from '../../src/verify/probe.ts'
import type { VerifyResult } from '../../src/verify/run.ts'
import { choices } from '../support/choices.ts'
import { createRandom } from '../support/random.ts'
import { API_KEY, openService, startService } from '../support/service.ts'
import { inventoryOf, NO_JUDGE, NO_LEDGER, prepareRun, type Way } from './runs.ts'

const PATHS = ['/dmarc', '/domains', '/domaingroups'] as const
const HOUR = 3_600_000

interface Charge {
  path: string
  /** What was left for all clients, as the last response to the run said in this window. */
  known: number | undefined
  status: number
}

describe('the budget of verify', () => {
  it('leaves the reserve to a second client, whatever that one spends', async () => {
    for (const seed of [1, 2]) {
      const chance = createRandom(seed)
      const reserve = Math.floor(chance() * 4)
      const greed = chance() * 0.4
      const service = await openService({ fixture: 'empty' })
      const charges: Charge[] = []
      const known = new Map<string, number>()
      let windows = 0
      const run = prepareRun(service, {
        reserve,
        waits: chance() < 0.3,
        judge: NO_JUDGE,
        ledger: NO_LEDGER,
        sleep: async (milliseconds) => {
          windows++
          known.clear()
          service.advance(milliseconds)
        },
        async way(request, send) {
          const response = await send(request)
          const path = /^\/[a-z]+/.exec(request.path)?.[0] ?? ''
          const index = response.rawHeaders.indexOf('X-RateLimit-Remaining')
          charges.push({ path, known: known.get(path), status: response.status })
          if (index >= 0) known.set(path, Number(response.rawHeaders[index + 1]))
          // The second client spends after the response, which the run cannot know.
          while (chance() < greed) await service.get(PATHS[Math.floor(chance() * 3)] ?? '/dmarc')
          return response
        },
      })
      const before = await inventoryOf(service)
      const { cleanup } = await run.result().catch((error: Error) => {
        // A first request that meets a used-up quota ends the run, and nothing was created.
        expect(error.message).toContain('quota')
        return { cleanup: { restored: true } }
      })
      for (const path of PATHS) {
        const spent = charges.filter(({ known = reserve + 1, ...charge }) => charge.path === path && known <= reserve)
        expect(spent, `seed ${seed}`).toEqual([])
        const limit = choices.contract.operations.find((operation) => operation.path === path)?.quota?.limit ?? 0
        const own = charges.filter((charge) => charge.path === path && charge.status !== 401 && charge.status !== 405)
        expect(own.length, `seed ${seed} ${path}`).toBeLessThanOrEqual((limit - reserve) * (windows + 1))
      }
      if (cleanup.restored) expect(await inventoryOf(service), `seed ${seed}`).toEqual(before)
      await service.stop()
    }
  })
})

describe('a run of verify', () => {
  it('counts what it sends where no response says what is left', async () => {
    const service = await startService()
    const sent = new Map<string, number>()
    const run = prepareRun(service, {
      judge: NO_JUDGE,
      ledger: NO_LEDGER,
      reserve: 2,
      async way(request, send) {
        const path = quotaPathOf(request)
        if (request.headers['authorization']?.includes(API_KEY)) sent.set(path, (sent.get(path) ?? 0) + 1)
        const { rawHeaders, ...response } = await send(request)
        const kept = rawHeaders.flatMap((name, index) =>
          index % 2 === 0 && !/^x-ratelimit-/i.test(name) ? [name, rawHeaders[index + 1] ?? ''] : [],
        )
        return { ...response, rawHeaders: kept }
      },
    })
    const { ended, quotas } = await run.result()
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
    const terms = { waits: true, writes: false, judge: NO_JUDGE, ledger: NO_LEDGER }
    const { exchanges } = await prepareRun(service, { ...terms, way: way() }).result()
    expect(exchanges.slice(0, 3).map(({ exchange: { response } }) => response?.status)).toEqual([429, 200, 200])
    const controller = new AbortController()
    const sleep = async () => controller.abort(new Error('a signal'))
    const stopped = prepareRun(service, { ...terms, way: way(), sleep, signal: controller.signal })
    await expect(stopped.result()).rejects.toThrow('a signal')
  })
})

describe('a run that uses up quotas on purpose', () => {
  it.each([['it restores the account', 'restores the account']])(
    'is interrupted and has not asked the rest if a signal comes while %s',
    async (_, moment) => {
      const service = await startService({ fixture: 'demo' })
      const controller = new AbortController()
      const { ended, probes, cleanup } = await prepareRun(service, {
        exhaust: true,
        judge: NO_JUDGE,
        ledger: NO_LEDGER,
        signal: controller.signal,
        onProgress: (line) => line.includes(moment) && controller.abort(),
      }).result()
      // Before the signal, the other questions have used up what the quotas allow.
      expect(ended?.kind).toBe('interrupted')
      expect(cleanup).toMatchObject({ restored: true })
      const exhaustions = probes.filter(({ probe: { exhausts } }) => exhausts === true)
      expect(exhaustions.map(({ isAsked }) => isAsked)).toEqual([false, false, false])
    },
  )
})

describe('a run that meets used-up quotas', () => {
  it('asks the rest after the reset if it may wait, and nothing twice', async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const terms = { judge: NO_JUDGE, ledger: NO_LEDGER }
    const asked = ({ probes }: VerifyResult) => probes.filter(({ isAsked }) => isAsked).length
    const stopped = await prepareRun(service, terms).result()
    expect(stopped).toMatchObject({ ended: { kind: 'quota' }, cleanup: { restored: true } })
    service.advance(HOUR)
    const whole = await prepareRun(service, { ...terms, waits: true }).result()
    expect(whole).toMatchObject({ ended: undefined, cleanup: { restored: true } })
    expect(asked(whole)).toBeGreaterThan(asked(stopped))
    const counts = new Map<string, number>()
    for (const { probe = '' } of whole.exchanges) counts.set(probe, (counts.get(probe) ?? 0) + 1)
    const twice = whole.probes.filter(({ probe: { id }, sample }) => (counts.get(id) ?? 0) > sample.length)
    expect(twice.map(({ probe }) => probe.id)).toEqual([])
    expect(await inventoryOf(service)).toEqual(before)
  })
})
