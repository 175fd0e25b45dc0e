import { afterAll, describe, expect, it } from 'vitest'
import type { MonitoredDomainReport } from '../../src/contract/control-plane.ts'
import { type ControlPlane, openControlPlane, startControlPlane } from '../support/control-plane.ts'

const NOW = '2026-01-15T09:00:00Z'
/** A server for tests that change only accounts of their own. */
const shared = await openControlPlane({ enforceQuotas: false })
afterAll(shared.stop)

/** An account of this fixture. */
async function accountOf(fixture: object = { domains: ['a.example', 'xn--bcher-kva.example'] }) {
  const { id, key } = await shared.create({ fixture, now: NOW })
  const path = `/accounts/${id}`
  return {
    ...{ path, key },
    record: async () => (await shared.ask(key, 'GET', '/dmarc')).body.data[0],
    domains: async (): Promise<MonitoredDomainReport[]> => (await shared.get(`${path}/domains`)).data.domains,
  }
}

describe('the list of domains', () => {
  it('says what the figures of a domain are made from', async () => {
    const { domains } = await accountOf({
      domains: [
        { name: 'a.example', profile: 'spoofed', since: 'P6D', volume: 3000, policy: { p: 'reject', sp: 'none' } },
        { name: 'b.a.example', profile: 'no-record', added_at: 'P2D', record: { count: 7 } },
        { name: 'c.example', added_at: 'PT1M', policy: { p: 'reject' } },
      ],
    })
    const [above, below, fresh] = await domains()
    expect(above).toMatchObject({
      ...{ domain: 'a.example', added_at: '2024-12-11T09:00:00Z', features: [], profile: 'spoofed', volume: 3000 },
      ...{ inherits_from: null, pinned: {} },
      ...{ policy: { p: 'reject', sp: 'none' }, record: { p: 'reject', sp: 'none' } },
    })
    expect(above?.events).toContainEqual({
      kind: 'attack',
      state: 'present',
      from: '2026-01-09',
      until: expect.stringMatching(/^2026-0[23]-\d\d$/),
      description: expect.stringMatching(/^Others forge mail in its name, about [\d,]+ messages a day\.$/),
    })
    expect(below).toMatchObject({
      policy: null,
      inherits_from: 'a.example',
      pinned: { count: 7 },
      record: { count: 7 },
    })
    // Its policy is known before GET /dmarc shows it.
    expect(fresh).toMatchObject({ policy: { p: 'reject' }, record: { p: 'none', count: 0 } })
  })
})

it('Features of a domain keep it from being removed until there are none', async () => {
  const { path, key } = await accountOf()
  const features = `${path}/domains/a.example/features`
  const { data } = await shared.put(features, { features: ['mta-sts', 'bimi'] })
  expect(data).toMatchObject({ domain: 'a.example', features: ['mta-sts', 'bimi'] })
  const removal = () => shared.ask(key, 'DELETE', '/domains', { domains: ['a.example'] })
  expect((await removal()).body.error.message).toContain('mta-sts, bimi')
  expect((await shared.put(features, { features: [] })).data.features).toEqual([])
  expect((await removal()).status).toBe(200)
  expect(await shared.put(features, { features: [] })).toMatchObject({ status: 404, error: { code: 'not_found' } })
})

