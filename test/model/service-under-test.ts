import { createAccount } from '../../src/accounts/creation.ts'
import type { Clock } from '../../src/ground/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { createRandom } from '../support/random.ts'
import { startService, type TestService } from '../support/service.ts'
import { takeTurns } from '../support/turns.ts'
import type { Real } from './exchange.ts'
import { fixtureOf } from './fixtures.ts'
import { ACCOUNTS, type AccountOfPool, BEGINNING, secretOf } from './pool.ts'

/** Opens a store on what the last one kept, or on what others keep that are open. */
export type OpenStore = (clock: Clock) => Promise<Store>

/**
 * A service with the accounts of the pool, on a clock of its own. With several replicas, each request goes to a random
 * one, which depends on the requests before it alone.
 */
export async function openService(
  open: OpenStore,
  reach: (situation: string) => void,
  replicas = 1,
): Promise<{ real: Real; stop: () => Promise<void> }> {
  let now = BEGINNING
  const random = createRandom(replicas)
  async function start(): Promise<TestService> {
    const first = await startOne()
    const others: TestService[] = []
    while (others.length < replicas - 1) others.push(await startOne())
    return others.length === 0 ? first : takeTurns([first, ...others], () => Math.floor(random() * replicas))
  }
  async function startOne(): Promise<TestService> {
    const store = await open(() => now)
    const { default: first, ...others } = ACCOUNTS
    const service = await startService({ store, clock: () => now, ...birthOf(first), fixture: fixtureOf(first) })
    for (const [id, account] of Object.entries(others)) {
      if ((await store.find('id', id)) === undefined) await createBeside(id, account, service)
    }
    return service
  }
  const real: Real = {
    service: await start(),
    advance: (milliseconds) => {
      now += milliseconds
    },
    async reopen() {
      await real.service.stop()
      real.service = await start()
    },
    reach,
    requestIds: new Map(),
    readings: new Map(),
    records: new Map(),
  }
  return { real, stop: () => real.service.stop() }
}

async function createBeside(id: string, account: AccountOfPool, { store, contract }: TestService): Promise<void> {
  const { ahead } = account
  const beginning = ahead === 0 ? {} : { now: new Date(BEGINNING + ahead).toISOString() }
  const birth = { id, real: BEGINNING, ...beginning, ...birthOf(account) }
  await store.create(createAccount(fixtureOf(account), birth, contract))
}

function birthOf({ seed, keys: [first] }: AccountOfPool): { seed: number; apiKey: string } {
  return { seed, apiKey: secretOf(first.name) }
}
