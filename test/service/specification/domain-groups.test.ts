import { describe, expect, it } from 'vitest'
import { ACCOUNT, pathOf } from '../../support/account.ts'
import { startService } from '../../support/service.ts'
import { membersOf, refusal } from './endpoints.ts'

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
