import { describe, expect } from 'vitest'
import { HOUR, withKey } from '../support/account.ts'
import { addFault, askControl, journalOf } from '../support/control-plane.ts'
import { ask, it } from '../support/example-service.ts'
import { overMemory } from '../support/failing-store.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { START, startService } from '../support/service.ts'

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
})

describe('The event', () => {
  it.for([
    ['window-end', '2026-01-15T10:00:00Z', 300],
    ['refresh', '2026-01-16T00:00:00Z', 300],
    ['grace-end', '2026-01-22T09:30:00Z', 30],
  ] as const)('`%s` lets a request pass, and the next comes at %s', async ([event, instant, limit], { empty }) => {
    // A key is in its grace period when it is new.
    const { data: key } = await askControl(empty, 'POST', '/accounts/default/keys', {})
    await addFault(empty, { event, times: 1 })
    const read = () => ask(empty, 'GET /domains', undefined, withKey(key.api_key))
    expect((await read()).status).toBe(200)
    const { data: clock } = await askControl(empty, 'GET', '/accounts/default/clock')
    expect(Date.parse(clock.now)).toBe(Date.parse(instant))
    expect(quotaOf((await read()).headers)).toMatchObject({ limit, remaining: limit - 1 })
    const effect = expect.stringContaining('the clock of the account moved on to')
    expect((await journalOf(empty))[0]).toMatchObject({ injected: false, fault: { rule: { event }, effect } })
  })

  it('`grace-end` is about the key of the request, and not about one whose grace ends before', async ({ empty }) => {
    const keyOf = async () => (await askControl(empty, 'POST', '/accounts/default/keys', {})).data.api_key
    await keyOf()
    await askControl(empty, 'PATCH', '/accounts/default/clock', { advance: 'P1D' })
    const later = await keyOf()
    await addFault(empty, { event: 'grace-end', times: 1 })
    expect((await ask(empty, 'GET /domains', undefined, withKey(later))).status).toBe(200)
    const { data: clock } = await askControl(empty, 'GET', '/accounts/default/clock')
    expect(Date.parse(clock.now)).toBe(Date.parse('2026-01-23T09:30:00Z'))
  })
})

describe('An event after the answer', () => {
  const EVENT = { match: { operation: 'listDomains' }, event: 'window-end' } as const

  it('happens to no other account that has got the id meanwhile', async () => {
    let isOther = false
    const store = overMemory((memory) => ({
      async update(id, decide, incarnation) {
        if (isOther) {
          const { state } = await memory.read(id)
          await memory.delete(id)
          await memory.create(state)
        }
        return memory.update(id, decide, incarnation)
      },
    }))
    const service = await startService({ store })
    await addFault(service, EVENT)
    isOther = true
    expect((await service.get('/domains')).status).toBe(401)
    const { data: clock } = await askControl(service, 'GET', '/accounts/default/clock')
    expect(Date.parse(clock.now)).toBe(START)
  })
})