it.each([
  ['a.example', 'a.example'],
  ['A.EXAMPLE.', 'a.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['B%C3%9CCHER.example', 'xn--bcher-kva.example'],
  ...['b.example', '%20', '__proto__', 'a.example%2Fb'].map((spelt) => [spelt, 'none']),
])('A domain in a path: %s is %s', async (spelt, domain) => {
  const path = `${(await accountOf()).path}/domains/${spelt}`
  const found = domain !== 'none'
  const expected = found ? { status: 200, data: { domain } } : { status: 404, error: { code: 'not_found' } }
  expect(await shared.put(`${path}/features`, { features: [] })).toMatchObject(expected)
  expect(await shared.put(`${path}/dmarc`, { p: 'none' })).toMatchObject(expected)
  expect(await shared.delete(`${path}/dmarc`)).toMatchObject(expected)
})

describe('a pinned record', () => {
  it('has the fixed fields at once and on every day, and follows its figures again after them', async () => {
    const { path, record, domains } = await accountOf()
    const profile = async () => (await domains())[0]?.profile
    const pinned = `${path}/domains/a.example/dmarc`
    const [before, own] = [await record(), await profile()]
    const pin = { p: 'quarantine', pct: 25, testing: 'y', dmarc: 80.5, dkim: 70, spf: 60, count: 1234 }
    const { data } = await shared.put(pinned, { ...pin, profile: 'spoofed' })
    expect(data.record).toEqual({ domain: 'a.example', sp: 'quarantine', np: 'quarantine', ...pin })
    expect([await profile(), await record()]).toEqual(['spoofed', data.record])
    await shared.patch(`${path}/clock`, { advance: 'P3D' })
    expect(await record()).toEqual(data.record)
    await shared.delete(pinned)
    await shared.patch(`${path}/clock`, { advance: 'P1D' })
    const after = await record()
    expect(after.count).not.toBe(1234)
    expect([after.p, after.pct, await profile()]).toEqual([before.p, before.pct, own])
  })
})

const FIXTURE = {
  domains: ['one.example', 'two.example', { name: 'used.example', features: ['mta-sts'] }],
  groups: [
    { id: 'aaaaaaaa', name: 'Shop', domains: ['one.example'] },
    { id: 'bbbbbbbb', name: 'Mail', domains: [] },
  ],
}
const many = Array.from({ length: 51 }, (_, index) => `d${index}.example`)

/** A change here, and the same at the service. `group` is the id in the path, or in the query. */
const CHANGES: readonly [
  method: 'POST' | 'PATCH' | 'DELETE',
  what: 'domains' | 'groups',
  body: unknown,
  group?: string,
][] = [
  ['POST', 'domains', { domains: ['New.example', 'three.example.'] }],
  ['POST', 'domains', { domains: ['no host', 'fine.example', '192.0.2.1'] }],
  ['POST', 'domains', { domains: many }],
  ['POST', 'domains', { domain: ['a.example'], colour: 'red' }],
  ['POST', 'domains', { domains: [`${'x'.repeat(1 << 20)}.example`] }],
  ['DELETE', 'domains', { domains: ['two.example', 'one.example'] }],
  ['POST', 'groups', { name: 'New', domains: ['two.example', 'two.example'] }],
  ['PATCH', 'groups', { name: 'Store', add_domains: ['two.example'], remove_domains: ['one.example'] }, 'aaaaaaaa'],
  ['PATCH', 'groups', { domains: [], add_domains: [] }, 'aaaaaaaa'],
  ['DELETE', 'groups', undefined, 'aaaaaaaa'],
  ['DELETE', 'groups', undefined, 'nothing'],
]

/** Two equal accounts: what is asked of one by the service is asked of the other by the control plane. */
async function createTwins({ create }: ControlPlane) {
  const same = { fixture: FIXTURE, seed: 7, now: NOW, frozen: true }
  return [(await create(same)).id, await create(same)] as const
}

describe('domains and groups are set up', () => {
  it.each(CHANGES)('as the service changes them: %s …/%s %j', async (method, what, body, group) => {
    const [mine, twin] = await createTwins(shared)
    const path = what === 'domains' ? '/domains' : '/domaingroups'
    const asked = await shared.ask(twin.key, method, path + (group === undefined ? '' : `?id=${group}`), body)
    const target = `/accounts/${mine}/${what}${group === undefined ? '' : `/${group}`}`
    const answer = await shared.send(method, target, body)
    if (asked.status === 200) {
      expect(answer.status, answer.text).toBe(method === 'POST' ? 201 : 200)
      const { message: _message, ...data } = asked.body.data
      const created = { group: { ...data.group, id: expect.any(String) } }
      expect(answer.data).toEqual(method === 'POST' && what === 'groups' ? created : data)
    } else {
      const { code, message } = asked.body.error
      expect([answer.status, answer.error.code]).toEqual([409, 'refused'])
      expect(answer.error.message).toBe(`The service refuses this with ${code}: ${message}`)
      expect(answer.error.problems[0]).toMatchObject({ code, message })
    }
    // The accounts hold the same, but for the ids of new groups, which are unique in the whole service.
    const held = async (id: string) => {
      const { domains, groups } = (await shared.get(`/accounts/${id}/state`)).data
      return { domains, groups: groups.map(({ id: _id, ...rest }: { id: string }) => rest) }
    }
    expect(await held(mine)).toEqual(await held(twin.id))
  })

  it('without quota, fault, journal, coverage and verdict, also where no request would be admitted', async () => {
    const plane = await startControlPlane({ fixture: FIXTURE })
    const path = '/accounts/default'
    await plane.post(`${path}/faults`, { respond: { status: 503 } })
    await plane.patch(`${path}/quotas`, { bucket: 'domains', remaining: 0 })
    await plane.patch(path, { plan: 'below-stone' })
    const read = () =>
      Promise.all(['quotas', 'coverage', 'faults', 'requests'].map((part) => plane.get(`${path}/${part}`)))
    const before = (await read()).map(({ data }) => data)
    expect((await plane.post(`${path}/domains`, { domains: ['a.example'] })).status).toBe(201)
    expect((await plane.post(`${path}/groups`, { name: 'A', domains: ['a.example'] })).status).toBe(201)
    expect((await plane.post(`${path}/groups`, { nam: 'A' })).status).toBe(409)
    expect((await read()).map(({ data }) => data)).toEqual(before)
    expect((await plane.get('/verdict')).data).toMatchObject({ requests: 0, violations: { count: 0 } })
  })
})
