import { describe, expect, it } from 'vitest'
import { ACCOUNT, DAY, HOUR, pathOf, stateOf } from '../../support/account.ts'
import { startService } from '../../support/service.ts'
import { domainsOf, membersOf, refusal } from './endpoints.ts'

/** From the start of a test to the next midnight in UTC. */
const UNTIL_REFRESH = 14.5 * HOUR

describe('What the service does', () => {
  it('monitors domains and reports their DMARC status', async () => {
    const service = await startService()
    await service.send('POST', '/domains', { domains: ['one.example'] })
    expect((await service.get('/dmarc')).body.data).toMatchObject([{ domain: 'one.example' }])
  })

  it('lets a caller list, add and remove monitored domains', async () => {
    const service = await startService()
    await service.send('POST', '/domains', { domains: ['one.example', 'two.example'] })
    await service.send('DELETE', '/domains', { domains: ['one.example'] })
    expect(await domainsOf(service)).toEqual(['two.example'])
  })

  it('lets a caller read DMARC, DKIM and SPF alignment figures for every monitored domain', async () => {
    const service = await startService({ fixture: ACCOUNT })
    for (const { dmarc, dkim, spf } of (await service.get('/dmarc')).body.data) {
      expect([typeof dmarc, typeof dkim, typeof spf]).toEqual(['number', 'number', 'number'])
    }
  })

  it('lets a caller create, read, modify and delete domain groups, each a name and a list of members', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('POST', '/domaingroups', { name: 'Support', domains: ['one.example'] })
    const path = await pathOf(service, 'Support')
    expect((await service.get(path)).body.data.group).toMatchObject({ name: 'Support', domains: ['one.example'] })
    await service.send('PATCH', path, { name: 'Help', domains: ['two.example'] })
    expect((await service.get(path)).body.data.group).toMatchObject({ name: 'Help', domains: ['two.example'] })
    await service.send('DELETE', path)
    expect((await service.get(path)).body).toEqual(refusal('not_found'))
  })

  it.each([
    ['stone', 200],
    ['above-stone', 200],
    ['below-stone', 403],
  ])('[stone-plan-required] answers an account on the plan %s with %i', async (plan, status) => {
    const service = await startService({ plan })
    expect((await service.get('/domains')).status).toBe(status)
  })

  it('[stone-plan-required] refuses an account below Stone with `unauthorized`', async () => {
    const service = await startService({ plan: 'below-stone' })
    expect((await service.get('/domains')).body).toEqual(refusal('unauthorized'))
  })

  it('[daily-refresh] gives no new data when DMARC status is read more than once a day', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const first = await service.get('/dmarc')
    service.advance(UNTIL_REFRESH - 1)
    expect((await service.get('/dmarc')).text).toBe(first.text)
    service.advance(1)
    expect((await service.get('/dmarc')).text).not.toBe(first.text)
  })

  it('[daily-refresh] refreshes DMARC data once a day', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const days: string[] = []
    for (let day = 0; day < 5; day++) {
      days.push((await service.get('/dmarc')).text)
      service.advance(DAY)
    }
    expect(new Set(days).size).toBe(5)
  })

  it('[background-processing] reports figures for an added domain from the first refresh after its processing', async () => {
    const service = await startService()
    await service.send('POST', '/domains', { domains: ['one.example'] })
    service.advance(HOUR)
    expect((await service.get('/dmarc')).text).toBe(
      '{"success":true,"data":[{"domain":"one.example","p":"none","sp":"none","np":"none","pct":100,"testing":"n",' +
        '"dmarc":0.0,"dkim":0.0,"spf":0.0,"count":0}]}',
    )
    service.advance(UNTIL_REFRESH - HOUR)
    const [refreshed] = (await service.get('/dmarc')).body.data
    expect(refreshed.count).toBeGreaterThan(0)
    expect(refreshed.dmarc).toBeGreaterThan(0)
  })

  it.each([
    ['60 seconds before a refresh has figures then', 60_000, true],
    ['59.999 seconds before a refresh has none until the next', 59_999, false],
  ])('[background-processing] a domain added %s', async (_, before, processed) => {
    // Large enough to have mail in a minute.
    const former = { name: 'one.example', profile: 'enforced', volume: 4_000_000 } as const
    const service = await startService({ fixture: { former_domains: [former] } })
    service.advance(UNTIL_REFRESH - before)
    await service.send('POST', '/domains', { domains: ['one.example'] })
    service.advance(before)
    const [record] = (await service.get('/dmarc')).body.data
    expect(record.count > 0).toBe(processed)
    service.advance(DAY)
    const [next] = (await service.get('/dmarc')).body.data
    expect(next.count).toBeGreaterThan(0)
  })
})

describe('A monitored domain', () => {
  it('is a string in arrays of the domain endpoints', async () => {
    const service = await startService()
    const added = await service.send('POST', '/domains', { domains: ['one.example'] })
    const listed = await service.get('/domains')
    const deleted = await service.send('DELETE', '/domains', { domains: ['one.example'] })
    for (const { body } of [added, listed, deleted]) expect(body.data.domains).toEqual(['one.example'])
  })
})

