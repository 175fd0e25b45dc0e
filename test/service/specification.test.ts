import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { rulesOf } from '../../src/contract/document.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import {
  ACCOUNT,
  changeAccount,
  DAY,
  DISABLED_KEY,
  deleteKey,
  disableKey,
  HOUR,
  instant,
  pathOf,
  SECOND_KEY,
  stateOf,
  withKey,
} from '../support/account.ts'
import { API_KEY, START, startService, type TestResponse, type TestService } from '../support/service.ts'

/** From the start of a test to the next midnight in UTC. */
const UNTIL_REFRESH = 14.5 * HOUR
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Every endpoint with a request that it accepts. */
const ENDPOINTS: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/dmarc'],
  ['GET', '/domains'],
  ['POST', '/domains', { domains: ['new.example'] }],
  ['DELETE', '/domains', { domains: ['two.example'] }],
  ['GET', '/domaingroups'],
  ['POST', '/domaingroups', { name: 'Support' }],
  ['PATCH', '/domaingroups?id={Sales}', { add_domains: ['one.example'] }],
  ['DELETE', '/domaingroups?id={Sales}'],
]

/** Sends a request of the table above. */
async function call(
  service: TestService,
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string | null>,
): Promise<TestResponse> {
  return service.send(method, path.replace('/domaingroups?id={Sales}', await pathOf(service, 'Sales')), body, headers)
}

async function domainsOf(service: TestService): Promise<string[]> {
  return (await service.get('/domains')).body.data.domains
}

async function membersOf(service: TestService, group: string): Promise<string[]> {
  return (await service.get(await pathOf(service, group))).body.data.group.domains
}

function refusal(code: string): object {
  return { success: false, error: { code, message: expect.stringMatching(/./) } }
}

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
    const service = await startService()
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

describe('Every endpoint', () => {
  it.each(ENDPOINTS)('[key-required] %s %s requires authentication', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const refused = await call(service, method, path, body, { authorization: null })
    expect(refused.body).toEqual(refusal('unauthorized'))
    expect((await call(service, method, path, body)).body.success).toBe(true)
  })

  it.each(ENDPOINTS)('%s %s succeeds with the envelope {success, data}', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await call(service, method, path, body)
    expect(response.body).toEqual({ success: true, data: expect.anything() })
  })

  it.each(ENDPOINTS)('%s %s fails with the envelope {success, error: {code, message}}', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT, plan: 'below-stone' })
    const { body: failure } = await call(service, method, path, body)
    expect(failure).toEqual({
      success: false,
      error: { code: expect.any(String), message: expect.any(String) },
    })
  })

  it.each(ENDPOINTS)('%s %s carries X-Request-Id in success and failure', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const failure = await call(service, method, path, body, { authorization: null })
    const success = await call(service, method, path, body)
    for (const { headers } of [failure, success]) expect(headers['x-request-id']).toMatch(UUID)
  })

  it.each(ENDPOINTS)('%s %s is accompanied by rate-limit headers', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const { headers } = await call(service, method, path, body)
    for (const name of ['limit', 'remaining', 'reset']) expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/)
  })

  it.each(ENDPOINTS.filter(([, , body]) => body !== undefined))(
    '%s %s wants Content-Type: application/json and a JSON object',
    async (method, path, body) => {
      const service = await startService({ fixture: ACCOUNT })
      const bare = await call(service, method, path, body, { 'content-type': 'text/plain' })
      expect(bare.body).toEqual(refusal('invalid_request_body'))
      expect((await call(service, method, path, [body])).body).toEqual(refusal('invalid_request_body'))
    },
  )

  it.each(ENDPOINTS)('%s %s lies below the version segment /api/v1 and nowhere else', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    expect(service.baseUrl).toMatch(/\/api\/v1$/)
    expect((await call(service, method, path, body)).body.success).toBe(true)
    for (const base of ['', '/api', '/v1', '/api/v2']) {
      const response = await fetch(new URL(base + path, service.baseUrl), {
        method,
        headers: { authorization: `Bearer ${API_KEY}` },
      })
      expect(response.status).toBe(404)
    }
  })
})

