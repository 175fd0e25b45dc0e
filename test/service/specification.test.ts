import { describe, expect, it as test } from 'vitest'
import { hashKey } from '../../src/ground/secrets.ts'
import { changeAccount, DAY, deleteKey, disableKey, HOUR, SECOND_KEY, stateOf, withKey } from '../support/account.ts'
import { ask, domainsOf, it, membersOf } from '../support/example-service.ts'
import { API_KEY, START, startService } from '../support/service.ts'
import { ACCEPTED, ALL, refusal, send } from './refusals.ts'

const KEPT = ['one.example', 'two.example', 'three.example', 'busy.example', 'used.example']
const ID = expect.stringMatching(/^[0-9A-Za-z]{8}$/)
/** From the start of a test to the next midnight in UTC. */
const UNTIL_REFRESH = 14.5 * HOUR

describe('Domains', () => {
  it('[all-domains-listed] are listed in the order in which they were added', async ({ service }) => {
    await ask(service, 'POST /domains', { domains: ['zebra.example', 'ape.example'] })
    const data = { domains: [...KEPT, 'zebra.example', 'ape.example'] }
    expect((await service.get('/domains')).body).toEqual({ success: true, data })
  })

  it('[count-of-added] are added with a message, the domains and how many they are', async ({ service }) => {
    const domains = ['a.example', 'b.example']
    const data = { message: 'Domains added. Background processing has started.', domains, count: 2 }
    expect((await ask(service, 'POST /domains', { domains })).body).toEqual({ success: true, data })
  })

  it('[deleted-domains-answered] are removed with a message, the domains and their number', async ({ service }) => {
    const domains = ['two.example', 'one.example']
    const data = { message: 'Domains removed.', domains, count: 2 }
    expect((await ask(service, 'DELETE /domains', { domains })).body).toEqual({ success: true, data })
    expect(await domainsOf(service)).toEqual(KEPT.slice(2))
    expect(await membersOf(service, 'Marketing')).toEqual(['used.example'])
  })

  it('[domain-in-use-stays] are removed once no monitoring feature uses them', async ({ service }) => {
    const unused = { name: 'used.example', addedAt: START, features: [] }
    await changeAccount(service, (state) => ({ ...state, domains: state.domains.set('used.example', unused) }))
    expect((await ask(service, 'DELETE /domains', { domains: ['used.example'] })).body.data.count).toBe(1)
  })
})

describe('A domain group', () => {
  it('[groups-with-count] [one-group-by-id] is read with all and their count, or alone', async ({ service }) => {
    const groups = [
      { id: ID, name: 'Marketing', domains: ['one.example', 'used.example'] },
      { id: ID, name: 'Sales', domains: [] },
    ]
    const all = (await service.get('/domaingroups')).body
    expect(all).toEqual({ success: true, data: { groups, count: 2 } })
    for (const group of all.data.groups) {
      expect((await service.get(`/domaingroups?id=${group.id}`)).body).toEqual({ success: true, data: { group } })
    }
  })

  it('[members-in-the-same-call] is created with id, name and members in one call', async ({ service }) => {
    const domains = ['two.example', 'one.example']
    const { body } = await ask(service, 'POST /domaingroups', { name: 'Support', domains })
    expect(body.data.group).toEqual({ id: ID, name: 'Support', domains })
    expect(await membersOf(service, 'Support')).toEqual(domains)
  })

  it('[new-name-unique] gets another name, and keeps its id and members', async ({ service }) => {
    const { group } = (await ask(service, 'GET /domaingroups?id={Marketing}')).body.data
    const { body } = await ask(service, 'PATCH /domaingroups?id={Marketing}', { name: 'Campaigns' })
    expect(body.data.group).toEqual({ ...group, name: 'Campaigns' })
    expect((await service.get(`/domaingroups?id=${group.id}`)).body.data.group).toEqual(body.data.group)
  })

  // Marketing has had one.example and used.example.
  it.for<[rule: string, changes: object, members: string[]]>([
    ['[domains-replace-members]', { domains: ['three.example', 'one.example'] }, ['three.example', 'one.example']],
    [
      '[additions-keep-members]',
      { add_domains: ['two.example', 'one.example'] },
      ['one.example', 'used.example', 'two.example'],
    ],
    [
      '[unknown-removals-ignored]',
      { remove_domains: ['ONE.example.', 'two.example', 'stranger.example', 'not a host', ''] },
      ['used.example'],
    ],
    [
      '[additions-before-removals]',
      { add_domains: ['two.example', 'three.example'], remove_domains: ['two.example', 'one.example'] },
      ['used.example', 'three.example'],
    ],
  ])('%s has after %j the members %j', async ([, changes, members], { service }) => {
    const { body } = await ask(service, 'PATCH /domaingroups?id={Marketing}', changes)
    expect(body.data.group.domains).toEqual(members)
    expect(await membersOf(service, 'Marketing')).toEqual(members)
  })

  it('is deleted with a message, and its name is free', async ({ service }) => {
    const { id } = (await ask(service, 'GET /domaingroups?id={Sales}')).body.data.group
    const { body } = await service.send('DELETE', `/domaingroups?id=${id}`)
    expect(body).toEqual({ success: true, data: { message: 'Domain group deleted.' } })
    expect((await service.send('DELETE', `/domaingroups?id=${id}`)).body).toEqual(refusal('not_found'))
    expect((await service.get('/domaingroups')).body.data.count).toBe(1)
    expect((await ask(service, 'POST /domaingroups', { name: 'SALES' })).body.success).toBe(true)
  })

  it('[members-stay-monitored] leaves its members monitored, and in their other groups', async ({ service }) => {
    await ask(service, 'POST /domaingroups', { name: 'Other', domains: ['one.example'] })
    await ask(service, 'DELETE /domaingroups?id={Marketing}')
    expect(await domainsOf(service)).toEqual(KEPT)
    expect(await membersOf(service, 'Other')).toEqual(['one.example'])
  })
})

