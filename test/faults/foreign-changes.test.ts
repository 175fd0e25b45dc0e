import { describe, expect } from 'vitest'
import { ACCOUNT } from '../support/account.ts'
import { addFault, journalOf } from '../support/control-plane.ts'
import { it } from '../support/example-service.ts'
import { startService, type TestService } from '../support/service.ts'

/** The path of the first group of an account that has groups. */
async function groupPath(service: TestService): Promise<string> {
  return `/domaingroups?id=${(await service.get('/domaingroups')).body.data.groups[0].id}`
}

async function withAccount<Result>(act: (service: TestService) => Promise<Result>): Promise<Result> {
  const service = await startService({ fixture: ACCOUNT })
  try {
    return await act(service)
  } finally {
    await service.stop()
  }
}

type Ask = (service: TestService, path: string) => Promise<{ status: number; body: { error?: { code: string } } }>

describe('Another client', () => {
  it.for<[event: string, what: string, ask: Ask, code: string | undefined, effect: string]>([
    [
      'group-deleted',
      'changes a group',
      (service, path) => service.send('PATCH', path, { name: 'New' }),
      'not_found',
      'Another client deleted the group Marketing just before.',
    ],
    [
      'group-deleted',
      'reads a group',
      (service, path) => service.get(path),
      'not_found',
      'Another client deleted the group Marketing just before.',
    ],
    [
      'domains-deleted',
      'deletes domains',
      (service) => service.send('DELETE', '/domains', { domains: ['three.example'] }),
      'domain_delete_failed',
      'Another client deleted three.example just before.',
    ],
    [
      'member-added',
      'changes members',
      (service, path) => service.send('PATCH', path, { domains: ['one.example'] }),
      undefined,
      'Another client put two.example into the group Marketing just before.',
    ],
    [
      'name-taken',
      'creates a group',
      (service) => service.send('POST', '/domaingroups', { name: 'New' }),
      'duplicate_name',
      'Another client created a group with the name New just before.',
    ],
    [
      'name-taken',
      'adds domains',
      (service) => service.send('POST', '/domains', { domains: ['new.example'] }),
      'invalid_domain',
      'Another client added new.example just before.',
    ],
    [
      'group-added',
      'lists the groups',
      (service) => service.get('/domaingroups'),
      undefined,
      'Another client created the group Another client just before.',
    ],
  ])(
    'comes first with the event `%s` when one %s, and the answer is the service’s own',
    ([event, , ask, code, effect]) =>
      withAccount(async (service) => {
        const path = await groupPath(service)
        await addFault(service, { event, skip: 0, times: 1 })
        const answer = await ask(service, path)
        expect(answer.body.error?.code).toBe(code)
        const entry = (await journalOf(service)).at(-1)
        expect(entry).toMatchObject({ injected: false, fault: { rule: { event }, effect } })
      }),
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
    const fixture = { domains: ['a.example'], groups: [{ name: 'A', domains: ['a.example'] }] }
    const service = await startService({ fixture })
    try {
      const path = await groupPath(service)
      await addFault(service, { event: 'member-added', times: 1 })
      await service.send('PATCH', path, { add_domains: ['a.example'] })
      const [group] = (await service.get('/domaingroups')).body.data.groups
      expect(group.domains).toEqual(['a.example', 'another-client.example'])
    } finally {
      await service.stop()
    }
  })
})
