import { describe, expect, it } from 'vitest'
import { openFolderStore } from '../../src/store/folder/folder-store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { AccountRecord } from '../../src/store/record.ts'
import type { Store } from '../../src/store/store.ts'
import { SETTINGS } from '../store/example-account.ts'
import { ACCOUNT, DAY, HOUR, instant, pathOf, SECOND_KEY, stateOf, withKey } from '../support/account.ts'
import { failingStore } from '../support/failing-store.ts'
import { startService, type TestResponse, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ACCEPTED, CASES, refuse, send } from './refusals.ts'

const WRITES = ['addDomains', 'deleteDomains', 'createDomainGroup', 'updateDomainGroup', 'deleteDomainGroup']

describe('A refused write', () => {
  const refusals = CASES.filter(({ operation }) => WRITES.includes(operation))

  it.each(refusals.map((refusal) => [refusal.operation, refusal.status, refusal.code, refusal.when, refusal] as const))(
    'changes nothing: %s, %i `%s` with %s',
    async (_, status, __, ___, refusal) => {
      const service = await startService({ fixture: ACCOUNT })
      const before = await contentOf(service)
      expect((await refuse(service, refusal)).status).toBe(status)
      expect(await contentOf(service)).toEqual(before)
    },
  )

  it.each(WRITES)('changes nothing when the store is lost: %s', async (operation) => {
    const { store, fail } = failingStore('update')
    const service = await startService({ fixture: ACCOUNT, store })
    const before = await stateOf(service)
    fail()
    expect((await send(service, operation, ACCEPTED[operation] ?? {})).status).toBe(500)
    expect(await stateOf(service)).toEqual(before)
  })

  it('adds none of 50 domains when the last is refused', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    const domains = Array.from({ length: 49 }, (_, index) => `host-${index}.example`)
    const response = await service.send('POST', '/domains', { domains: [...domains, 'one.example'] })
    expect(response.status).toBe(400)
    expect(await stateOf(service)).toEqual(before)
  })

  it('neither renames a group nor removes members when an addition is refused', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    const response = await service.send('PATCH', await pathOf(service, 'Marketing'), {
      name: 'Campaigns',
      add_domains: ['two.example', 'stranger.example'],
      remove_domains: ['one.example'],
    })
    expect(response.status).toBe(400)
    expect(await stateOf(service)).toEqual(before)
  })

  it('uses up no group id', async () => {
    const [refused, plain] = [await startService({ fixture: ACCOUNT }), await startService({ fixture: ACCOUNT })]
    await refused.send('POST', '/domaingroups', { name: 'Sales' })
    const ids = await Promise.all(
      [refused, plain].map((service) => service.send('POST', '/domaingroups', { name: 'Support' })),
    )
    expect(ids[0]?.body.data.group.id).toBe(ids[1]?.body.data.group.id)
  })

  /** The account but for its plan, which the refusals for a low plan change beforehand. */
  async function contentOf(service: TestService): Promise<Omit<AccountRecord, 'plan'>> {
    const { plan: _, ...content } = await stateOf(service)
    return content
  }
})

describe('An accepted write', () => {
  it.each(WRITES)('changes the account: %s', async (operation) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    expect((await send(service, operation, ACCEPTED[operation] ?? {})).status).toBe(200)
    expect(await stateOf(service)).not.toEqual(before)
  })

  it.each([
    ['add_domains', []],
    ['add_domains', ['one.example']],
    ['remove_domains', ['two.example']],
    ['domains', ['one.example', 'used.example']],
    ['name', 'Marketing'],
  ])('that changes nothing leaves everything as it was: %s %j', async (field, value) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    expect((await service.send('PATCH', await pathOf(service, 'Marketing'), { [field]: value })).status).toBe(200)
    expect(await stateOf(service)).toEqual(before)
  })
})