describe('A key', () => {
  it('[several-keys] is one of several of its account, each for the same domains and groups', async ({ service }) => {
    await ask(service, 'POST /domains', { domains: ['new.example'] }, withKey(SECOND_KEY))
    expect(await domainsOf(service)).toContain('new.example')
  })

  it.for([
    ['disabled', disableKey],
    ['deleted', deleteKey],
  ] as const)('[key-switched-off] is refused from the moment it is %s, and no other', async ([, end], { service }) => {
    expect((await ask(service, 'GET /domains', undefined, withKey(SECOND_KEY))).status).toBe(200)
    await end(service, SECOND_KEY)
    expect((await ask(service, 'GET /domains', undefined, withKey(SECOND_KEY))).body).toEqual(refusal('unauthorized'))
    expect((await service.get('/domains')).status).toBe(200)
  })

  it('[key-shown-once] is kept as its hash alone, and shown in no answer', async ({ service }) => {
    const kept = JSON.stringify(await stateOf(service))
    expect(kept).toContain(hashKey(API_KEY))
    const secret = API_KEY.split('.')[1] ?? ''
    expect(kept).not.toContain(secret)
    for (const operation of ALL) {
      const { text, headers } = await send(service, operation, ACCEPTED[operation] ?? {})
      expect(text + JSON.stringify(headers)).not.toContain(secret)
    }
  })
})

describe('DMARC data', () => {
  it('[daily-refresh] are new once a day, and byte for byte the same until then', async ({ service }) => {
    const days = new Set<string>()
    service.advance(UNTIL_REFRESH)
    for (let day = 0; day < 5; day++) {
      const { text } = await service.get('/dmarc')
      days.add(text)
      service.advance(DAY - 1)
      expect((await service.get('/dmarc')).text).toBe(text)
      service.advance(1)
    }
    expect(days.size).toBe(5)
  })

  test.each([
    ['60 seconds before a refresh have figures then', 60_000, true],
    ['59.999 seconds before a refresh have none until the next', 59_999, false],
  ])('[background-processing] of a domain added %s', async (_, before, processed) => {
    // Large enough to have mail in a minute.
    const former = { name: 'one.example', profile: 'enforced', volume: 4_000_000, policy: { p: 'reject' } } as const
    const service = await startService({ fixture: { former_domains: [former] } })
    service.advance(UNTIL_REFRESH - before)
    await ask(service, 'POST /domains', { domains: ['one.example'] })
    service.advance(before)
    const [{ p, count }] = (await service.get('/dmarc')).body.data
    expect([p, count > 0]).toEqual(processed ? ['reject', true] : ['none', false])
    expect(count).toBeLessThan(1000)
    service.advance(DAY)
    const [next] = (await service.get('/dmarc')).body.data
    expect(next.p).toBe('reject')
    expect(next.count).toBeGreaterThan(50_000)
  })
})

describe('A DMARC status record', () => {
  it('[one-record-per-domain] is there for each domain, in the order in which they were added', async ({ service }) => {
    await ask(service, 'POST /domains', { domains: ['zebra.example', 'ape.example'] })
    await ask(service, 'DELETE /domains', { domains: ['two.example'] })
    const { body } = await service.get('/dmarc')
    const described = body.data.map(({ domain }: { domain: string }) => domain)
    expect(described).toEqual(await domainsOf(service))
    expect(described).toHaveLength(6)
  })

  it('has ten fields in one order', async ({ service }) => {
    for (const record of (await service.get('/dmarc')).body.data) {
      expect(Object.keys(record).join()).toBe('domain,p,sp,np,pct,testing,dmarc,dkim,spf,count')
    }
  })
})