describe('GET /dmarc', () => {
  it('returns an array of records as data', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.get('/dmarc')).body.data).toHaveLength(5)
  })

  it('returns an empty array for an account that monitors nothing', async () => {
    const service = await startService()
    expect((await service.get('/dmarc')).text).toBe('{"success":true,"data":[]}')
  })
})

describe('GET /domains', () => {
  it('[all-domains-listed] returns all monitored domains of the account, in the order in which they were added', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('POST', '/domains', { domains: ['zebra.example', 'ape.example'] })
    expect((await service.get('/domains')).body).toEqual({
      success: true,
      data: {
        domains: [
          ...['one.example', 'two.example', 'three.example', 'busy.example', 'used.example'],
          ...['zebra.example', 'ape.example'],
        ],
      },
    })
  })
})

describe('POST /domains', () => {
  it('[count-of-added] answers a message, the domains and how many were added', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('POST', '/domains', { domains: ['a.example', 'b.example'] })).body).toEqual({
      success: true,
      data: {
        message: 'Domains added. Background processing has started.',
        domains: ['a.example', 'b.example'],
        count: 2,
      },
    })
  })

  it('requires domains', async () => {
    const service = await startService()
    expect((await service.send('POST', '/domains', {})).body).toEqual(refusal('missing_field'))
  })

  it('[valid-hostnames] refuses an entry that is no valid hostname', async () => {
    const service = await startService()
    const { body } = await service.send('POST', '/domains', { domains: ['fine.example', 'not a host'] })
    expect(body).toEqual(refusal('invalid_domain'))
    expect(await domainsOf(service)).toEqual([])
  })

  it.each([
    ['twice in one request', ['new.example', 'new.example']],
    ['twice in one request, in two spellings', ['new.example', 'NEW.example.']],
    ['that is monitored already', ['new.example', 'one.example']],
  ])('[no-duplicates] refuses a domain %s', async (_, domains) => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('POST', '/domains', { domains })).body).toEqual(refusal('invalid_domain'))
    expect(await domainsOf(service)).not.toContain('new.example')
  })

  it('[at-most-50-domains] accepts 50 domains in a request and refuses 51', async () => {
    const service = await startService()
    const domains = Array.from({ length: 51 }, (_, index) => `host-${index}.example`)
    expect((await service.send('POST', '/domains', { domains })).body).toEqual(refusal('request_too_large'))
    const { body } = await service.send('POST', '/domains', { domains: domains.slice(1) })
    expect(body.data.count).toBe(50)
  })

  it('[background-processing] says that background processing has started', async () => {
    const service = await startService()
    const { body } = await service.send('POST', '/domains', { domains: ['new.example'] })
    expect(body.data.message).toMatch(/background processing/i)
  })
})

describe('DELETE /domains', () => {
  it('[deleted-domains-answered] answers a message, the domains and how many were removed', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('DELETE', '/domains', { domains: ['two.example', 'one.example'] })).body).toEqual({
      success: true,
      data: { message: 'Domains removed.', domains: ['two.example', 'one.example'], count: 2 },
    })
    expect(await domainsOf(service)).toEqual(['three.example', 'busy.example', 'used.example'])
  })

  it('requires domains', async () => {
    const service = await startService()
    expect((await service.send('DELETE', '/domains', {})).body).toEqual(refusal('missing_field'))
  })

  it('[domain-in-use-stays] does not remove a domain that a monitoring feature uses', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('DELETE', '/domains', { domains: ['one.example', 'used.example'] })
    expect(body).toEqual(refusal('domain_delete_failed'))
    expect(await domainsOf(service)).toEqual(expect.arrayContaining(['one.example', 'used.example']))
  })

  it('[domain-in-use-stays] removes a domain once no monitoring feature uses it', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await changeAccount(service, (state) => ({
      ...state,
      domains: state.domains.with([['used.example', { name: 'used.example', addedAt: START, features: [] }]]),
    }))
    const { body } = await service.send('DELETE', '/domains', { domains: ['used.example'] })
    expect(body.data.count).toBe(1)
  })

  it('takes a removed domain out of its groups', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('DELETE', '/domains', { domains: ['one.example'] })
    expect(await membersOf(service, 'Marketing')).toEqual(['used.example'])
  })
})

