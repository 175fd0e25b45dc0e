import { randomInt } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import type { Counters, CountingPlan } from '../../src/domain/counting.ts'
import { accept } from '../../src/domain/errors.ts'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import { REMEMBERED } from '../../src/redis/database.ts'
import { accountKey } from '../../src/redis/keys.ts'
import { readLibrary } from '../../src/redis/library.ts'
import type { RedisStore } from '../../src/redis/redis-store.ts'
import { encodeAccount } from '../../src/store/record.ts'
import type { Moment } from '../../src/store/store.ts'
import { countersOf, hit, look, plannedCharge } from '../store/counting.ts'
import { applyUpdate, change, exampleAccount, holdKeys, hosts, NOTHING, watch } from '../store/example-account.ts'
import { atOnce } from '../support/at-once.ts'
import { budget } from '../support/budget.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { openReplica, openReplicas } from './open-replicas.ts'

const HOUR = 3_600_000
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const NOT_COUNTED: CountingPlan = { isCounted: false, charge: undefined, toldBucket: undefined, rules: [] }
const CHARGE = plannedCharge({ limit: 3, graceLimit: 3, window: 60 })
const RULE = { skip: 1, times: 3, probability: 1, ends: Number.POSITIVE_INFINITY }

/** What a request has found, and the moment that names it. */
interface Found {
  moment: Moment
  state: AccountState
  counters: Counters
}

/** Two stores that serve the account `acme`, and their clock. */
async function openTwo() {
  const prefix = freshPrefix()
  const clock = { now: 1_768_467_600_000 }
  const [{ store: one, connection }, { store: other }] = await openReplicas(2, { prefix, clock: () => clock.now })
  await one.create(exampleAccount('acme', ['k1']))
  return { one, other, clock, prefix, connection }
}

/** Deletes the account, and makes it again as it was at first. */
async function renew(store: RedisStore): Promise<void> {
  await store.delete('acme')
  await store.create(exampleAccount('acme', ['k1']))
}

/** Lets a request with this plan enter the account of the key `k1`; what it finds. */
async function enter(store: RedisStore, planned: Partial<CountingPlan> = {}, id = 'acme'): Promise<Found> {
  const counters = await countersOf(store, id)
  const found = await store.enter(
    'k1',
    {
      clock: () => 0,
      longestWindow: HOUR,
      plan: () => ({ ...NOT_COUNTED, ...planned }),
      conclude: (_, { account: state, moment }) => ({ state, moment }),
    },
    undefined,
  )
  if (found?.moment === undefined) throw new Error('The store names what requests find.')
  return { moment: found.moment, state: found.state, counters }
}

async function expectRecalled(store: RedisStore, { moment, state, counters }: Found): Promise<void> {
  const recalled = await store.recall(moment)
  expect(recalled?.incarnation).toBe(moment.incarnation)
  expect(recalled && encodeAccount(recalled.state)).toEqual(encodeAccount(state))
  // Nobody asks the index of names for its order.
  expect(recalled && new Map(recalled.state.groupNames.entries())).toEqual(new Map(state.groupNames.entries()))
  expect(recalled?.counters).toEqual(counters)
}

type Act = (stores: readonly [RedisStore, RedisStore], found: readonly Found[]) => Promise<unknown>
type Change = (state: AccountState) => Partial<AccountState>

const domain = fc.integer({ min: 0, max: 6 }).map((index) => `d${index}.example`)

/** An act at the first of the stores. */
const first =
  (act: (store: RedisStore) => Promise<unknown>): Act =>
  ([store]) =>
    act(store)
const updating = (edit: Change) => first((store) => change(store, edit))

function setGroup(id: string, domains: readonly string[]): Change {
  return ({ groups, groupNames }) => ({
    groups: groups.set(id, { id, name: id, domains }),
    groupNames: groupNames.set(id, id),
  })
}

function deleteGroup(id: string): Change {
  return ({ groups, groupNames }) => ({ groups: groups.delete(id), groupNames: groupNames.delete(id) })
}