describe('A DMARC status record', () => {
  it('[one-record-per-domain] is returned for each monitored domain, in the order in which they were added', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('POST', '/domains', { domains: ['zebra.example', 'ape.example'] })
    await service.send('DELETE', '/domains', { domains: ['two.example'] })
    const { body } = await service.get('/dmarc')
    const described = body.data.map(({ domain }: { domain: string }) => domain)
    expect(described).toEqual(await domainsOf(service))
    expect(described).toHaveLength(6)
  })

  it.each([
    ['domain', 'string'],
    ['p', 'string'],
    ['sp', 'string'],
    ['np', 'string'],
    ['pct', 'integer'],
    ['testing', 'string'],
    ['dmarc', 'number'],
    ['dkim', 'number'],
    ['spf', 'number'],
    ['count', 'integer'],
  ])('has the field `%s`, a %s', async (field, type) => {
    const service = await startService({ fixture: 'demo' })
    for (const record of (await service.get('/dmarc')).body.data) {
      expect(typeof record[field]).toBe(type === 'integer' ? 'number' : type)
      if (type === 'integer') expect(Number.isInteger(record[field])).toBe(true)
    }
  })

  it('has no field beside those ten', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const [record] = (await service.get('/dmarc')).body.data
    expect(Object.keys(record)).toEqual(
      ['domain', 'p', 'sp', 'np', 'pct', 'testing', 'dmarc', 'dkim', 'spf', 'count'], //
    )
  })

  it('has a policy of DMARC in p, sp and np', async () => {
    const service = await startService({ fixture: 'demo' })
    for (const { p, sp, np } of (await service.get('/dmarc')).body.data) {
      for (const policy of [p, sp, np]) expect(['none', 'quarantine', 'reject']).toContain(policy)
    }
  })

  it('says `reject` for some domain of the demonstration', async () => {
    const service = await startService({ fixture: 'demo' })
    const { body } = await service.get('/dmarc')
    expect(body.data.map(({ p }: { p: string }) => p)).toContain('reject')
  })

  it('has `y` or `n` in testing', async () => {
    const service = await startService({ fixture: 'demo' })
    for (const { testing } of (await service.get('/dmarc')).body.data) expect(['y', 'n']).toContain(testing)
  })

  it('has shares from 0 to 100 percent that add up: DMARC passes where DKIM or SPF is aligned', async () => {
    const service = await startService({ fixture: 'demo' })
    for (const { dmarc, dkim, spf, count } of (await service.get('/dmarc')).body.data) {
      expect(dmarc).toBeGreaterThanOrEqual(Math.max(dkim, spf))
      expect(dmarc).toBeLessThanOrEqual(Math.min(100, dkim + spf) + 1e-9)
      expect(Math.min(dkim, spf)).toBeGreaterThanOrEqual(0)
      if (count === 0) expect([dmarc, dkim, spf]).toEqual([0, 0, 0])
    }
  })

  it('writes every share with one decimal', async () => {
    const service = await startService({ fixture: 'demo' })
    const { text, body } = await service.get('/dmarc')
    const shares = text.match(/"(?:dmarc|dkim|spf)":[^,}]*/g)
    expect(shares).toHaveLength(body.data.length * 3)
    for (const share of shares ?? []) expect(share).toMatch(/:\d{1,3}\.\d$/)
  })
})

describe('A domain group', () => {
  it('has a short id that the service assigns, a name and domains', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('POST', '/domaingroups', { name: 'Support', domains: ['one.example'] })
    expect(body.data.group).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{8}$/),
      name: 'Support',
      domains: ['one.example'],
    })
  })

  it('has an id that no other group has or had', async () => {
    const service = await startService()
    const ids = new Set<string>()
    for (let round = 0; round < 40; round++) {
      const { body } = await service.send('POST', '/domaingroups', { name: 'Again' })
      ids.add(body.data.group.id)
      await service.send('DELETE', `/domaingroups?id=${body.data.group.id}`)
    }
    expect(ids.size).toBe(40)
  })

  it.each([
    ['may have one character', 'x', undefined],
    ['may have 100 characters', 'x'.repeat(100), undefined],
    ['may not be empty', '', 'invalid_name'],
    ['may not have 101 characters', 'x'.repeat(101), 'invalid_name'],
  ])('[name-length] has a name that %s', async (_, name, code) => {
    const service = await startService()
    const { body } = await service.send('POST', '/domaingroups', { name })
    expect(body.error?.code).toBe(code)
  })

  it('[name-unique] has a name that no other group of the account has in any case', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('POST', '/domaingroups', { name: 'mARKETING' })
    expect(body).toEqual(refusal('duplicate_name'))
  })

  it('[members-monitored] has no member that is not monitored: the request fails and no group is created', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    const { body } = await service.send('POST', '/domaingroups', {
      name: 'Support',
      domains: ['one.example', 'stranger.example'],
    })
    expect(body).toEqual(refusal('not_monitored'))
    expect(await stateOf(service)).toEqual(before)
  })

  it('[members-stay-monitored] keeps its members monitored, and in their other groups, when it is deleted', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('POST', '/domaingroups', { name: 'Other', domains: ['one.example'] })
    const before = await domainsOf(service)
    const { body } = await service.send('DELETE', await pathOf(service, 'Marketing'))
    expect(body.success).toBe(true)
    expect(await domainsOf(service)).toEqual(before)
    expect(await membersOf(service, 'Other')).toEqual(['one.example'])
  })
})