describe('GET /domaingroups', () => {
  it('[groups-with-count] returns all groups and their count without id', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const id = expect.stringMatching(/^[0-9A-Za-z]{8}$/)
    expect((await service.get('/domaingroups')).body).toEqual({
      success: true,
      data: {
        groups: [
          { id, name: 'Marketing', domains: ['one.example', 'used.example'] },
          { id, name: 'Sales', domains: [] },
        ],
        count: 2,
      },
    })
  })

  it('[one-group-by-id] returns one group with its id', async () => {
    const service = await startService({ fixture: ACCOUNT })
    for (const group of (await service.get('/domaingroups')).body.data.groups) {
      expect((await service.get(`/domaingroups?id=${group.id}`)).body).toEqual({ success: true, data: { group } })
    }
  })

  it('[unknown-id-read] answers an unknown id with `not_found`', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.get('/domaingroups?id=00000000')).body).toEqual(refusal('not_found'))
  })
})

describe('POST /domaingroups', () => {
  it('requires a name', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('POST', '/domaingroups', { domains: ['one.example'] })
    expect(body).toEqual(refusal('missing_field'))
  })

  it('creates an empty group without domains', async () => {
    const service = await startService()
    const { body } = await service.send('POST', '/domaingroups', { name: 'Support' })
    expect(body.data.group).toMatchObject({ name: 'Support', domains: [] })
  })

  it('[members-in-the-same-call] creates a group with its members in the same call', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const domains = ['two.example', 'one.example']
    const { body } = await service.send('POST', '/domaingroups', { name: 'Support', domains })
    expect(body.data.group.domains).toEqual(domains)
    expect(await membersOf(service, 'Support')).toEqual(domains)
  })
})

describe('PATCH /domaingroups', () => {
  it.each(['/domaingroups', '/domaingroups?id='])('[update-needs-id] answers %s with `missing_id`', async (path) => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('PATCH', path, { name: 'Support' })).body).toEqual(refusal('missing_id'))
  })

  it('[unknown-id-update] answers an unknown id with `not_found`', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('PATCH', '/domaingroups?id=00000000', { name: 'Support' })
    expect(body).toEqual(refusal('not_found'))
  })

  it('[update-needs-a-field] answers a body without any field with `no_fields_to_update`', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('PATCH', await pathOf(service, 'Sales'), {})
    expect(body).toEqual(refusal('no_fields_to_update'))
  })

  it.each([
    ['name', 'Support'],
    ['domains', ['one.example']],
    ['add_domains', ['one.example']],
    ['remove_domains', ['one.example']],
    ['domains', []],
    ['add_domains', []],
    ['remove_domains', []],
  ])('[update-needs-a-field] takes the field `%s` alone, as %j', async (field, value) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await service.send('PATCH', await pathOf(service, 'Sales'), { [field]: value })
    expect(response.body.success).toBe(true)
  })

  it('[new-name-unique] gives a group another name and keeps its id and members', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const path = await pathOf(service, 'Marketing')
    const { group } = (await service.get(path)).body.data
    const { body } = await service.send('PATCH', path, { name: 'Campaigns' })
    expect(body.data.group).toEqual({ ...group, name: 'Campaigns' })
    expect((await service.get(path)).body.data.group).toEqual({ ...group, name: 'Campaigns' })
  })

  it.each([
    ['that another group has in any case', 'marketing', 'duplicate_name'],
    ['of 101 characters', 'x'.repeat(101), 'invalid_name'],
    ['of no character', '', 'invalid_name'],
  ])('[new-name-unique] refuses a new name %s', async (_, name, code) => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('PATCH', await pathOf(service, 'Sales'), { name })
    expect(body).toEqual(refusal(code))
  })

  it('[domains-replace-members] replaces all members by `domains`', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const domains = ['three.example', 'one.example']
    const { body } = await service.send('PATCH', await pathOf(service, 'Marketing'), { domains })
    expect(body.data.group.domains).toEqual(domains)
    expect(await membersOf(service, 'Marketing')).toEqual(domains)
  })

  it('[additions-keep-members] adds `add_domains` and leaves existing members untouched', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('PATCH', await pathOf(service, 'Marketing'), { add_domains: ['two.example', 'one.example'] })
    expect(await membersOf(service, 'Marketing')).toEqual(['one.example', 'used.example', 'two.example'])
  })

  it('[unknown-removals-ignored] removes `remove_domains` and ignores unrecognised entries', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await service.send('PATCH', await pathOf(service, 'Marketing'), {
      remove_domains: ['ONE.example.', 'two.example', 'stranger.example', 'not a host', ''],
    })
    expect(response.body.success).toBe(true)
    expect(await membersOf(service, 'Marketing')).toEqual(['used.example'])
  })

  it.each([['add_domains'], ['remove_domains']])(
    '[no-mixed-changes] refuses `domains` together with `%s`',
    async (other) => {
      const service = await startService({ fixture: ACCOUNT })
      const changes = { domains: ['one.example'], [other]: ['two.example'] }
      const { body } = await service.send('PATCH', await pathOf(service, 'Marketing'), changes)
      expect(body).toEqual(refusal('conflicting_fields'))
    },
  )

  it('[additions-before-removals] applies additions first, then removals', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('PATCH', await pathOf(service, 'Marketing'), {
      add_domains: ['two.example', 'three.example'],
      remove_domains: ['two.example', 'one.example'],
    })
    expect(await membersOf(service, 'Marketing')).toEqual(['used.example', 'three.example'])
  })

  it('[members-monitored] refuses members that are not monitored', async () => {
    const service = await startService({ fixture: ACCOUNT })
    for (const field of ['domains', 'add_domains']) {
      const changes = { [field]: ['two.example', 'stranger.example'] }
      const { body } = await service.send('PATCH', await pathOf(service, 'Marketing'), changes)
      expect(body).toEqual(refusal('not_monitored'))
    }
    expect(await membersOf(service, 'Marketing')).toEqual(['one.example', 'used.example'])
  })
})