function addDomains(count: number): Change {
  const added = { addedAt: count, features: [] }
  const entries = hosts(count).map((name) => [`large-${name}`, { ...added, name: `large-${name}` }] as const)
  return ({ domains }) => ({ domains: domains.with(entries) })
}

/** What can happen to an account between two requests. */
const acts: fc.Arbitrary<Act> = fc.oneof(
  domain.map((name) => first((store) => applyUpdate(store, 'acme', watch(name)))),
  domain.map((name) => updating(({ domains }) => ({ domains: domains.delete(name) }))),
  domain.map((name) =>
    first((store) =>
      applyUpdate(store, 'acme', ({ formerDomains = PersistentMap.of(), ...state }) => {
        const rest = formerDomains.delete(name)
        const others = formerDomains.has(name) ? rest : formerDomains.set(name, { volume: formerDomains.size })
        return accept(others.size === 0 ? state : { ...state, formerDomains: others }, undefined)
      }),
    ),
  ),
  fc.tuple(fc.constantFrom('g1', 'g2'), fc.array(domain)).map(([id, domains]) => updating(setGroup(id, domains))),
  fc.constantFrom('g1', 'g2').map((id) => updating(deleteGroup(id))),
  fc.subarray(['k2', 'k3']).map((hashes) => first((store) => applyUpdate(store, 'acme', holdKeys('k1', ...hashes)))),
  fc
    .subarray(['fault_1', 'fault_2'])
    .map((ids) => updating(() => ({ faults: ids.map((id) => ({ id, createdAt: 0, rule: { delay_ms: 1 } })) }))),
  fc.integer().map((frozenAt) => updating(() => ({ clock: { frozenAt } }))),
  fc.integer({ min: 0, max: 3 }).map((used) =>
    first((store) =>
      store.count('acme', (_, counting) => {
        counting.quotas = counting.quotas.set('k2 /dmarc', { startedAt: 5, used }).delete('/domains')
      }),
    ),
  ),
  ...[
    first((store) => hit(store, 'acme', '/domains', { limit: 9, window: 60, start: 'aligned', enforced: true }, 0)),
    first(async (store) => {
      const { incarnation } = (await look(store, 'k1')) ?? { incarnation: 0 }
      return store.refund({ id: 'acme', incarnation }, 'k1 /dmarc', 1_768_467_600_000)
    }),
    first((store) => store.replace('acme', exampleAccount('acme', ['k1']), { ...NOTHING, requests: 0 })),
  ].map((act) => fc.constant(act)),
  fc.nat().map(
    (index): Act =>
      async ([store, other], found) => {
        const past = found[index % Math.max(1, found.length)]
        const recalled = past && (await other.recall(past.moment))
        if (recalled) await store.replace('acme', recalled.state, recalled.counters)
      },
  ),
  fc
    .constantFrom('s1', 's2')
    .map((name) => first((store) => store.snapshots.take('acme', { name, real: 0, replace: true, limit: 2 }))),
  fc.constantFrom('s1', 's2').map((name) =>
    first(async (store) => {
      const snapshot = await store.snapshots.read('acme', name)
      if (snapshot) await store.replace('acme', snapshot.state, { ...snapshot.counters, snapshot: name })
    }),
  ),
)

const plans: fc.Arbitrary<Partial<CountingPlan>> = fc.constantFrom(
  {},
  { isCounted: true },
  { isCounted: true, charge: { ...CHARGE, bucket: 'k1 /dmarc' } },
  { isCounted: true, charge: { ...CHARGE, bucket: '/domains' }, rules: [{ id: 'fault_1', ...RULE }] },
  { isCounted: true, rules: ['fault_1', 'fault_2'].map((id) => ({ id, ...RULE })) },
)

