import { describe, expect, it } from 'vitest'
import { ACCOUNT, changeAccount } from '../../support/account.ts'
import { START, startService } from '../../support/service.ts'
import { domainsOf, membersOf, refusal } from './endpoints.ts'

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
