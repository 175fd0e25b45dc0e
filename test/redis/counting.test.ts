import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CountingPlan, CountingResult } from '../../src/domain/counting.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Counters, Store } from '../../src/store/store.ts'
import { countersOf, enter, plannedCharge } from '../store/counting.ts'
import { change, exampleAccount } from '../store/example-account.ts'
import { budget } from '../support/budget.ts'
import { freshPrefix, HAS_REDIS } from '../support/redis-server.ts'
import { openReplica } from './open-replicas.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const START = 1_768_467_600_000
const RULES = ['fault_1', 'fault_2', 'fault_3']
const BUCKETS = ['k1 /dmarc', 'k2 /dmarc', '/domains', '/__proto__', 'k1 /ä b']

const charges = fc.record({
  bucket: fc.constantFrom(...BUCKETS),
  limit: fc.integer({ min: 0, max: 4 }),
  graceLimit: fc.integer({ min: 2, max: 6 }),
  graceEnds: fc.constantFrom(0, START + 500, Number.MAX_SAFE_INTEGER),
  window: fc.constantFrom(1, 60, 3600),
  start: fc.constantFrom('aligned' as const, 'first-request' as const),
  enforced: fc.boolean(),
})
const rules = fc.subarray(RULES).chain((ids) =>
  fc.tuple(
    ...ids.map((id) =>
      fc.record({
        id: fc.constant(id),
        skip: fc.integer({ min: 0, max: 2 }),
        times: fc.constantFrom(1, 3, Number.POSITIVE_INFINITY),
        probability: fc.constantFrom(0, 0.1, 0.5, 0.999, 1),
        ends: fc.constantFrom(START + 100, Number.POSITIVE_INFINITY),
      }),
    ),
  ),
)
const requests = fc.record({
  isCounted: fc.boolean(),
  charge: fc.option(charges, { nil: undefined }),
  toldBucket: fc.option(fc.constantFrom(...BUCKETS), { nil: undefined }),
  rules,
  /** By how much the clock goes on before the request. */
  later: fc.constantFrom(0, 1, 400, 61_000, 3_600_000),
})

/** Counters without the windows that are over, which count nothing: the store in memory forgets some of them later. */
function withoutOver({ quotas, tallies }: Counters, now: number): Counters {
  const kept = [...quotas].filter(([, { startedAt }]) => startedAt > now - 3_600_000)
  return { quotas: new Map(kept), tallies }
}

/** The same for what a request has met: a window that is over is as good as none, and only one store may still know it. */
function withoutFormer(counted: CountingResult, now: number): CountingResult {
  const { formerHits } = counted
  if (formerHits === undefined || formerHits.startedAt > now - 3_600_000) return counted
  return { ...counted, formerHits: undefined }
}

/** The store on Redis, the one in memory that it is held to, and their clock. */
async function openBoth() {
  const clock = { now: START, read: () => clock.now }
  const { store } = await openReplica({ clock: clock.read })
  return { store, memory: openMemoryStore({ clock: clock.read }), clock }
}

