import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const FIXTURE = {
  domains: ['one.example', 'two.example', { name: 'used.example', features: ['mta-sts'] }],
  groups: [
    { id: 'aaaaaaaa', name: 'Shop', domains: ['one.example'] },
    { id: 'bbbbbbbb', name: 'Mail', domains: [] },
  ],
}
const SAME = { fixture: FIXTURE, seed: 7, now: '2026-01-15T09:00:00Z', frozen: true }

/** A server with two equal accounts: what is asked of one by the service is asked of the other here. */
async function startTwins(
  options: ServerOptions = {},
): Promise<{ plane: ControlPlane; twin: { id: string; key: string } }> {
  const plane = await startControlPlane(options)
  const twin = await plane.create({ id: 'twin', ...SAME })
  await plane.create({ id: 'mine', ...SAME })
  return { plane, twin }
}

type Method = 'POST' | 'PATCH' | 'DELETE'
const long = 'x'.repeat(101)
const many = Array.from({ length: 51 }, (_, index) => `d${index}.example`)

/** A change here, and the same at the service. `group` is the id in the path, or in the query. */
const CHANGES: readonly [method: Method, what: 'domains' | 'groups', group: string | undefined, body: unknown][] = [
  ['POST', 'domains', undefined, { domains: ['New.example', 'three.example.'] }],
  ['POST', 'domains', undefined, { domains: ['one.example'] }],
  ['POST', 'domains', undefined, { domains: ['no host', 'fine.example', '192.0.2.1'] }],
  ['POST', 'domains', undefined, { domains: [] }],
  ['POST', 'domains', undefined, { domains: many }],
  ['POST', 'domains', undefined, { domains: [null, 7] }],
  ['POST', 'domains', undefined, {}],
  ['POST', 'domains', undefined, { domain: ['a.example'], colour: 'red' }],
  ['POST', 'domains', undefined, { domains: [`${'x'.repeat(1 << 20)}.example`] }],
  ['DELETE', 'domains', undefined, { domains: ['two.example', 'one.example'] }],
  ['DELETE', 'domains', undefined, { domains: ['used.example', 'one.example'] }],
  ['DELETE', 'domains', undefined, { domains: ['other.example'] }],
  ['DELETE', 'domains', undefined, {}],
  ['POST', 'groups', undefined, { name: 'New', domains: ['two.example', 'two.example'] }],
  ['POST', 'groups', undefined, { name: 'New' }],
  ['POST', 'groups', undefined, { name: 'SHOP' }],
  ['POST', 'groups', undefined, { name: long }],
  ['POST', 'groups', undefined, {}],
  ['PATCH', 'groups', 'aaaaaaaa', { name: 'Store', add_domains: ['two.example'], remove_domains: ['one.example'] }],
  ['PATCH', 'groups', 'aaaaaaaa', { domains: [] }],
  ['PATCH', 'groups', 'aaaaaaaa', { domains: [], add_domains: [] }],
  ['PATCH', 'groups', 'aaaaaaaa', {}],
  ['PATCH', 'groups', 'AAAAAAAA', { name: 'Store' }],
  ['DELETE', 'groups', 'aaaaaaaa', undefined],
  ['DELETE', 'groups', 'nothing', undefined],
]

const show = (value: unknown) => JSON.stringify(value)?.slice(0, 80)

describe('domains and groups that a test sets up are changed as the service does it:', () => {
  it.each(CHANGES.map(([method, what, group, body]) => [method, what, group ?? '', show(body) ?? '', body] as const))(
    '%s …/%s %s %s',
    async (method, what, group, _, body) => {
      const { plane, twin } = await startTwins()
      const path = what === 'domains' ? '/domains' : '/domaingroups'
      const asked = await plane.ask(twin.key, method, path + (group === '' ? '' : `?id=${group}`), body)
      const mine = await plane.send(method, `/accounts/mine/${what}${group === '' ? '' : `/${group}`}`, body)
      if (asked.status === 200) {
        expect(mine.status, mine.text).toBe(method === 'POST' ? 201 : 200)
        const { message: _message, ...data } = asked.body.data
        const created = { group: { ...data.group, id: expect.any(String) } }
        expect(mine.data).toEqual(method === 'POST' && what === 'groups' ? created : data)
      } else {
        const { code, message } = asked.body.error
        expect([mine.status, mine.error.code]).toEqual([409, 'refused'])
        expect(mine.error.message).toBe(`The service refuses this with ${code}: ${message}`)
        expect(mine.error.problems[0]).toMatchObject({ code, message })
      }
      // The accounts hold the same, but for the ids of new groups, which are unique in the whole service.
      const held = async (id: string) => {
        const { domains, groups } = (await plane.get(`/accounts/${id}/state`)).data
        return { domains, groups: groups.map(({ id: _id, ...rest }: { id: string }) => rest) }
      }
      expect(await held('mine')).toEqual(await held('twin'))
    },
  )
})

describe('what a test sets up', () => {
  it('costs no quota, meets no fault, and is in no journal, coverage and verdict', async () => {
    const { plane } = await startTwins()
    await plane.post('/accounts/mine/faults', { respond: { status: 503 } })
    const seen = ['/quotas', '/coverage', '/faults', '/requests']
    const read = () => Promise.all(seen.map(async (path) => (await plane.get(`/accounts/mine${path}`)).data))
    const before = await read()
    expect((await plane.post('/accounts/mine/domains', { domains: ['a.example'] })).status).toBe(201)
    expect((await plane.post('/accounts/mine/groups', { name: 'A', domains: ['a.example'] })).status).toBe(201)
    expect((await plane.post('/accounts/mine/groups', { nam: 'A' })).status).toBe(409)
    expect(await read()).toEqual(before)
    expect((await plane.get('/verdict')).data).toMatchObject({ requests: 0, violations: { count: 0 } })
  })

  it('is there when no request of the account is admitted any more', async () => {
    const { plane } = await startTwins()
    await plane.patch('/accounts/mine/quotas', { bucket: 'domains', remaining: 0 })
    await plane.patch('/accounts/mine', { plan: 'below-stone' })
    expect((await plane.post('/accounts/mine/domains', { domains: ['a.example'] })).status).toBe(201)
  })

  it('follows the contract of the server, also where an overlay has changed it', async () => {
    const overlay = writeOverlay(temporaryFolder(), [
      { target: '$.components.schemas.DomainsToAdd.properties.domains', update: { maxItems: 60 } },
      { target: '$.components.x-errors.duplicate_name', update: { status: 422, message: 'Taken: {value}.' } },
    ])
    const { plane } = await startTwins({ overlays: [overlay] })
    expect((await plane.post('/accounts/mine/domains', { domains: many })).data).toMatchObject({ count: 51 })
    const { status, error } = await plane.post('/accounts/mine/groups', { name: 'shop' })
    expect([status, error.message]).toEqual([409, 'The service refuses this with duplicate_name: Taken: "shop".'])
  })

  it('is refused for an account that is not there, and for a body that is none', async () => {
    const plane = await startControlPlane()
    expect((await plane.post('/accounts/nobody/domains', { domains: ['a.example'] })).error.code).toBe('not_found')
    expect((await plane.post('/accounts/nobody/groups', { name: 'x' })).error.code).toBe('not_found')
    expect((await plane.post('/accounts/default/domains', '[]')).error.code).toBe('invalid_request_body')
  })
})
