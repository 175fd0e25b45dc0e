import { describe, expect, it } from 'vitest'
import { enter } from '../store/counting.ts'
import { applyUpdate, exampleAccount, hosts, watch, withDomains } from '../store/example-account.ts'
import { atOnce } from '../support/at-once.ts'
import { HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { openTwoStores } from './open-replicas.ts'

/** Two stores on a server of their own, on which there is an account with so many domains. */
async function open(count: number) {
  const server = await startRedis()
  const [one, other] = await openTwoStores({ port: server.port })
  await one.create(withDomains(exampleAccount('acme', ['k1']), hosts(count)))
  return { server, one, other }
}

// What a request to an account that nobody else changes costs is in test/redis/round-trips.slow.test.ts.
describe.skipIf(!HAS_REDIS)('what a request costs at the server', () => {
  it('is one step also where another replica has changed the account since, of which only the change is read', async () => {
    const { server, one, other } = await open(10_000)
    let turn = 0
    async function enterChanged(): Promise<void> {
      await applyUpdate(other, 'acme', watch(`new-${++turn}.example`))
      await enter(one, 'k1', {}, () => 0)
    }
    const figures = async () => {
      const { total_net_input_bytes, total_net_output_bytes } = await server.info('stats')
      const { cmdstat_fcall = '' } = await server.info('commandstats')
      return [total_net_input_bytes, total_net_output_bytes, /calls=(\d+)/.exec(cmdstat_fcall)?.[1]].map(Number)
    }
    await enter(other, 'k1', {}, () => 0)
    // The functions and the account are known from here on.
    await enterChanged()
    const [first, before] = [await figures(), await figures()]
    await enterChanged()
    const after = await figures()
    // To ask the server for its figures costs bytes too.
    const [sent = 0, received = 0] = after.map(
      (figure, index) => figure - 2 * (before[index] ?? 0) + (first[index] ?? 0),
    )
    expect((after[2] ?? 0) - (before[2] ?? 0)).toBe(2)
    expect(sent).toBeLessThan(2_000)
    expect(received).toBeLessThan(600)
  })

  it('is one reading of an account that the replica does not know, however many requests come at the same time', async () => {
    const { server, one, other } = await open(2_000)
    const changed = applyUpdate(one, 'acme', watch('new.example'))
    const entered = await atOnce(30, () => enter(other, 'k1', {}, () => 0))
    await changed
    expect(entered.filter((each) => each === undefined)).toEqual([])
    const states = await atOnce(5, () => other.read('acme'))
    expect(states.map((state) => state.domains.has('new.example'))).toEqual([true, true, true, true, true])
    const { cmdstat_hscan } = await server.info('commandstats')
    expect(cmdstat_hscan).toMatch(/^calls=1,/)
  })
})