describe.skipIf(!HAS_REDIS)(`What a request has found, with seed ${seed},`, () => {
  it('is recalled by every replica as it was, whatever has happened since', async () => {
    const { one, other, clock, prefix } = await openTwo()
    const step = fc.record({
      acts: fc.array(fc.tuple(acts, fc.boolean()), { maxLength: 4 }),
      plan: plans,
      swaps: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
        await renew(one)
        const found: Found[] = []
        for (const { acts: made, plan, swaps } of steps) {
          for (const [act, isOther] of made) await act(isOther ? [other, one] : [one, other], found)
          found.push(await enter(swaps ? other : one, plan))
          clock.now += 20_000
        }
        for (const [index, each] of found.entries()) await expectRecalled(index % 2 === 0 ? one : other, each)
      }),
      { numRuns: budget({ quick: 40, full: 500 }), seed },
    )
    await one.delete('acme')
    // Nothing stays of an account, of its snapshots, and of the copies that large changes make.
    const server = await sharedRedis()
    const kept = (await server.command('KEYS', `${prefix}:*`)) as string[]
    expect(kept.filter((key) => !key.includes('{all}') && !key.endsWith(':ended'))).toEqual([])
  })

  it('is recalled also where replicas ask and change the account at the same time, up to the change that it has made', async () => {
    const { one, other } = await openTwo()
    const plan = { ...NOT_COUNTED, isCounted: true, charge: { ...CHARGE, bucket: '/domains', limit: 1_000 } }
    const request = async (store: RedisStore, name: string) => {
      const entered = await store.enter(
        'k1',
        {
          clock: () => 0,
          longestWindow: HOUR,
          plan: () => plan,
          conclude: (_, all) => all,
        },
        undefined,
      )
      if (entered?.moment === undefined) throw new Error('The store names what requests find.')
      const { account, moment, counted } = entered
      let decided = { state: account, version: moment.version }
      await store.update('acme', (state, version = '') => {
        decided = { state, version }
        return watch(name)(state)
      })
      return { moment, account, decided, used: counted.formerHits?.used }
    }
    const requests = await atOnce(90, async (index) => {
      const store = index % 2 === 0 ? one : other
      if (index % 30 === 29) await store.replace('acme', exampleAccount('acme', ['k1']), NOTHING)
      return request(store, `d${index % 50}.example`)
    })
    for (const { moment, account, decided, used } of requests) {
      const found = await one.recall(moment)
      expect(found && encodeAccount(found.state)).toEqual(encodeAccount(account))
      expect(found?.counters.quotas.get('/domains')?.used).toBe(used)
      const before = await one.recall({ ...moment, version: decided.version })
      expect(before && encodeAccount(before.state)).toEqual(encodeAccount(decided.state))
    }
    expect(new Set(requests.map(({ moment }) => moment.sequence)).size).toBe(requests.length)
  })

  it('is recalled as it was answered, also if the account had to be read anew and has changed before that', async () => {
    const { one, other, prefix } = await openTwo()
    const proxy = await startCuttingProxy((await sharedRedis()).port)
    const { store } = await openReplica({ prefix, port: proxy.port })
    await look(store, 'k1')
    await change(one, addDomains(1_501))
    let changed: Promise<unknown> | undefined
    proxy.listen(([, called]) => {
      if (called !== readLibrary().nameOf('enter')) return
      // The reply waits for it.
      proxy.delay(100)
      changed ??= applyUpdate(other, 'acme', watch('later.example'))
    })
    const entered = await store.enter(
      'k1',
      {
        clock: () => 0,
        longestWindow: HOUR,
        plan: () => ({ ...NOT_COUNTED, isCounted: true }),
        conclude: (_, { account, moment }) => ({ account, moment }),
      },
      undefined,
    )
    await changed
    if (entered?.moment === undefined) throw new Error('The store names what requests find.')
    const recalled = await one.recall(entered.moment)
    expect(recalled && encodeAccount(recalled.state)).toEqual(encodeAccount(entered.account))
  })

  it('is not recalled across a change of very many parts, rather than wrong, but after it', async () => {
    const { one, other } = await openTwo()
    await applyUpdate(one, 'acme', watch('a.example'))
    const before = await enter(one)
    await change(one, addDomains(1_501))
    const after = [await enter(other)]
    await applyUpdate(one, 'acme', watch('b.example'))
    after.push(await enter(other, { isCounted: true, charge: { ...CHARGE, bucket: 'k1 /dmarc' } }))
    for (const each of after) await expectRecalled(one, each)
    expect(await one.recall(before.moment)).toBeUndefined()
    await other.replace('acme', exampleAccount('acme', ['k1']), NOTHING)
    for (const { moment } of after) expect(await one.recall(moment)).toBeUndefined()
  })

  it('is recalled although the log does not reach back to changes before it', async () => {
    const { one, other } = await openTwo()
    const description = 'x'.repeat(100_000)
    for (let createdAt = 0; createdAt < 12; createdAt++) {
      await change(one, () => ({ faults: [{ id: 'fault_1', createdAt, rule: { description } }] }))
    }
    const found = await enter(one)
    await change(one, addDomains(100))
    await expectRecalled(other, found)
  })

  it('is not recalled after a thousand changes', async () => {
    const { one, other } = await openTwo()
    const first = await enter(one)
    await atOnce(999, (index) => change(one, () => ({ seed: index })))
    const second = await enter(one, { isCounted: true })
    await expectRecalled(other, first)
    await change(one, () => ({ seed: -1 }))
    expect(await other.recall(first.moment)).toBeUndefined()
    await expectRecalled(other, second)
  })

  it('is recalled as long as the account remembers the requests after it, or the journal has them', async () => {
    const { one, other, prefix, connection } = await openTwo()
    const found = await enter(one, { isCounted: true })
    await atOnce(REMEMBERED - 1, () => enter(one, { isCounted: true }))
    await expectRecalled(other, found)
    await enter(one, { isCounted: true })
    expect(await other.recall(found.moment)).toBeUndefined()
    // As the journal keeps it.
    const { incarnation, sequence, undo = '' } = found.moment
    const journal = accountKey(prefix, `${incarnation}`, 'journal')
    await connection.send(['XADD', journal, '1-0', 'e', '', 'u', `${sequence + 1} ${undo}`])
    await expectRecalled(other, found)
    // A server that was restored from a backup has given the number twice.
    await connection.send(['XADD', journal, '2-0', 'e', '', 'u', `${sequence + 1} n\n0\nq/domains\n5:1`])
    expect(await other.recall(found.moment)).toBeUndefined()
  })

  it('is not recalled of an account that has ended, nor of a version that the server has lost', async () => {
    const { one, other } = await openTwo()
    const { moment } = await enter(one)
    await applyUpdate(other, 'acme', watch('a.example'))
    const [version = '', token = ''] = (await enter(one)).moment.version.split(' ')
    for (const lost of [`${version} ${token}x`, `${Number(version) + 1} other`, `${version} `, '', 'x']) {
      expect(await one.recall({ ...moment, version: lost })).toBeUndefined()
    }
    expect(await one.recall({ ...moment, sequence: moment.sequence + 1 })).toBeUndefined()
    expect(await one.recall({ ...moment, incarnation: 5 })).toBeUndefined()
    expect(await one.recall(moment)).toBeDefined()
    await other.delete('acme')
    expect(await one.recall(moment)).toBeUndefined()
    await one.create(exampleAccount('acme', ['k1']))
    expect(await one.recall(moment)).toBeUndefined()
  })

  it('is recalled for the price of what has changed since, and not of the account', async () => {
    const { one, other } = await openTwo()
    await change(one, addDomains(5_000))
    const found = await enter(other)
    for (let index = 0; index < 10; index++) await applyUpdate(one, 'acme', watch(`${index}.example`))
    await other.recall(found.moment)
    const server = await sharedRedis()
    const sent = async () => Number((await server.info('stats'))['total_net_output_bytes'])
    const before = await sent()
    await expectRecalled(other, found)
    expect((await sent()) - before).toBeLessThan(10_000)
  })
})
