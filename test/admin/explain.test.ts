import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { ACCOUNT, DISABLED_KEY, pathOf, SECOND_KEY, withKey } from '../support/account.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { sendPlanned } from '../support/planned-requests.ts'

type Send = (service: ObservedService) => Promise<unknown>

interface Expected {
  rules: string[]
  assumptions?: string[]
  documented?: boolean
}

describe('an explanation names the rules and the choices behind', () => {
  it.each<[what: string, send: Send, expected: Expected]>([
    ['a read', ({ get }) => get('/domains'), { rules: ['all-domains-listed'] }],
    ['all groups', ({ get }) => get('/domaingroups'), { rules: ['groups-with-count'] }],
    ['one group', async (service) => service.get(await pathOf(service, 'Sales')), { rules: ['one-group-by-id'] }],
    ['an unknown group', ({ get }) => get('/domaingroups?id=00000000'), { rules: ['unknown-id-read'] }],
    [
      'the removal of what is no name',
      async (service) => service.send('PATCH', await pathOf(service, 'Sales'), { remove_domains: [null] }),
      { rules: [] },
    ],
    [
      'a missing key',
      ({ send }) => send('GET', '/dmarc', undefined, { authorization: null }),
      { rules: ['key-required'] },
    ],
    [
      'a disabled key',
      ({ send }) => send('GET', '/dmarc', undefined, withKey(DISABLED_KEY)),
      { rules: ['key-switched-off'] },
    ],
    [
      'a second key',
      ({ send }) => send('GET', '/domains', undefined, withKey(SECOND_KEY)),
      { rules: ['several-keys', 'all-domains-listed'] },
    ],
    [
      'an addition',
      ({ send }) => send('POST', '/domains', { domains: ['new.example'] }),
      { rules: ['count-of-added', 'background-processing'] },
    ],
    [
      'a name of one label',
      ({ send }) => send('POST', '/domains', { domains: ['LOCALHOST'] }),
      { rules: ['valid-hostnames'], assumptions: ['single-labels'] },
    ],
    [
      'an address',
      ({ send }) => send('POST', '/domains', { domains: ['192.0.2.1'] }),
      { rules: ['valid-hostnames'], assumptions: ['ipv4-addresses'] },
    ],
    [
      'a hostname with a zero-width space',
      ({ send }) => send('POST', '/domains', { domains: ['new\u200b.example'] }),
      { rules: ['valid-hostnames'], assumptions: ['invisible-in-hostnames'] },
    ],
    [
      'a name with U+0000',
      ({ send }) => send('POST', '/domaingroups', { name: 'a\0' }),
      { rules: [], assumptions: ['control-characters'] },
    ],
    [
      'a name with half of a surrogate pair',
      ({ send }) => send('POST', '/domaingroups', { name: 'a\ud83d' }),
      { rules: [], assumptions: ['lone-surrogates'] },
    ],
    ['no host', ({ send }) => send('POST', '/domains', { domains: ['no host'] }), { rules: ['valid-hostnames'] }],
    [
      'a repeated domain',
      ({ send }) => send('POST', '/domains', { domains: ['x.example', 'X.example'] }),
      { rules: ['no-duplicates'], assumptions: ['repeated-domains'] },
    ],
    [
      'a monitored domain',
      ({ send }) => send('POST', '/domains', { domains: ['one.example'] }),
      { rules: ['no-duplicates'], assumptions: ['already-monitored', 'mixed-additions'] },
    ],
    [
      'a domain in use',
      ({ send }) => send('DELETE', '/domains', { domains: ['busy.example'] }),
      { rules: ['domain-in-use-stays'], assumptions: ['mixed-deletions'] },
    ],
    [
      'a domain that is not there',
      ({ send }) => send('DELETE', '/domains', { domains: ['x.example'] }),
      { rules: [], assumptions: ['unmonitored-deletion'] },
    ],
    [
      'a group with members',
      ({ send }) => send('POST', '/domaingroups', { name: 'New', domains: ['one.example'] }),
      { rules: ['members-in-the-same-call'] },
    ],
    [
      'a name that is taken',
      ({ send }) => send('POST', '/domaingroups', { name: 'SALES' }),
      { rules: ['name-unique'] },
    ],
    [
      'a stranger',
      ({ send }) => send('POST', '/domaingroups', { name: 'New', domains: ['x.example'] }),
      { rules: ['members-monitored'] },
    ],
    [
      'a stranger among new members',
      async (service) => service.send('PATCH', await pathOf(service, 'Sales'), { add_domains: ['x.example'] }),
      { rules: [], assumptions: ['mixed-members'] },
    ],
    ['no id', ({ send }) => send('PATCH', '/domaingroups', { name: 'New' }), { rules: ['update-needs-id'] }],
    [
      'no field',
      async (service) => service.send('PATCH', await pathOf(service, 'Sales'), {}),
      { rules: ['update-needs-a-field'] },
    ],
    ['an unknown path', ({ get }) => get('/nothing'), { rules: [], assumptions: ['routing', 'path-matching'] }],
    [
      'no Content-Type',
      ({ send }) => send('POST', '/domains', '{}', { 'content-type': 'text/plain' }),
      { rules: [], assumptions: ['content-type'] },
    ],
  ])('%s', async (_, send, { rules, assumptions = [] }) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await send(service)
    const explanation = await service.explain()
    expect(explanation.rules.map(({ id }) => id).sort()).toEqual([...rules].sort())
    expect(explanation.assumptions.map(({ id }) => id)).toEqual(expect.arrayContaining(assumptions))
    expect(explanation.documented).toBe(explanation.assumptions.length === 0)
  })

  it('a quota that is used up', async () => {
    const service = await startObserved()
    await service.ask('PATCH', '/accounts/default/quotas', { bucket: 'dmarc', remaining: 0 })
    await service.get('/dmarc')
    service.advance(60_000)
    expect(await service.explain()).toMatchObject({
      code: 'rate_limited',
      clock: '2026-01-15T09:30:00Z',
      quota: { limit: 10, remaining: 0, resets_at: '2026-01-15T10:00:00Z' },
      rules: [{ id: 'dmarc-limit' }],
    })
  })

  it('a plan that is too low', async () => {
    const service = await startObserved({ plan: 'below-stone' })
    await service.get('/dmarc')
    expect(await service.explain()).toMatchObject({
      code: 'unauthorized',
      rules: [{ id: 'stone-plan-required' }],
      quota: null,
    })
  })
})

