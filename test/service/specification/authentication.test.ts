import { describe, expect, it } from 'vitest'
import { createAccount } from '../../../src/accounts/creation.ts'
import { hashKey } from '../../../src/ground/secrets.ts'
import {
  ACCOUNT,
  DAY,
  DISABLED_KEY,
  deleteKey,
  disableKey,
  instant,
  pathOf,
  SECOND_KEY,
  stateOf,
  withKey,
} from '../../support/account.ts'
import { API_KEY, START, startService, type TestService } from '../../support/service.ts'
import { call, domainsOf, ENDPOINTS, refusal } from './endpoints.ts'

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