describe('DELETE /domaingroups', () => {
  it.each(['/domaingroups', '/domaingroups?id='])('[delete-needs-id] answers %s with `missing_id`', async (path) => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('DELETE', path)).body).toEqual(refusal('missing_id'))
  })

  it('[unknown-id-delete] answers an unknown id with `not_found`', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('DELETE', '/domaingroups?id=00000000')).body).toEqual(refusal('not_found'))
  })

  it('answers a message, and the group is gone', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const path = await pathOf(service, 'Sales')
    expect((await service.send('DELETE', path)).body).toEqual({
      success: true,
      data: { message: 'Domain group deleted.' },
    })
    expect((await service.send('DELETE', path)).body).toEqual(refusal('not_found'))
    expect((await service.get('/domaingroups')).body.data.count).toBe(1)
  })

  it('frees the name of the group', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('DELETE', await pathOf(service, 'Sales'))
    expect((await service.send('POST', '/domaingroups', { name: 'SALES' })).body.success).toBe(true)
  })
})

describe('Authentication', () => {
  it.each([
    ['no Authorization header', null],
    ['a key that no account has', 'Bearer key_Unknown0.000000000000000000000000000000000000000000000000'],
    ['a key without the scheme Bearer', API_KEY],
    ['a disabled key', `Bearer ${DISABLED_KEY}`],
  ])('[key-required] answers %s with `unauthorized`', async (_, authorization) => {
    const service = await startService({ fixture: ACCOUNT })
    const { body } = await service.send('GET', '/domains', undefined, { authorization })
    expect(body).toEqual(refusal('unauthorized'))
  })

  it('[several-keys] lets an account hold several keys, each for the same domains and groups', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await service.send('POST', '/domains', { domains: ['new.example'] }, withKey(SECOND_KEY))
    expect(await domainsOf(service)).toContain('new.example')
  })

  it('[key-switched-off] refuses a key from the moment it is disabled, and no other', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('GET', '/domains', undefined, withKey(SECOND_KEY))).status).toBe(200)
    await disableKey(service, SECOND_KEY)
    const { body } = await service.send('GET', '/domains', undefined, withKey(SECOND_KEY))
    expect(body).toEqual(refusal('unauthorized'))
    expect((await service.get('/domains')).status).toBe(200)
  })

  it('[key-switched-off] refuses a key from the moment it is deleted, and no other', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await service.send('GET', '/domains', undefined, withKey(SECOND_KEY))).status).toBe(200)
    await deleteKey(service, SECOND_KEY)
    const { body } = await service.send('GET', '/domains', undefined, withKey(SECOND_KEY))
    expect(body).toEqual(refusal('unauthorized'))
    expect((await service.get('/domains')).status).toBe(200)
  })

  it('[key-shown-once] keeps the hash of a key alone, and shows the key in no answer', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const kept = JSON.stringify(await stateOf(service))
    expect(kept).toContain(hashKey(API_KEY))
    const secret = API_KEY.split('.')[1] ?? ''
    expect(kept).not.toContain(secret)
    for (const [method, path, body] of ENDPOINTS) {
      const { text, headers } = await call(service, method, path, body)
      expect(text + JSON.stringify(headers)).not.toContain(secret)
    }
  })

  it('[grace-of-new-keys] gives a new key higher limits for one week', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: instant(0) }] } })
    const limit = async () =>
      Number((await service.send('GET', '/dmarc', undefined, withKey(SECOND_KEY))).headers['x-ratelimit-limit'])
    const older = Number((await service.get('/dmarc')).headers['x-ratelimit-limit'])
    expect(await limit()).toBeGreaterThan(older)
    service.advance(7 * DAY - 1)
    expect(await limit()).toBeGreaterThan(older)
    service.advance(1)
    expect(await limit()).toBe(older)
  })
})

