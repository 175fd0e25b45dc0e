import { describe, expect } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { type Entry, PAST } from '../../src/journal/entry.ts'
import type { StandIn } from '../../src/server/stand-in.ts'
import { Accounts } from '../../src/store/accounts.ts'
import { openFolderStore } from '../../src/store/folder/folder-store.ts'
import type { Store } from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { SETTINGS } from '../store/example-account.ts'
import { DAY, instant, stateOf } from '../support/account.ts'
import { atOnce } from '../support/at-once.ts'
import { ask, it } from '../support/example-service.ts'
import { overMemory } from '../support/failing-store.ts'
import { startService, type TestResponse, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const STORES: [kept: string, open: () => Store | Promise<Store>][] = [
  ['memory', () => new Accounts()],
  ['a folder', () => openFolderStore(temporaryFolder(), SETTINGS)],
]

describe.each(STORES)('Requests at the same time to a service that keeps accounts in %s', (_, open) => {
  const start = async (domains: string[] = []) => startService({ fixture: { domains }, store: await open() })

  it('create one group of a name: the other 19 of 20 are told that it exists', async () => {
    const service = await start()
    const spellings = ['Marketing', 'MARKETING', 'marketing', 'mArKeTiNg']
    const responses = await atOnce(20, (index) => service.send('POST', '/domaingroups', { name: spellings[index % 4] }))
    expect(codesOf(responses)).toEqual({ ok: 1, duplicate_name: 19 })
    expect((await stateOf(service)).groups).toHaveLength(1)
  })

  it('add all of their domains or none where neighbours overlap', async () => {
    const service = await start()
    const lists = Array.from({ length: 30 }, (_, index) => [`host-${index}.example`, `host-${index + 1}.example`])
    const responses = await atOnce(30, (index) => service.send('POST', '/domains', { domains: lists[index] }))
    const accepted = lists.filter((_, index) => responses[index]?.status === 200).flat()
    const monitored = (await stateOf(service)).domains.map(({ name }) => name)
    expect(accepted.length).toBeGreaterThanOrEqual(20)
    expect(monitored.toSorted()).toEqual(accepted.toSorted())
  })

  /** How often each code was answered, `ok` for success. */
  function codesOf(responses: readonly TestResponse[]): Record<string, number> {
    const codes = responses.map(({ body }) => (body.success ? 'ok' : body.error.code))
    return Object.fromEntries([...new Set(codes)].map((code) => [code, codes.filter((each) => each === code).length]))
  }
})

describe('The same answer', () => {
  it('is given by servers of one seed to the same requests at the same time, headers included, and by no other', async () => {
    const [one, other] = [await tell(42), await tell(43)]
    expect(await tell(42)).toEqual(one)
    for (const [index, { headers }] of one.entries()) {
      expect(headers['x-request-id']).not.toBe(other[index]?.headers['x-request-id'])
    }
    expect(one[0]?.text).not.toBe(other[0]?.text)
  })

  /** All that a server answers to one story; the header Date, which shows the machine's own clock, left out. */
  async function tell(seed: number): Promise<Pick<TestResponse, 'status' | 'headers' | 'text'>[]> {
    const service = await startService({ fixture: 'demo', seed, now: instant(0) })
    const responses = [
      await ask(service, 'GET /dmarc'),
      await ask(service, 'GET /domains', undefined, { authorization: null }),
      await ask(service, 'POST /domains', { domains: ['new.example', 'bücher.example'] }),
      await ask(service, 'POST /domaingroups', { name: 'One', domains: ['new.example'] }),
    ]
    service.advance(DAY)
    for (const request of ['GET /dmarc', 'PUT /domains', 'GET /nothing']) {
      responses.push(await ask(service, request))
    }
    responses.push(await ask(service, 'DELETE /domaingroups?id={One}'))
    return responses.map(({ status, headers: { date: _, ...headers }, text }) => ({ status, headers, text }))
  }
})

/** A service with this store, and the entries of its journal. */
async function recordAt(store: Store): Promise<{ service: TestService; entries: Entry[] }> {
  const entries: Entry[] = []
  const open = ({ journal }: StandIn) => void journal.subscribe((entry) => entries.push(entry))
  return { service: await startService({ store }, OPERATIONS, { open }), entries }
}

it('A request whose account was deleted meanwhile is one of an unknown key, and no fault is told of it', async () => {
  const store = overMemory(() => ({
    update() {
      throw new StoreError('unknown-account', 'There is no account "default"')
    },
  }))
  const { service, entries } = await recordAt(store)
  await service.send('GET', '/domaingroups', undefined, { prefer: 'delay=0' })
  await service.send('POST', '/domaingroups', { name: 'New' }, { prefer: 'delay=0' })
  expect(entries.map(({ code, injection, allowance }) => [code, injection?.source, allowance])).toEqual([
    [undefined, 'prefer', expect.anything()],
    ['unauthorized', undefined, undefined],
  ])
})

it('The journal has the state in which a change was decided, not the one that its request found', async () => {
  const store = overMemory((memory) => ({
    async update(id, decide, incarnation) {
      await memory.update(id, (state) => ({ ok: true, state: { ...state, plan: 'above-stone' }, value: undefined }))
      return memory.update(id, decide, incarnation)
    },
  }))
  const { service, entries } = await recordAt(store)
  await service.send('POST', '/domaingroups', { name: 'New' })
  expect(entries.map(({ [PAST]: past }) => [past?.account.plan, past?.after?.groups.size])).toEqual([
    ['above-stone', 1],
  ])
})
