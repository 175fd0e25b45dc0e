import { describe, expect, it } from 'vitest'
import { readChoices } from '../../src/contract/choices.ts'
import type { VerifyProgress } from '../../src/verify/asking.ts'
import { RequestBudget } from '../../src/verify/budget.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import { Ledger } from '../../src/verify/ledger.ts'
import { quotaPathOf } from '../../src/verify/probe.ts'
import type { VerifyResult } from '../../src/verify/verification.ts'
import { budget } from '../support/budget.ts'
import { createRandom } from '../support/random.ts'
import { openService, startService } from '../support/service.ts'
import { choices, inventoryOf, NO_JUDGE, NO_LEDGER, prepareRun, type Way } from './runs.ts'

const PATHS = ['/dmarc', '/domains', '/domaingroups'] as const
const HOUR = 3_600_000

interface Charge {
  path: string
  /** What was left for all clients, as the last response to the run said in this window. */
  known: number | undefined
  status: number
}

describe('the budget of verify', () => {
  it(`leaves the reserve to a second client, in ${budget({ quick: 5, full: 100 })} runs with different chances`, {}, async () => {
    for (let seed = 1; seed <= budget({ quick: 5, full: 100 }); seed++) {
      const chance = createRandom(seed)
      const reserve = Math.floor(chance() * 4)
      const greed = chance() * 0.4
      const service = await openService({ fixture: 'empty' })
      const charges: Charge[] = []
      const known = new Map<string, number>()
      let windows = 0
      const run = prepareRun(service, {
        reserve: () => reserve,
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

  it('believes what a response says is left, and takes the smaller number', () => {
    const own = new RequestBudget(choices.contract, () => 2)
    expect(own.left('/dmarc')).toBe(8)
    own.spend('/dmarc')
    expect(own.left('/dmarc')).toBe(7)
    own.believe('/dmarc', { 'x-ratelimit-remaining': '4' }, undefined)
    expect(own.left('/dmarc')).toBe(2)
    own.believe('/dmarc', { 'x-ratelimit-remaining': '90' }, undefined)
    expect(own.left('/dmarc')).toBe(7)
    own.believe('/dmarc', {}, 'rate_limited')
    expect(own.left('/dmarc')).toBe(0)
  })

  it.each([
    ['a Unix timestamp', `${Date.parse('2026-01-15T10:00:00Z') / 1000}`],
    ['seconds that are left', '1800'],
  ])('reads the reset as %s, by the clock of the service', (_, reset) => {
    let now = 0
    const own = new RequestBudget(
      choices.contract,
      () => 0,
      () => now,
    )
    own.spend('/dmarc')
    const date = 'Thu, 15 Jan 2026 09:30:00 GMT'
    own.believe('/dmarc', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset, date }, undefined)
    expect(own.untilReset('/dmarc')).toBe(HOUR / 2)
    now += HOUR / 2 - 1
    expect(own.left('/dmarc')).toBe(0)
    now += 1
    expect(own.left('/dmarc')).toBe(10)
  })
})

describe('a run of verify', () => {
  it('counts what it sends where no response says what is left', async () => {
    const service = await startService()
    const sent = new Map<string, number>()
    const run = prepareRun(service, {
      judge: NO_JUDGE,
      ledger: NO_LEDGER,
      reserve: () => 2,
      async way(request, send) {
        const path = quotaPathOf(request)
        sent.set(path, (sent.get(path) ?? 0) + 1)
        const { rawHeaders, ...response } = await send(request)
        const kept = rawHeaders.flatMap((name, index) =>
          index % 2 === 0 && !/^x-ratelimit-/i.test(name) ? [name, rawHeaders[index + 1] ?? ''] : [],
        )
        return { ...response, rawHeaders: kept }
      },
    })
    const { ended, quotas } = await run.result()
    expect(ended).toBe('quota')
    for (const { path, limit, total } of quotas) {
      expect(total, path).toBe(sent.get(path))
      expect(total, path).toBeLessThanOrEqual(limit - 2)
    }
  })
})

describe('a run with a large reserve', () => {
  it('says that a question needs more than the reserve and the cleanup leave', async () => {
    const service = await startService()
    const reserve = (path: string) => (path === '/dmarc' ? 9 : 0)
    const { probes } = await prepareRun(service, { reserve, judge: NO_JUDGE, ledger: NO_LEDGER }).result()
    const of = (id: string) => probes.find(({ probe }) => probe.id === id)
    expect(of('read-records-again')).toMatchObject({
      state: 'not reached',
      reason: 'it needs more than the quota of /dmarc has beside the reserve and the cleanup',
    })
    expect(of('read-records')).toMatchObject({ state: 'asked' })
  })
})

describe('the time to go of a run', () => {
  it('is counted in the windows of the contract', async () => {
    const update = { window: 180 }
    const actions = ['/dmarc', '/domains', '/domaingroups'].map((path) => ({
      target: `$.paths['${path}']['x-quota']`,
      update,
    }))
    const windows = await readChoices([{ name: 'windows', actions }])
    const service = await startService()
    let longest = 0
    const onProgress = ({ toGo }: VerifyProgress) => (longest = Math.max(longest, toGo))
    const reserve = (path: string) => (path === '/domaingroups' ? 80 : 0)
    const given = { choices: windows, reserve, judge: NO_JUDGE, ledger: NO_LEDGER, onProgress }
    await prepareRun(service, given).result()
    expect(longest).toBeGreaterThan(180)
    expect(longest).toBeLessThan(10 * 180)
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
  it.each([
    ['it restores the account', 'restores the account'],
    ['it uses up a quota', 'exhaust-dmarc'],
  ])('is interrupted and has not asked the rest if a signal comes while %s', async (_, moment) => {
    const service = await startService({ fixture: 'demo' })
    const controller = new AbortController()
    const { ended, probes, cleanup } = await prepareRun(service, {
      exhaust: true,
      judge: NO_JUDGE,
      ledger: NO_LEDGER,
      signal: controller.signal,
      onProgress: ({ doing }) => doing === moment && controller.abort(),
    }).result()
    // Before the signal, the other questions have used up what the quotas allow.
    expect(ended).toBe('interrupted')
    expect(cleanup).toMatchObject({ restored: true })
    const exhaustions = probes.filter(({ probe: { exhausts } }) => exhausts === true)
    expect(exhaustions.map(({ state }) => state)).toEqual(exhaustions.map(() => 'not reached'))
  })
})

describe('a run that stops when the quotas are used up', () => {
  it('is continued by a later one, which asks the rest and knows what was answered before', {}, async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const first = prepareRun(service, { judge: NO_JUDGE })
    const stopped = await first.result()
    expect(stopped).toMatchObject({ ended: 'quota', cleanup: { restored: true } })
    expect(await inventoryOf(service)).toEqual(before)
    service.advance(HOUR)
    const { ledger, content } = Ledger.continue(first.ledgerPath)
    const taken: string[] = []
    const rest = await prepareRun(service, {
      waits: true,
      judge: {
        ...NO_JUDGE,
        async take({ id }) {
          taken.push(id)
          return []
        },
      },
      ledger,
      earlier: content,
      holdings: Holdings.of(content),
    }).result()
    expect(rest).toMatchObject({ cleanup: { restored: true } })
    expect(rest.ended).toBeUndefined()
    const earlier = stopped.exchanges.map(({ exchange: { id } }) => id)
    expect(taken.slice(0, earlier.length)).toEqual(earlier)
    const asked = (result: typeof rest) =>
      result.probes.flatMap(({ state, probe }) => (state === 'asked' ? probe.id : []))
    const again = rest.exchanges.slice(earlier.length).flatMap(({ probe }) => probe ?? [])
    expect(asked(stopped).filter((id) => again.includes(id))).toEqual([])
    expect(asked(rest).length).toBeGreaterThan(asked(stopped).length + 15)
    expect(await inventoryOf(service)).toEqual(before)
  })
})

describe('a run that was interrupted and has read no list of the account', () => {
  it('is continued by a later one, which asks only what was not asked', async () => {
    const service = await startService()
    const controller = new AbortController()
    const noLists: Way = async (request, send) => ({ ...(await send(request)), body: Buffer.from('{}') })
    let sent = 0
    const first = prepareRun(service, {
      judge: NO_JUDGE,
      signal: controller.signal,
      way(request, send) {
        if (++sent > 10) controller.abort()
        return noLists(request, send)
      },
    })
    const asked = ({ probes }: VerifyResult) =>
      probes.flatMap(({ state, probe }) => (state === 'asked' ? probe.id : []))
    const stopped = asked(await first.result())
    expect(stopped.length).toBeGreaterThan(5)
    const { ledger, content } = Ledger.continue(first.ledgerPath)
    const more = { way: noLists, judge: NO_JUDGE, ledger, earlier: content, holdings: Holdings.of(content) }
    const rest = await prepareRun(service, more).result()
    const again = rest.exchanges.slice(content.exchanges.length).flatMap(({ probe }) => probe ?? [])
    // The first requests look for the lists again.
    expect(again.filter((id) => stopped.includes(id))).toEqual(['read-groups', 'read-domains'])
    expect(asked(rest)).toEqual(expect.arrayContaining(stopped))
  })
})