describe('Another account', () => {
  const OTHER_KEY = 'key_TestKey4.000000000000000000000000000000000000000000000000'
  const asOther = withKey(OTHER_KEY)

  /** A service with the account of these tests and another one that has a domain and a group of the same names. */
  async function startWithTwo(): Promise<TestService> {
    const service = await startService({ fixture: ACCOUNT })
    const fixture = { domains: ['one.example'], groups: [{ name: 'Sales' }] }
    const birth = { id: 'other', seed: 7, real: START, apiKey: OTHER_KEY }
    await service.store.create(createAccount(fixture, birth, service.contract))
    return service
  }

  it('has domains and groups of its own', async () => {
    const service = await startWithTwo()
    expect((await service.send('GET', '/domains', undefined, asOther)).body.data.domains).toEqual(['one.example'])
    expect((await service.send('GET', '/dmarc', undefined, asOther)).body.data).toHaveLength(1)
    expect((await service.send('GET', '/domaingroups', undefined, asOther)).body.data.count).toBe(1)
  })

  it('[name-unique] may have a group of the same name and monitor the same domain', async () => {
    const service = await startWithTwo()
    const group = await service.send('POST', '/domaingroups', { name: 'Marketing' }, asOther)
    const domain = await service.send('POST', '/domains', { domains: ['two.example'] }, asOther)
    expect([group.status, domain.status]).toEqual([200, 200])
  })

  it.each([
    ['GET', undefined],
    ['PATCH', { name: 'Mine' }],
    ['DELETE', undefined],
  ])('cannot %s a group by its id', async (method, body) => {
    const service = await startWithTwo()
    const before = await stateOf(service)
    const response = await service.send(method, await pathOf(service, 'Marketing'), body, asOther)
    expect(response.body).toEqual(refusal('not_found'))
    expect(await stateOf(service)).toEqual(before)
  })

  it('[members-monitored] cannot make a member of a domain that only this one monitors', async () => {
    const service = await startWithTwo()
    const group = { name: 'Mine', domains: ['three.example'] }
    expect((await service.send('POST', '/domaingroups', group, asOther)).body).toEqual(refusal('not_monitored'))
  })

  it('keeps its domains when this one removes them', async () => {
    const service = await startWithTwo()
    await service.send('DELETE', '/domains', { domains: ['one.example'] })
    expect((await service.send('GET', '/domains', undefined, asOther)).body.data.domains).toEqual(['one.example'])
  })

  it('has limits of its own', async () => {
    const service = await startWithTwo()
    for (let request = 0; request < 11; request++) await service.get('/dmarc')
    expect((await service.send('GET', '/dmarc', undefined, asOther)).status).toBe(200)
  })
})

