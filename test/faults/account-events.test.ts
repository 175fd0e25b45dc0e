import { describe, expect, it } from 'vitest'
import { ACCOUNT, HOUR } from '../support/account.ts'
import { addFault, askControl } from '../support/control-plane.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { START, startService } from '../support/service.ts'

const ONCE = { times: 1 }

describe('The event `quota-used-up`', () => {
  const RULE = { match: { operation: 'listDomains' }, event: 'quota-used-up', ...ONCE }

  it('refuses the request and all later ones to the path until a whole window has passed', async () => {
    const service = await startService()
    await addFault(service, RULE)
    const refused = await service.get('/domains')
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(quotaOf(refused.headers)).toEqual({ limit: 30, remaining: 0, reset: (START + HOUR) / 1000 })
    service.advance(HOUR - 1)
    const again = await service.get('/domains')
    expect(again.status).toBe(429)
    expect(quotaOf(again.headers)).toEqual(quotaOf(refused.headers))
    service.advance(1)
    expect((await service.get('/domains')).status).toBe(200)
  })

  it('leaves the quotas of other paths and other keys alone', async () => {
    const service = await startService()
    await addFault(service, RULE)
    const { data } = await askControl(service, 'POST', '/accounts/default/keys', {})
    await service.get('/domains')
    expect((await service.get('/dmarc')).status).toBe(200)
    const headers = { authorization: `Bearer ${data.api_key}` }
    expect((await service.send('GET', '/domains', undefined, headers)).status).toBe(200)
  })

  it('counts only its own response as injected', async () => {
    const service = await startService()
    await addFault(service, RULE)
    await service.get('/domains')
    await service.get('/domains')
    const { data } = await askControl(service, 'GET', '/accounts/default/requests')
    expect(data.requests.map((each: { injected: boolean }) => each.injected)).toEqual([true, false])
    expect(data.requests[0].fault.effect).toBe(
      'The quota of the path was used up, and a whole window is left until the reset.',
    )
  })
})

describe('The event', () => {
  it.each([
    ['window-end', '2026-01-15T10:00:00Z'],
    ['refresh', '2026-01-16T00:00:00Z'],
    ['grace-end', '2026-01-22T09:30:00Z'],
  ])('`%s` lets the request pass, and the next one comes at %s', async (event, instant) => {
    const service = await startService()
    // A key is in its grace period when it is new.
    const { data: key } = await askControl(service, 'POST', '/accounts/default/keys', {})
    await addFault(service, { event, ...ONCE })
    const send = () => service.send('GET', '/domains', undefined, { authorization: `Bearer ${key.api_key}` })
    expect((await send()).status).toBe(200)
    const { data } = await askControl(service, 'GET', '/accounts/default/clock')
    expect(Date.parse(data.now)).toBe(Date.parse(instant))
    const limit = event === 'grace-end' ? 30 : 300
    expect(quotaOf((await send()).headers)).toMatchObject({ limit, remaining: limit - 1 })
    const { data: journal } = await askControl(service, 'GET', '/accounts/default/requests')
    expect(journal.requests[0]).toMatchObject({ injected: false, fault: { rule: { event } } })
    expect(journal.requests[0].fault.effect).toContain('the clock of the account moved on to')
  })

  it('`grace-end` changes nothing for a key whose grace is over', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { event: 'grace-end' })
    await service.get('/domains')
    const { data } = await askControl(service, 'GET', '/accounts/default/requests')
    expect(data.requests[0].fault.effect).toContain('no such instant to come')
  })

  it.each([
    { event: 'refresh', phase: 'before' },
    { event: 'quota-used-up', phase: 'after' },
    { event: 'refresh', connection: 'reset' },
    { event: 'tomorrow' },
  ])('of %j is refused', async (rule) => {
    const service = await startService()
    const { status } = await askControl(service, 'POST', '/accounts/default/faults', rule)
    expect(status).toBe(400)
  })
})