describe.skipIf(!HAS_REDIS)('the function that lets a request enter', () => {
  it(`counts as the JavaScript does, whatever is planned (seed ${seed})`, async () => {
    const { store, memory, clock } = await openBoth()
    let number = 0
    const property = fc.asyncProperty(
      fc.array(requests, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(0, 0.5, -1_000, 86_400_000),
      async (planned, offset) => {
        clock.now = START
        const id = `account ${++number}`
        const faults = RULES.map((rule) => ({ id: rule, createdAt: 0, rule: {} }))
        const state = { ...exampleAccount(id, [`key of ${id}`]), faults, clock: { offset } }
        for (const each of [store, memory]) await each.create(state)
        for (const { later, ...plan } of planned) {
          clock.now += later
          const [counted, expected] = [
            await enter(store, `key of ${id}`, plan, clock.read),
            await enter(memory, `key of ${id}`, plan, clock.read),
          ]
          const now = clock.now + offset
          expect(withoutFormer(counted, now)).toEqual(withoutFormer(expected, now))
        }
        expect(withoutOver(await countersOf(store, id), clock.now + offset)).toEqual(
          withoutOver(await countersOf(memory, id), clock.now + offset),
        )
      },
    )
    await fc.assert(property, { seed, numRuns: budget({ quick: 60, full: 1_000 }) })
  })

  const first = { charge: plannedCharge({ bucket: '/a', limit: 1, graceLimit: 9, graceEnds: START + 100, window: 60 }) }
  const aligned = { charge: { ...first.charge, start: 'aligned' as const } }
  const strict = { charge: { ...first.charge, graceEnds: 0 } }
  const rule = (chosen: object = {}) => ({
    rules: [{ id: 'fault_1', skip: 0, times: 9, probability: 1, ends: START + 100, ...chosen }],
  })
  /** So many milliseconds after the start, a request comes, and this is counted then. */
  const at = (after: number, counted: object) => ({ after, counted })

  it.each<[what: string, plan: Partial<CountingPlan>, requests: ReturnType<typeof at>[]]>([
    ['the end of a window', first, [at(0, { used: 1 }), at(59_999, { used: 1 }), at(60_000, { used: 1 })]],
    ['the end of a grace period', first, [at(0, { used: 1 }), at(99, { used: 2 }), at(100, { used: 2 })]],
    [
      'the end of a window without grace',
      strict,
      [at(5, { used: 1 }), at(60_004, { used: 1 }), at(60_005, { startedAt: START + 60_005 })],
    ],
    [
      'the end of an aligned window',
      aligned,
      [at(7, { startedAt: START }), at(50, { used: 2 }), at(60_000, { startedAt: START + 60_000 })],
    ],
    [
      'the end of another aligned window',
      aligned,
      [at(7, { used: 1 }), at(59_999, { startedAt: START }), at(119_999, { startedAt: START + 60_000 })],
    ],
    [
      'a clock that was set back',
      strict,
      [at(5, { startedAt: START + 5 }), at(4, { startedAt: START + 4, used: 1 }), at(4, { used: 1 })],
    ],
    ['the end of a rule', rule(), [at(0, { matched: 1 }), at(99, { matched: 2 }), at(100, { matched: 2 })]],
    ['the last time of a rule', rule({ times: 1 }), [at(0, { matched: 1, hits: 1 }), at(1, { matched: 1, hits: 1 })]],
    ['the first time of a rule', rule({ skip: 1 }), [at(0, { matched: 1, hits: 0 }), at(1, { matched: 2, hits: 1 })]],
  ])('counts at %s as the JavaScript does', async (_, plan, times) => {
    const { store, memory, clock } = await openBoth()
    const faults = [{ id: 'fault_1', createdAt: 0, rule: {} }]
    for (const each of [store, memory]) await each.create({ ...exampleAccount('acme', ['k1']), faults })
    for (const { after, counted } of times) {
      clock.now = START + after
      const [told, expected] = [await enter(store, 'k1', plan, clock.read), await enter(memory, 'k1', plan, clock.read)]
      expect({ ...told, formerHits: undefined }).toEqual({ ...expected, formerHits: undefined })
      const { quotas, tallies } = await countersOf(store, 'acme')
      expect({ ...quotas.get('/a'), ...tallies.get('fault_1') }).toMatchObject(counted)
    }
  })

  it('forgets a window when the longest one would have ended, and not before', async () => {
    const { store, clock } = await openBoth()
    await store.create(exampleAccount('acme', ['k1']))
    const enterAt = async (after: number, bucket: string) => {
      clock.now = START + after
      await enter(store, 'k1', { charge: { ...strict.charge, bucket } }, clock.read)
      return [...(await countersOf(store, 'acme')).quotas.keys()].toSorted()
    }
    await enterAt(0, '/old')
    expect(await enterAt(3_599_999, '/b')).toEqual(['/b', '/old'])
    expect(await enterAt(3_600_000, '/c')).toEqual(['/b', '/c'])
    // One of a later time is none, because the clock was set back.
    expect(await enterAt(3_599_998, '/d')).toEqual(['/d'])
  })

  /** When a window begins that a request of now opens. */
  async function startOf(store: Store, bucket: string): Promise<number> {
    const { hits } = await enter(store, 'k1', { charge: { ...strict.charge, bucket } }, () => 0)
    return hits?.startedAt ?? 0
  }

  it('never lets the time of an account go back, also where that of the server does', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    await store.create(exampleAccount('acme', ['k1']))
    const [head = ''] = (await connection.send(['KEYS', `${prefix}:*:head`])) as string[]
    const first = await startOf(store, '/a')
    expect(first).toBe(Math.floor(Number(await connection.send(['HGET', head, '#r'])) / 1000))
    await connection.send(['HSET', head, '#r', '4000000000000000'])
    expect([await startOf(store, '/b'), await startOf(store, '/c')]).toEqual([4_000_000_000_000, 4_000_000_000_000])
  })

  it('uses the time of the server, to which the clock of the account relates', async () => {
    const { store, connection } = await openReplica()
    await store.create(exampleAccount('acme', ['k1']))
    const [seconds] = (await connection.send(['TIME'])) as [string]
    const time = Number(seconds) * 1_000
    const start = await startOf(store, '/a')
    expect(start - time).toBeLessThan(10_000)
    expect(start - time).toBeGreaterThanOrEqual(0)
    await change(store, () => ({ clock: { offset: 86_400_000 } }))
    expect((await startOf(store, '/b')) - time).toBeGreaterThanOrEqual(86_400_000)
  })
})
