import { describe, expect, it } from 'vitest'
import { accept } from '../../../src/domain/errors.ts'
import { HAS_REDIS, startRedis } from '../../support/redis-server.ts'
import { enter } from '../counting.ts'
import { applyUpdate, exampleAccount, watch } from '../example-account.ts'
import { openReplicas, type Replica } from './open-replicas.ts'

const CHARGE = { bucket: '/dmarc', limit: 30, graceLimit: 30, graceEnds: 0, window: 3600, enforced: true }
const START = { start: 'first-request' } as const

describe.skipIf(!HAS_REDIS)('what a request costs at the server', () => {
  /** How many scripts run, and how many bytes go to the server and come back, while something happens. */
  async function measure(act: (replica: Replica, other: Replica) => Promise<unknown>, size: number) {
    const server = await startRedis()
    const [replica, other] = await openReplicas(2, { port: server.port })
    if (replica === undefined || other === undefined) throw new Error('There are two.')
    const names = Array.from({ length: size }, (_, index) => `domain-${index}.example`)
    const domains = exampleAccount('x').domains.with(names.map((name) => [name, { name, addedAt: 0, features: [] }]))
    const groups = [{ id: 'g1', name: 'Web', domains: [] }]
    const state = { ...exampleAccount('acme', ['k1']), domains }
    await replica.store.create({
      ...state,
      groups: state.groups.with(groups.map((group) => [group.id, group])),
    })
    for (const { store } of [replica, other]) await enter(store, 'k1', {}, () => 0)
    const read = async () => {
      const { total_net_input_bytes, total_net_output_bytes } = await server.info('stats')
      const commands = await server.info('commandstats')
      const calls = (name: string) => Number(/calls=(\d+)/.exec(commands[`cmdstat_${name}`] ?? '')?.[1] ?? 0)
      return { sent: Number(total_net_input_bytes), received: Number(total_net_output_bytes), runs: calls('evalsha') }
    }
    // The scripts are known from here on.
    await act(replica, other)
    const [first, before] = [await read(), await read()]
    await act(replica, other)
    const after = await read()
    // To ask the server for its figures costs bytes too.
    const [sent, received] = [before.sent - first.sent, before.received - first.received]
    return {
      runs: after.runs - before.runs,
      sent: after.sent - before.sent - sent,
      received: after.received - before.received - received,
    }
  }

  it('is one step to enter, however large the account is', async () => {
    const charge = { ...CHARGE, ...START }
    const cost = await measure(({ store }) => enter(store, 'k1', { charge }, () => 0), 10_000)
    expect(cost.runs).toBe(1)
    expect(cost.sent).toBeLessThan(1_000)
    expect(cost.received).toBeLessThan(300)
  })

  it('is one step to change a group of an account with 10,000 domains, and a few hundred bytes', async () => {
    let turn = 0
    const cost = await measure(
      ({ store }) =>
        applyUpdate(store, 'acme', (state) =>
          accept(
            {
              ...state,
              groups: state.groups.set('g1', { id: 'g1', name: `Web ${++turn}`, domains: ['domain-1.example'] }),
            },
            undefined,
          ),
        ),
      10_000,
    )
    expect(cost.runs).toBe(1)
    expect(cost.sent).toBeLessThan(1_000)
    expect(cost.received).toBeLessThan(300)
  })

  it('is one step also where another replica has changed the account since, of which only the change is read', async () => {
    let turn = 0
    const cost = await measure(async (replica, other) => {
      await applyUpdate(other.store, 'acme', watch(`new-${++turn}.example`))
      await enter(replica.store, 'k1', {}, () => 0)
    }, 10_000)
    expect(cost.runs).toBe(2)
    expect(cost.sent).toBeLessThan(2_000)
    expect(cost.received).toBeLessThan(600)
  })

  it('is one reading of an account that the replica does not know, however many requests come at the same time', async () => {
    const server = await startRedis()
    const [replica, other] = await openReplicas(2, { port: server.port })
    if (replica === undefined || other === undefined) throw new Error('There are two.')
    const names = Array.from({ length: 2_000 }, (_, index) => `domain-${index}.example`)
    const domains = exampleAccount('x').domains.with(names.map((name) => [name, { name, addedAt: 0, features: [] }]))
    await replica.store.create({ ...exampleAccount('acme', ['k1']), domains })
    const changed = applyUpdate(replica.store, 'acme', watch('new.example'))
    const entered = await Promise.all(Array.from({ length: 30 }, () => enter(other.store, 'k1', {}, () => 0)))
    await changed
    expect(entered.filter((each) => each === undefined)).toEqual([])
    const states = await Promise.all(Array.from({ length: 5 }, () => other.store.read('acme')))
    expect(states.map((state) => state.domains.has('new.example'))).toEqual([true, true, true, true, true])
    const { cmdstat_hscan } = await server.info('commandstats')
    expect(cmdstat_hscan).toMatch(/^calls=1,/)
  })
})
