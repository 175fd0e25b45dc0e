import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accept } from '../../../src/domain/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { Counters } from '../../../src/store/store.ts'
import { budget } from '../../support/budget.ts'
import { HAS_REDIS } from '../../support/redis-server.ts'
import { enter } from '../counting.ts'
import { applyUpdate, exampleAccount, holdKeys } from '../example-account.ts'
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
  told: fc.option(fc.constantFrom(...BUCKETS), { nil: undefined }),
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
function withoutFormer<Counted>(counted: Counted, now: number): Counted {
  const { formerHits } = counted as { formerHits?: { startedAt: number } }
  return formerHits === undefined || formerHits.startedAt > now - 3_600_000
    ? counted
    : { ...counted, formerHits: undefined }
}

describe.skipIf(!HAS_REDIS)('the script that lets a request enter', () => {
  it(`counts as the JavaScript does, whatever is planned (seed ${seed})`, async () => {
    let time = START
    const clock = () => time
    const { store } = await openReplica({ clock })
    const memory = openMemoryStore({ clock })
    let number = 0
    const property = fc.asyncProperty(
      fc.array(requests, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(0, 0.5, -1_000, 86_400_000),
      async (planned, offset) => {
        time = START
        const id = `account ${++number}`
        const faults = RULES.map((rule) => ({ id: rule, createdAt: 0, rule: {} }))
        const state = { ...exampleAccount(id, [`key of ${id}`]), faults, clock: { offset } }
        for (const each of [store, memory]) await each.create(state)
        for (const { later, ...plan } of planned) {
          time += later
          const [counted, expected] = [
            await enter(store, `key of ${id}`, plan, clock),
            await enter(memory, `key of ${id}`, plan, clock),
          ]
          const now = time + offset
          expect(withoutFormer(counted, now)).toEqual(withoutFormer(expected, now))
        }
        expect(withoutOver(await store.counters(id), time + offset)).toEqual(
          withoutOver(await memory.counters(id), time + offset),
        )
      },
    )
    await fc.assert(property, { seed, numRuns: budget({ quick: 60, full: 1_000 }) })
  })

  it('forgets what was counted for the keys and rules that are gone, as the JavaScript does', async () => {
    const { store } = await openReplica()
    await store.create(exampleAccount('acme', ['k1', 'k2']))
    const charge = { limit: 5, graceLimit: 5, graceEnds: 0, window: 60, start: 'aligned' as const, enforced: true }
    for (const bucket of ['k1 /a', 'k1 /b', 'k2 /a', '/c']) {
      await enter(store, 'k1', { charge: { ...charge, bucket } }, () => 0)
    }
    await applyUpdate(store, 'acme', holdKeys('k2'))
    expect([...(await store.counters('acme')).quotas.keys()].toSorted()).toEqual(['/c', 'k2 /a'])
  })

  it('uses the time of the server, to which the clock of the account relates', async () => {
    const { store, connection } = await openReplica()
    await store.create(exampleAccount('acme', ['k1']))
    const [seconds] = (await connection.send(['TIME'])) as [string]
    const charge = {
      limit: 5,
      graceLimit: 5,
      graceEnds: 0,
      window: 60,
      start: 'first-request' as const,
      enforced: true,
    }
    const { hits } = await enter(store, 'k1', { charge: { ...charge, bucket: '/a' } }, () => 0)
    expect((hits?.startedAt ?? 0) - Number(seconds) * 1_000).toBeLessThan(10_000)
    expect((hits?.startedAt ?? 0) - Number(seconds) * 1_000).toBeGreaterThanOrEqual(0)
    await applyUpdate(store, 'acme', (state) => accept({ ...state, clock: { offset: 86_400_000 } }, undefined))
    const later = await enter(store, 'k1', { charge: { ...charge, bucket: '/b' } }, () => 0)
    expect((later.hits?.startedAt ?? 0) - Number(seconds) * 1_000).toBeGreaterThanOrEqual(86_400_000)
  })
})
