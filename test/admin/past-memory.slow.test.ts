import { describe, expect, it } from 'vitest'
import { heapInUse } from '../load/memory.ts'
import { budget } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

/** In a quick run, only the largest burdens would be noticed if nobody weighed them. */
const SCALE = budget({ quick: 1, full: 6 })
const PATH = '/accounts/default'
const MIB = 2 ** 20
/** A quarter of it is for the journal. */
const MEMORY = 32 * MIB
/** What tests and the service take beside it. */
const SLACK = 4 * MIB
const names = (count: number, prefix = 'host') =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.example`)

/** What happens between two requests, or is a request itself, so many times. */
interface Burden {
  prepare?: (service: TestService) => Promise<unknown>
  rounds: number
  act(service: TestService, round: number): Promise<unknown>
}

const setState = (service: TestService, domains: string[]) => askControl(service, 'PUT', `${PATH}/state`, { domains })

function addKeys(service: TestService, count: number) {
  const keys = Array.from({ length: count }, (_, index) => ({ key: `a-key-of-mine-${index}` }))
  return askControl(service, 'PUT', `${PATH}/state`, { keys })
}

const BURDENS: Readonly<Record<string, Burden>> = {
  'restored snapshots': {
    prepare: async (service) => {
      await setState(service, names(5_000))
      await askControl(service, 'POST', `${PATH}/snapshots`, { name: 's' })
    },
    rounds: 60,
    async act(service, round) {
      await service.send('POST', '/domains', { domains: [`new-${round}.example`] })
      await askControl(service, 'POST', `${PATH}/snapshots/s/restore`)
    },
  },
  'quotas that are set for many keys': {
    prepare: (service) => addKeys(service, 400),
    rounds: 60,
    act: (service, round) =>
      askControl(service, 'PATCH', `${PATH}/quotas`, { bucket: 'domains', remaining: round % 20 }),
  },
  'imports of other domains': {
    rounds: 60,
    act: (service, round) => setState(service, names(3_000, `round-${round}`)),
  },
  'domains that are removed and added': {
    prepare: (service) => setState(service, names(2_000)),
    rounds: 40,
    async act(service, round) {
      await service.send('DELETE', '/domains', { domains: names(500 + (round % 2)) })
      for (let from = 0; from < 500; from += 50)
        await service.send('POST', '/domains', { domains: names(500 + (round % 2)).slice(from, from + 50) })
    },
  },
  'changes of one domain without any request': {
    prepare: (service) => setState(service, names(10)),
    rounds: 8,
    async act(service, round) {
      const path = `${PATH}/domains/host-1.example/features`
      if (round > 0)
        for (let each = 0; each < 500; each++) await askControl(service, 'PUT', path, { features: [`f${each}`] })
    },
  },
  'keys that come and go': {
    prepare: (service) => addKeys(service, 900),
    rounds: 150,
    async act(service, round) {
      const { data } = await askControl(service, 'POST', `${PATH}/keys`, { key: `a-later-key-${round}` })
      await askControl(service, 'DELETE', `${PATH}/keys/${data.key.id}`)
    },
  },
}

/** The first ones take the least time. */
const SOME = Object.keys(BURDENS).slice(0, budget({ quick: 3, full: 6 }))

describe('The older states that the journal keeps', () => {
  // What other tests have left may grow just meanwhile. Then it is measured again.
  it.each(SOME)('take no more memory than it may have: %s', { timeout: 120_000, retry: 2 }, async (name) => {
    const { prepare, rounds, act } = BURDENS[name] as Burden
    const options = { maxMemory: MEMORY, store: undefined, fixture: 'empty', enforceQuotas: false }
    const service = await startService(options)
    await prepare?.(service)
    await act(service, 0)
    await service.get('/domaingroups')
    const before = heapInUse()
    for (let round = 1; round < rounds * SCALE; round++) {
      await act(service, round)
      await service.get('/domaingroups')
    }
    // To read the older states does not keep more of them.
    const { requests } = (await askControl(service, 'GET', `${PATH}/requests?limit=1000`)).data
    const known: boolean[] = []
    for (const { request_id } of requests) {
      const { status } = await askControl(service, 'GET', `${PATH}/state?before=${request_id}`)
      known.push(status === 200)
    }
    expect(heapInUse() - before).toBeLessThan((MEMORY / 4 + SLACK) / MIB)
    expect(known.at(-1)).toBe(true)
    // The oldest lose their states first.
    expect(known).toEqual(known.toSorted((one, other) => Number(one) - Number(other)))
  })
})