describe.each<[kept: string, open: () => Store | Promise<Store>]>([
  ['memory', openMemoryStore],
  ['a folder', () => openFolderStore(temporaryFolder(), SETTINGS)],
])('Requests at the same time to a service that keeps accounts in %s', (_, open) => {
  it('create one group of a name: the other 19 of 20 are told that it exists', async () => {
    const service = await startService({ store: await open() })
    const spellings = ['Marketing', 'MARKETING', 'marketing', 'mArKeTiNg']
    const responses = await atOnce(20, (index) => service.send('POST', '/domaingroups', { name: spellings[index % 4] }))
    expect(codesOf(responses)).toEqual({ ok: 1, duplicate_name: 19 })
    expect((await stateOf(service)).groups).toHaveLength(1)
  })

  it('create 50 groups of different names, each with an id of its own', async () => {
    const service = await startService({ store: await open() })
    const responses = await atOnce(50, (index) => service.send('POST', '/domaingroups', { name: `Group ${index}` }))
    expect(new Set(responses.map(({ body }) => body.data.group.id)).size).toBe(50)
    expect((await stateOf(service)).groups).toHaveLength(50)
  })

  it('give a name to one of two groups', async () => {
    const service = await startService({ fixture: ACCOUNT, store: await open() })
    const paths = [await pathOf(service, 'Sales'), await pathOf(service, 'Marketing')]
    const responses = await atOnce(20, (index) => service.send('PATCH', paths[index % 2] ?? '', { name: 'Support' }))
    // Whoever was first may call itself so again and again.
    expect(codesOf(responses)).toEqual({ ok: 10, duplicate_name: 10 })
    expect((await stateOf(service)).groups.filter(({ name }) => name === 'Support')).toHaveLength(1)
  })

  it('read DMARC status exactly 10 times in an hour, whoever of 50 comes first', async () => {
    const service = await startService({ fixture: ACCOUNT, store: await open() })
    const responses = await atOnce(50, () => service.get('/dmarc'))
    expect(codesOf(responses)).toEqual({ ok: 10, rate_limited: 40 })
    const left = responses.filter(({ status }) => status === 200).map(({ headers }) => headers['x-ratelimit-remaining'])
    expect(left.map(Number).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('add all of their domains or none where one domain is in all of them', async () => {
    const service = await startService({ store: await open() })
    const lists = Array.from({ length: 20 }, (_, index) => [`own-${index}.example`, 'common.example'])
    const responses = await atOnce(20, (index) => service.send('POST', '/domains', { domains: lists[index] }))
    expect(codesOf(responses)).toEqual({ ok: 1, invalid_domain: 19 })
    const winner = lists[responses.findIndex(({ status }) => status === 200)]
    expect((await stateOf(service)).domains.map(({ name }) => name)).toEqual(winner)
  })

  it('add all of their domains or none where neighbours overlap', async () => {
    const service = await startService({ store: await open() })
    const lists = Array.from({ length: 30 }, (_, index) => [`host-${index}.example`, `host-${index + 1}.example`])
    const responses = await atOnce(30, (index) => service.send('POST', '/domains', { domains: lists[index] }))
    const accepted = lists.filter((_, index) => responses[index]?.status === 200).flat()
    const monitored = (await stateOf(service)).domains.map(({ name }) => name)
    expect(accepted.length).toBeGreaterThanOrEqual(20)
    expect(monitored.toSorted()).toEqual(accepted.toSorted())
  })

  it('remove a domain once', async () => {
    const service = await startService({ fixture: ACCOUNT, store: await open() })
    const responses = await atOnce(20, () => service.send('DELETE', '/domains', { domains: ['one.example'] }))
    expect(codesOf(responses)).toEqual({ ok: 1, domain_delete_failed: 19 })
  })

  it('delete a group once', async () => {
    const service = await startService({ fixture: ACCOUNT, store: await open() })
    const path = await pathOf(service, 'Marketing')
    expect(codesOf(await atOnce(20, () => service.send('DELETE', path)))).toEqual({ ok: 1, not_found: 19 })
  })

  it('add members to a group without losing any', async () => {
    const domains = Array.from({ length: 40 }, (_, index) => `host-${index}.example`)
    const service = await startService({ fixture: { domains, groups: [{ name: 'All' }] }, store: await open() })
    const path = await pathOf(service, 'All')
    await atOnce(40, (index) => service.send('PATCH', path, { add_domains: [domains[index]] }))
    const [group] = (await stateOf(service)).groups
    expect(group?.domains.toSorted()).toEqual(domains.toSorted())
  })

  it('never leave a member that is not monitored', async () => {
    const domains = Array.from({ length: 15 }, (_, index) => `host-${index}.example`)
    const service = await startService({ fixture: { domains }, store: await open() })
    await atOnce(30, (index) => {
      const domain = domains[index >> 1]
      return index % 2 === 0
        ? service.send('POST', '/domaingroups', { name: `Group ${index}`, domains: [domain] })
        : service.send('DELETE', '/domains', { domains: [domain] })
    })
    const state = await stateOf(service)
    const monitored = state.domains.map(({ name }) => name)
    expect(monitored).toEqual([])
    for (const group of state.groups) expect(group.domains).toEqual([])
  })

  function atOnce(count: number, ask: (index: number) => Promise<TestResponse>): Promise<TestResponse[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => ask(index)))
  }

  /** How often each code was answered, `ok` for success. */
  function codesOf(responses: readonly TestResponse[]): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { body } of responses) {
      const code = body.success ? 'ok' : body.error.code
      counts[code] = (counts[code] ?? 0) + 1
    }
    return counts
  }
})

