import { describe, expect } from 'vitest'
import { addFault, journalOf } from '../support/control-plane.ts'
import { it } from '../support/example-service.ts'
import { startService, type TestService } from '../support/service.ts'

const GROUP = '/domaingroups?id=Mktg0001'

describe('Another client', () => {
  it.for<[event: string, request: Parameters<TestService['send']>, code: string | undefined, did: string]>([
    ['group-deleted', ['PATCH', GROUP, { name: 'New' }], 'not_found', 'deleted the group Marketing'],
    ['group-deleted', ['GET', GROUP], 'not_found', 'deleted the group Marketing'],
    [
      'domains-deleted',
      ['DELETE', '/domains', { domains: ['three.example'] }],
      'domain_delete_failed',
      'deleted three.example',
    ],
    [
      'domains-deleted',
      ['DELETE', '/domains', { domains: ['three.example', 'stranger.example'] }],
      'domain_delete_failed',
      'deleted three.example',
    ],
    [
      'member-added',
      ['PATCH', GROUP, { domains: ['one.example'] }],
      undefined,
      'put two.example into the group Marketing',
    ],
    ['name-taken', ['POST', '/domaingroups', { name: 'New' }], 'duplicate_name', 'created a group with the name New'],
    ['name-taken', ['POST', '/domains', { domains: ['new.example'] }], 'invalid_domain', 'added new.example'],
    ['group-added', ['GET', '/domaingroups'], undefined, 'created the group Another client'],
  ])(
    'comes first with the event `%s` before %j, and the answer is the service’s own',
    async ([event, request, code, did], { service }) => {
      await addFault(service, { event, skip: 0, times: 1 })
      expect((await service.send(...request)).body.error?.code).toBe(code)
      const fault = { rule: { event }, effect: `Another client ${did} just before.` }
      expect((await journalOf(service)).at(-1)).toMatchObject({ injected: false, fault })
    },
  )

  it.for(['group-deleted', 'domains-deleted', 'member-added', 'name-taken'])(
    'changes nothing with the event `%s` where the request names nothing',
    async (event, { empty }) => {
      await addFault(empty, { event, times: 1 })
      expect((await empty.get('/domaingroups')).body.data.groups).toEqual([])
      const effect = 'There was nothing that another client could have changed, so the account stayed as it was.'
      expect((await journalOf(empty))[0]).toMatchObject({ fault: { effect } })
    },
  )

  it('makes a member of a new domain where no other is free, and what was sent is decided on top of it', async () => {
    const fixture = { domains: ['a.example'], groups: [{ id: 'Mktg0001', name: 'A', domains: ['a.example'] }] }
    const service = await startService({ fixture })
    await addFault(service, { event: 'member-added', times: 1 })
    await service.send('PATCH', GROUP, { add_domains: ['a.example'] })
    const [group] = (await service.get('/domaingroups')).body.data.groups
    expect(group.domains).toEqual(['a.example', 'another-client.example'])
  })
})