describe('an explanation says in words', () => {
  it.each<[what: string, send: Send, summary: RegExp]>([
    ['that it succeeded', ({ get }) => get('/domains'), /^listDomains succeeded\.$/],
    [
      'why it was refused',
      ({ send }) => send('POST', '/domaingroups', { name: 'Sales' }),
      /^Refused with duplicate_name: .+\.$/,
    ],
    [
      'that more is wrong',
      ({ send }) => send('POST', '/domains', { domains: ['no host', 'x', ''] }),
      /^Refused with invalid_domain: .+\. 2 more problems would remain after this one\.$/,
    ],
    [
      'that one thing more is wrong',
      ({ send }) => send('POST', '/domains', { domains: ['no host', 'x'] }),
      /One more problem would remain after this one\.$/,
    ],
    [
      'that a preference was honoured',
      ({ send }) => send('POST', '/domains', { domains: ['n.example'] }, { prefer: 'code=503' }).catch(() => {}),
      /^The header Prefer asked for this response\. The service did nothing\./,
    ],
    [
      'that a name asked for it',
      ({ send }) => send('POST', '/domains', { domains: ['fail-rate-limited.understudy.test'] }),
      /^The name of a domain in the request asked for this failure\. The service did nothing\./,
    ],
  ])('%s', async (_, send, summary) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await send(service)
    expect((await service.explain()).summary).toMatch(summary)
  })

  it.each<[what: string, rule: object, summary: RegExp, monitored: boolean]>([
    [
      'that a change stays whose answer was lost',
      { phase: 'after', connection: 'reset' },
      /^addDomains succeeded, and what it changed stays changed\. Then the fault rule fault_1 dropped the response\. The connection was reset/,
      true,
    ],
    [
      'that a change stays whose answer was replaced',
      { phase: 'after', respond: { status: 502 } },
      /^addDomains succeeded, and what it changed stays changed\. Then the fault rule fault_1 changed the response\. The status 502 was answered in place/,
      true,
    ],
    [
      'that a change stays whose answer was cut',
      { connection: 'truncate' },
      /^addDomains succeeded, .* Half of the body was sent/,
      true,
    ],
    [
      'that nothing was done',
      { connection: 'empty' },
      /^The service did nothing, because the fault rule fault_1 acted before/,
      false,
    ],
  ])('%s', async (_, rule, summary, monitored) => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/faults', rule)
    await service.send('POST', '/domains', { domains: ['new.example'] }).catch(() => {})
    const explanation = await service.explain()
    expect(explanation).toMatchObject({
      summary: expect.stringMatching(summary),
      documented: false,
      rules: [],
      correction: null,
      fault: { source: 'rule', id: 'fault_1', rule },
    })
    expect((await service.store.read('default')).domains.has('new.example')).toBe(monitored)
  })

  it('that an answer is lost which was a refusal', async () => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/faults', { phase: 'after', connection: 'reset' })
    await service.send('POST', '/domains', { domains: ['no host'] }).catch(() => {})
    expect((await service.explain()).summary).toMatch(
      /^addDomains was refused with invalid_domain\. Then the fault rule fault_1 dropped the response/,
    )
  })

  it('that the stand-in failed, and how', async () => {
    const store = openMemoryStore()
    const service = await startObserved({ store })
    store.update = () => Promise.reject(new Error('the disk is full'))
    await service.send('POST', '/domains', { domains: ['new.example'] })
    expect(await service.explain()).toMatchObject({
      status: 500,
      summary: expect.stringMatching(/^The stand-in itself failed/),
      failure: expect.stringContaining('the disk is full'),
      correction: null,
    })
  })
})