describe('The same answer', () => {
  it('is given to every GET /dmarc from one refresh to the next, byte for byte', async () => {
    const service = await startService({ fixture: 'demo' })
    service.advance(14.5 * HOUR)
    const first = await service.get('/dmarc')
    for (const pause of [1, HOUR, 12 * HOUR, 11 * HOUR - 2]) {
      service.advance(pause)
      expect((await service.get('/dmarc')).text).toBe(first.text)
    }
    service.advance(1)
    expect((await service.get('/dmarc')).text).not.toBe(first.text)
  })

  it('is given to every GET /dmarc when groups and keys change but domains do not', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const first = await service.get('/dmarc')
    await service.send('POST', '/domaingroups', { name: 'Support', domains: ['one.example'] })
    expect((await service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY))).text).toBe(first.text)
  })

  it('holds for all other domains when one is added or removed', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const first = (await service.get('/dmarc')).body.data
    await service.send('POST', '/domains', { domains: ['new.example'] })
    const second = (await service.get('/dmarc')).body.data
    expect(second.slice(0, -1)).toEqual(first)
    await service.send('DELETE', '/domains', { domains: ['new.example', 'one.example'] })
    expect((await service.get('/dmarc')).body.data).toEqual(first.slice(1))
  })

  it('is given by two servers of one seed to the same requests at the same time, headers included', async () => {
    expect(await tell(42)).toEqual(await tell(42))
  })

  it('is not given by a server of another seed', async () => {
    const [one, other] = [await tell(42), await tell(43)]
    for (const [index, { headers }] of one.entries()) {
      expect(headers['x-request-id']).not.toBe(other[index]?.headers['x-request-id'])
    }
    expect(one[0]?.text).not.toBe(other[0]?.text)
  })

  /** All that a server answers to one story; the header Date, which shows the machine's own clock, left out. */
  async function tell(seed: number): Promise<Pick<TestResponse, 'status' | 'headers' | 'text'>[]> {
    const service = await startService({ fixture: 'demo', seed, now: instant(0) })
    const responses: TestResponse[] = []
    async function ask(...request: Parameters<TestService['send']>): Promise<TestResponse> {
      const response = await service.send(...request)
      responses.push(response)
      return response
    }
    await ask('GET', '/dmarc')
    await ask('GET', '/domains', undefined, { authorization: null })
    await ask('POST', '/domains', { domains: ['new.example', 'bücher.example'] })
    await ask('POST', '/domains', { domains: ['new.example'] })
    const { body } = await ask('POST', '/domaingroups', { name: 'Both', domains: ['new.example'] })
    await ask('PATCH', `/domaingroups?id=${body.data.group.id}`, { name: 'One' })
    service.advance(DAY)
    await ask('GET', '/dmarc')
    await ask('GET', '/domaingroups')
    await ask('PUT', '/domains')
    await ask('GET', '/nothing')
    await ask('DELETE', `/domaingroups?id=${body.data.group.id}`)
    return responses.map(({ status, headers: { date: _, ...headers }, text }) => ({ status, headers, text }))
  }
})