describe('Errors', () => {
  it.each<[code: string, meaning: string, method: string, path: string, body?: unknown, headers?: object]>([
    ['unauthorized', 'a missing key', 'GET', '/domains', undefined, { authorization: null }],
    ['invalid_json', 'a body that is not valid JSON', 'POST', '/domains', '{"domains":'],
    ['invalid_request_body', 'a missing body', 'POST', '/domains', '', { 'content-type': 'application/json' }],
    ['unknown_field', 'an unsupported field', 'POST', '/domains', { domains: ['a.example'], notes: '' }],
    ['missing_field', 'a missing required field', 'POST', '/domains', {}],
    ['invalid_field_type', 'a field of the wrong type', 'POST', '/domains', { domains: 'a.example' }],
    ['invalid_domain', 'invalid domain syntax', 'POST', '/domains', { domains: ['-'] }],
    ['domain_delete_failed', 'a domain that cannot be removed', 'DELETE', '/domains', { domains: ['used.example'] }],
    ['request_too_large', 'a body that is too large', 'POST', '/domains', ' '.repeat(1_048_577)],
    ['duplicate_name', 'a name that a group has already', 'POST', '/domaingroups', { name: 'Sales' }],
    ['not_monitored', 'an unmonitored domain', 'POST', '/domaingroups', { name: 'X', domains: ['stranger.example'] }],
    ['no_fields_to_update', 'an update without a field', 'PATCH', '/domaingroups?id=00000000', {}],
    ['conflicting_fields', 'mixed changes', 'PATCH', '/domaingroups?id=0', { domains: [], add_domains: [] }],
    ['not_found', 'an id that does not exist', 'GET', '/domaingroups?id=00000000'],
    ['missing_id', 'an absent id', 'DELETE', '/domaingroups'],
    ['invalid_name', 'an empty name', 'POST', '/domaingroups', { name: '' }],
  ])('answers `%s` for %s', async (code, _, method, path, body, headers) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await service.send(method, path, body, { ...headers })
    expect(response.body).toEqual(refusal(code))
  })

  it('answers `rate_limited` for too many requests', async () => {
    const service = await startService()
    for (let request = 0; request < 10; request++) await service.get('/dmarc')
    expect((await service.get('/dmarc')).body).toEqual(refusal('rate_limited'))
  })

  it('gives each failure an X-Request-Id of its own to quote to support', async () => {
    const service = await startService()
    const one = await service.get('/domaingroups?id=00000000')
    const two = await service.get('/domaingroups?id=00000000')
    expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id'])
  })
})

describe('Limits', () => {
  it.each([
    ['[dmarc-limit]', '/dmarc', 10],
    ['[domains-limit]', '/domains', 30],
    ['[domaingroups-limit]', '/domaingroups', 100],
  ])('%s allows %s %i requests per hour', async (_, path, limit) => {
    const service = await startService()
    for (let request = 1; request <= limit; request++) expect((await service.get(path)).status).toBe(200)
    expect((await service.get(path)).body).toEqual(refusal('rate_limited'))
    service.advance(HOUR)
    expect((await service.get(path)).status).toBe(200)
  })

  it('tells the allowed count, the requests left and, as a Unix timestamp, when the window ends', async () => {
    const service = await startService()
    const { headers } = await service.get('/domains')
    expect(headers['x-ratelimit-limit']).toBe('30')
    expect(headers['x-ratelimit-remaining']).toBe('29')
    expect(headers['x-ratelimit-reset']).toBe(String(Date.parse('2026-01-15T10:00:00Z') / 1000))
  })
})

describe('Versioning', () => {
  it('marks the field pct as deprecated, and no other', async () => {
    const { document } = await loadContract()
    const record = document.resolved.components?.schemas?.['DmarcRecord']
    const fields = Object.entries(record && 'properties' in record ? (record.properties ?? {}) : {})
    const deprecated = fields.filter(([, field]) => 'deprecated' in field && field.deprecated === true)
    expect(deprecated.map(([name]) => name)).toEqual(['pct'])
  })
})

describe('The rules of the contract', async () => {
  const { document } = await loadContract()
  const suites = await readSuites()

  it.each([...rulesOf(document)])('%s is named by a test: %s', (rule) => {
    expect(suites.includes(`[${rule}]`)).toBe(true)
  })
})

/** The source of every suite, in which the names of tests stand. */
async function readSuites(): Promise<string> {
  const folder = new URL('../', import.meta.url)
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.test.ts'))
  return (await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')))).join('\n')
}
