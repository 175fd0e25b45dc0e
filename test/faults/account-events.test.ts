import { describe, expect } from 'vitest'
import { HOUR, withKey } from '../support/account.ts'
import { addFault, askControl, journalOf } from '../support/control-plane.ts'
import { ask, it } from '../support/example-service.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { START } from '../support/service.ts'

describe('The event `quota-used-up`', () => {
  const RULE = { match: { operation: 'listDomains' }, event: 'quota-used-up', times: 1 }

  it('refuses the request and those that follow until a whole window has passed', async ({ empty }) => {
    await addFault(empty, RULE)
    const refused = await empty.get('/domains')
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(quotaOf(refused.headers)).toEqual({ limit: 30, remaining: 0, reset: (START + HOUR) / 1000 })
    empty.advance(HOUR - 1)
    const again = await empty.get('/domains')
    expect([again.status, quotaOf(again.headers)]).toEqual([429, quotaOf(refused.headers)])
    empty.advance(1)
    expect((await empty.get('/domains')).status).toBe(200)
    // Only its own response is injected.
    const [first, ...others] = await journalOf(empty)
    const effect = 'The quota of the path was used up, and a whole window is left until the reset.'
    expect(first).toMatchObject({ injected: true, fault: { effect } })
    expect(others.map(({ injected }) => injected)).toEqual([false, false])
  })

  it('leaves the quotas of other paths and other keys alone', async ({ empty }) => {
    await addFault(empty, RULE)
    const { data: key } = await askControl(empty, 'POST', '/accounts/default/keys', {})
    await empty.get('/domains')
    expect((await empty.get('/dmarc')).status).toBe(200)
    expect((await ask(empty, 'GET /domains', undefined, withKey(key.api_key))).status).toBe(200)
  })
})