describe('an explanation', () => {
  it('is found by an id in any case', async () => {
    const service = await startObserved()
    const { headers } = await service.get('/domains')
    const id = headers['x-request-id'] ?? ''
    expect((await service.explain(id.toUpperCase())).request_id).toBe(id)
  })

  it.each(['nothing', '00000000-0000-4000-8000-000000000000', '__proto__'])('is not found for %s', async (id) => {
    const service = await startObserved()
    expect((await service.ask('GET', `/explain/${id}`)).status).toBe(404)
  })

  it('is about the newest of two requests that a reset gave the same id', async () => {
    const service = await startObserved()
    const first = await service.get('/domains')
    await service.ask('POST', '/accounts/default/reset')
    expect((await service.ask('GET', `/explain/${first.headers['x-request-id']}`)).status).toBe(404)
    const second = await service.get('/domaingroups')
    expect(second.headers['x-request-id']).toBe(first.headers['x-request-id'])
    expect((await service.explain(second.headers['x-request-id'])).operation).toBe('listDomainGroups')
  })

  it('is gone with its account', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, withKey('sandbox_gone'))
    const { request_id } = await service.latest()
    await service.ask('DELETE', '/accounts/sandbox_gone')
    expect((await service.ask('GET', `/explain/${request_id}`)).status).toBe(404)
  })

  it('lists every problem that the contract sees, the answered one first', async () => {
    const service = await startObserved()
    await service.send('PATCH', '/domaingroups', { name: '', colour: 'red', domains: 'x', add_domains: ['no host'] })
    const { code, problems } = await service.explain()
    expect(problems[0]?.code).toBe(code)
    expect(new Set(problems.map((problem) => problem.code))).toEqual(
      new Set([
        'missing_id',
        'unknown_field',
        'invalid_field_type',
        'conflicting_fields',
        'invalid_name',
        'invalid_domain',
      ]),
    )
  })

  it('of a request of nobody has a correction for the account that everybody has', async () => {
    const service = await startObserved({ fixture: ACCOUNT })
    await service.send('GET', '/domaingroups?id=nope', undefined, { authorization: 'Bearer nobody1234' })
    const { account, correction } = await service.explain()
    expect(account).toBeNull()
    expect((await sendPlanned(service, correction?.requests as PlannedRequest[]))?.status).toBe(200)
    expect(correction?.curl).toMatch(/^curl -sS -H "Authorization: Bearer \$API_KEY" 'http/)
  })
})
