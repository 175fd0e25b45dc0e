import { describe, expect, it } from 'vitest'
import type { Fixture } from '../../src/domain/fixture.ts'
import type { ChangeReport } from '../../src/explain/changes.ts'
import { startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'
import { add, create, get, remove, SMALL, update } from './outcomes.ts'

const NOTHING = { changes: [], changes_count: 0, changes_note: null }
/** A group without members that came or went. */
const UNMOVED = { added: [], added_count: 0, removed: [], removed_count: 0 }

interface ChangeCase {
  name: string
  method: string
  path: string
  body?: unknown
  changes: readonly Partial<ChangeReport>[]
}

const MARKETING = { id: 'aaaaaaaa', name: 'Marketing', members: 2 }
const CASES: readonly ChangeCase[] = [
  {
    name: 'domains that are added',
    ...add('New.example', 'p-reject.understudy.test'),
    changes: [
      {
        ...{ what: 'domain', name: 'new.example', before: null },
        after: { name: 'new.example', added_at: '2026-01-15T09:30:00Z' },
      },
      {
        ...{ what: 'domain', name: 'p-reject.understudy.test', before: null },
        after: expect.objectContaining({ record: { p: 'reject' } }),
      },
    ],
  },
  {
    name: 'a domain that is removed, with its pin, also from its groups',
    ...remove('three.example'),
    changes: [
      {
        ...{ what: 'domain', name: 'three.example', after: null },
        before: expect.objectContaining({ record: { p: 'reject', dkim: 95.5 } }),
      },
      {
        ...{ what: 'group', name: 'Marketing', before: MARKETING, after: { ...MARKETING, members: 1 } },
        members: { ...UNMOVED, removed: ['three.example'], removed_count: 1 },
      },
    ],
  },
  {
    name: 'a group that is created',
    ...create({ name: 'New' }),
    changes: [{ what: 'group', name: 'New', before: null, members: UNMOVED }],
  },
  {
    name: 'members that come and go',
    ...update({ domains: ['two.example', 'one.example'] }),
    changes: [{ members: { added: ['two.example'], added_count: 1, removed: ['three.example'], removed_count: 1 } }],
  },
  { name: 'members that are set to what they were', ...update({ add_domains: ['one.example'] }), changes: [] },
  { name: 'a refusal', ...create({ name: 'marketing' }), changes: [] },
  { name: 'a path that does not exist', ...get('/nothing'), changes: [] },
]

describe('the changes of a request', () => {
  it.each(CASES)(
    'are those of $name, whatever others change before and after',
    async ({ method, path, body, changes }) => {
      const service = await startObserved({ fixture: SMALL as Fixture })
      await service.ask('POST', '/accounts/default/domains', { domains: ['before.example'] })
      const { headers } = await service.send(method, path, body)
      await service.ask('POST', '/accounts/default/domains', { domains: ['after.example'] })
      await service.ask('POST', '/accounts/default/groups', { name: 'After', domains: ['after.example'] })
      const explained = await service.explain(headers['x-request-id'])
      expect(explained).toMatchObject({ changes, changes_count: changes.length, changes_note: null })
      expect(explained.changes).toHaveLength(changes.length)
    },
  )

  it('stay when a fault loses the response, and are none when a fault came first', async () => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/faults', { respond: { status: 503 }, phase: 'after', times: 1 })
    await service.ask('POST', '/accounts/default/faults', { respond: { status: 200, body: {} }, times: 1 })
    await service.send('POST', '/domains', { domains: ['a.example'] }).catch(() => undefined)
    expect(await service.explain()).toMatchObject({ changes: [{ name: 'a.example' }], changes_count: 1 })
    await service.send('POST', '/domains', { domains: ['b.example'] }).catch(() => undefined)
    expect(await service.explain()).toMatchObject(NOTHING)
  })

  it('are listed up to a hundred, and of the members of a group ten, with their numbers', async () => {
    const domains = Array.from({ length: 120 }, (_, index) => `d${index}.example`)
    const groups = domains.map((domain, index) => ({ name: `G${index}`, domains: [domain, 'all.example'] }))
    const service = await startObserved({ fixture: { domains: [...domains, 'all.example'], groups } })
    const { headers } = await service.send('DELETE', '/domains', { domains: ['all.example'] })
    const { changes, changes_count } = await service.explain(headers['x-request-id'])
    expect(changes).toHaveLength(100)
    expect(changes_count).toBe(121)
    await service.send('POST', '/domaingroups', { name: 'New', domains: domains.slice(0, 30) })
    const [created] = (await service.explain()).changes ?? []
    expect(created?.members).toMatchObject({ added: domains.slice(0, 10), added_count: 30 })
  })

  it('hide the key of an account that is a name, also in the code that sets it up', async () => {
    const service = await startObserved({ fixture: { domains: [], groups: [{ name: API_KEY, domains: [] }] } })
    await service.send('POST', '/domaingroups', { name: `my ${API_KEY}` })
    const { changes, reproduction, reproduction_note } = await service.explain()
    expect(changes).toHaveLength(1)
    expect(reproduction?.vitest.match(/\[redacted\]/g)?.length).toBeGreaterThan(1)
    expect(JSON.stringify([changes, reproduction])).not.toContain(API_KEY)
    expect(reproduction_note).toContain('A secret in the request is hidden.')
  })
})
