import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { overlayWith } from '../cli/overlays.ts'
import { ACCOUNT, DISABLED_KEY, pathOf, SECOND_KEY, withKey } from '../support/account.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { sends } from '../support/rows.ts'
import { API_KEY } from '../support/service.ts'

type Send = (service: ObservedService) => Promise<unknown>

const get = (path: string, headers?: Record<string, string | null>) => sends('GET', path, undefined, headers)
const add = (...domains: string[]) => sends('POST', '/domains', { domains })
const remove = (...domains: string[]) => sends('DELETE', '/domains', { domains })
const group = (name: string, domains?: string[]) => sends('POST', '/domaingroups', { name, domains })
/** Changes the group Sales. */
const change = (body: object) => async (service: ObservedService) =>
  service.send('PATCH', await pathOf(service, 'Sales'), body)

describe('an explanation names the rules and the choices behind', () => {
  it.each<[what: string, send: Send, rules: string[], assumptions?: string[]]>([
    ['a read', get('/domains'), ['all-domains-listed'], ['domain-order']],
    ['all groups', get('/domaingroups'), ['groups-with-count'], ['group-order']],
    ['one group', async (service) => service.get(await pathOf(service, 'Sales')), ['one-group-by-id']],
    ['an unknown group', get('/domaingroups?id=00000000'), ['unknown-id-read']],
    ['the removal of what is no name', change({ remove_domains: [null] }), []],
    ['a missing key', get('/dmarc', { authorization: null }), ['key-required']],
    [
      'a scheme in another case',
      get('/dmarc', { authorization: `bearer ${API_KEY}` }),
      ['key-required'],
      ['authorization-scheme'],
    ],
    ['a disabled key', get('/dmarc', withKey(DISABLED_KEY)), ['key-switched-off']],
    ['a second key', get('/domains', withKey(SECOND_KEY)), ['several-keys', 'all-domains-listed'], ['domain-order']],
    ['an addition', add('new.example'), ['count-of-added', 'background-processing']],
    ['a name of one label', add('LOCALHOST'), ['valid-hostnames'], ['single-labels']],
    ['an address', add('192.0.2.1'), ['valid-hostnames'], ['ipv4-addresses']],
    ['a zero-width space', add('new\u200b.example'), ['valid-hostnames'], ['invisible-in-hostnames']],
    ['a name with U+0000', group('a\0'), [], ['control-characters']],
    ['a name with half of a surrogate pair', group('a\ud83d'), [], ['lone-surrogates']],
    ['no host', add('no host'), ['valid-hostnames']],
    ['a repeated domain', add('x.example', 'X.example'), ['no-duplicates'], ['repeated-domains']],
    ['a domain twice', remove('one.example', 'one.example'), [], ['repeated-deletions']],
    ['a monitored domain', add('one.example'), ['no-duplicates'], ['already-monitored']],
    ['one of two', add('one.example', 'x.example'), ['no-duplicates'], ['already-monitored', 'mixed-additions']],
    ['a domain in use', remove('busy.example'), ['domain-in-use-stays']],
    ['one of two in use', remove('busy.example', 'two.example'), ['domain-in-use-stays'], ['mixed-deletions']],
    ['a domain that is not there', remove('x.example'), [], ['unmonitored-deletion']],
    ['a group with members', group('New', ['one.example']), ['members-in-the-same-call'], ['shared-domains']],
    ['a name that is taken', group('SALES'), ['name-unique']],
    ['a stranger', group('New', ['x.example']), ['members-monitored']],
    ['a stranger as a new member', change({ add_domains: ['x.example'] }), []],
    ['a stranger among new members', change({ add_domains: ['x.example', 'two.example'] }), [], ['mixed-members']],
    ['no id', sends('PATCH', '/domaingroups', { name: 'New' }), ['update-needs-id']],
    ['no field', change({}), ['update-needs-a-field']],
    ['an unknown path', get('/nothing'), []],
    ['an unknown path without a key', get('/nothing', { authorization: null }), [], ['routing']],
    ['a path with a slash more', get('/domains/'), [], ['path-matching']],
    [
      'a parameter that is not declared',
      get('/domaingroups?x=1'),
      ['groups-with-count'],
      ['group-order', 'unknown-query-parameters'],
    ],
    ['input that is not HTTP', (service) => service.sendRaw('NONSENSE\r\n\r\n'), [], ['not-http']],
    ['no Content-Type', sends('POST', '/domains', '{}', { 'content-type': 'text/plain' }), [], ['content-type']],
  ])('%s', async (_, send, rules, assumptions = []) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await send(service)
    const explanation = await service.explain()
    expect(explanation.rules.map(({ id }) => id).sort()).toEqual([...rules].sort())
    const ids = explanation.assumptions.map(({ id }) => id)
    expect(ids.filter((id) => !id.startsWith('status-')).sort()).toEqual([...assumptions].sort())
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
    ['that it succeeded', get('/domains'), /^listDomains succeeded\.$/],
    ['why it was refused', group('Sales'), /^Refused with duplicate_name: .+\.$/],
    [
      'that more is wrong',
      add('no host', 'x', ''),
      /^Refused with invalid_domain: .+\. 2 more problems would remain after this one\.$/,
    ],
    ['that one thing more is wrong', add('no host', 'x'), /One more problem would remain after this one\.$/],
    [
      'that a preference was honoured',
      sends('POST', '/domains', { domains: ['n.example'] }, { prefer: 'code=503' }),
      /^The header Prefer asked for this response\. The service did nothing\./,
    ],
    [
      'that a name asked for it',
      add('fail-rate-limited.understudy.test'),
      /^The name of a domain in the request asked for this failure\. The service did nothing\./,
    ],
  ])('%s', async (_, send, summary) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await send(service).catch(() => {})
    expect((await service.explain()).summary).toMatch(summary)
  })

  const LOST = 'addDomains succeeded, and what it changed stays changed. Then the fault rule fault_1'
  const REPLACED = { phase: 'after', respond: { status: 502 } }
  it.each<[what: string, rule: object, summary: string, monitored?: boolean]>([
    ['lost', { phase: 'after', connection: 'reset' }, `${LOST} dropped the response. The connection was reset`],
    ['replaced', REPLACED, `${LOST} changed the response. The status 502 was answered in place`],
    ['cut', { connection: 'truncate' }, `${LOST} changed the response. Half of the body was sent`],
    ['empty', { connection: 'empty' }, 'The service did nothing, because the fault rule fault_1 acted before', false],
  ])('what is done where an answer is %s by a fault', async (_, rule, summary, monitored = true) => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/faults', rule)
    await add('new.example')(service).catch(() => {})
    const explanation = await service.explain()
    expect(explanation).toMatchObject({ documented: false, rules: [], correction: null })
    expect(explanation.fault).toMatchObject({ source: 'rule', id: 'fault_1', rule })
    expect(explanation.summary.startsWith(summary), explanation.summary).toBe(true)
    expect((await service.store.read('default')).domains.has('new.example')).toBe(monitored)
  })

  it('that an answer is lost which was a refusal', async () => {
    const service = await startObserved()
    await service.ask('POST', '/accounts/default/faults', { phase: 'after', connection: 'reset' })
    await add('no host')(service).catch(() => {})
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

/** The newest request is one with this body, which is sent as it stands. */
async function explainBody(body: string, options = {}) {
  const service = await startObserved({ fixture: ACCOUNT, ...options })
  await sends('POST', '/domaingroups', body, { 'content-type': 'application/json' })(service)
  return service.explain()
}

describe('each problem of an explanation says what was received', () => {
  it.each<[body: string, received: [field: string, received: string | null][]]>([
    ['{"name": ""}', [['/name', '""']]],
    ['{"name": " \\t"}', [['/name', '" \\t"']]],
    ['{"name": 7.0}', [['/name', '7.0']]],
    ['{"name": 12345678901234567890}', [['/name', '12345678901234567890']]],
    ['{"name": null}', [['/name', 'null']]],
    ['{"name": {"a": [1,  2]}}', [['/name', '{"a": [1,  2]}']]],
    ['{"name": "a", "name": ""}', [['/name', '""']]],
    ['{"domains": []}', [['/name', null]]],
    ['{"name": "x", "colour": "red"}', [['/colour', '"red"']]],
    [
      '{"name": "x", "domains": ["", 7]}',
      [
        ['/domains/1', '7'],
        ['/domains/0', '""'],
      ],
    ],
    ['[ ]', [['', '[ ]']]],
  ])('%s', async (body, received) => {
    const { problems, exchange, summary } = await explainBody(body)
    expect(problems.map((problem) => [problem.field, problem.received])).toEqual(received)
    expect(exchange.problems).toEqual(problems)
    if (received.length === 1) expect(summary).not.toContain('more problem')
  })

  it('also where the service stores it in another form', async () => {
    const overlays = [overlayWith("$['x-settings']['space-around-names']", { value: 'trimmed' })]
    const { problems } = await explainBody('{"name": "  "}', { overlays })
    expect(problems).toMatchObject([{ code: 'invalid_name', received: '"  "' }])
  })
})

describe('an explanation', () => {
  it('says where the body is no JSON', async () => {
    const { position, summary, correction } = await explainBody('{"name": "x",}')
    const says = 'The JSON breaks at line 1, column 13: a comma stands before the closing }: {"name": "x"→,←}'
    expect(position).toEqual({ line: 1, column: 13, offset: 12, before: '{"name": "x"', at: ',', after: '}', says })
    expect(summary).toBe(`Refused with invalid_json: Request body must contain valid JSON. ${says}`)
    expect(correction?.request).toEqual({ method: 'POST', path: '/api/v1/domaingroups', body: '{"name":"x"}' })
  })

  it('has the corrected request as curl sends it, also of an example that the journal has dropped', async () => {
    const service = await startObserved({ fixture: ACCOUNT })
    await add('no host', 'new.example')(service)
    const [kept] = (await service.ask('GET', '/verdict')).data.violations.first
    const explained = await service.explain()
    const { curl, request } = explained.correction ?? {}
    expect(request).toEqual({ method: 'POST', path: '/api/v1/domains', body: '{"domains":["new.example"]}' })
    for (const part of Object.values(request ?? {})) expect(curl).toContain(part)
    await service.ask('DELETE', '/accounts/default/requests')
    const again = await service.explain(kept.request_id)
    expect(again.correction).toEqual(explained.correction)
    expect([again.page, kept.page]).toEqual([explained.page, explained.page])
  })

  it('has the address of the request in the dashboard', async () => {
    const service = await startObserved()
    await get('/domains')(service)
    const own = await service.explain()
    expect(own.page).toBe(`${service.adminUrl}/accounts/default/requests/${own.request_id}`)
    await get('/domains', { authorization: null })(service)
    const nobodys = await service.explain()
    expect(nobodys.page).toBe(`${service.adminUrl}/accounts/default/requests/${nobodys.request_id}?whose=none`)
  })

  it.each(['nothing', '00000000-0000-4000-8000-000000000000', '__proto__'])('is not found for %s', async (id) => {
    const service = await startObserved()
    expect((await service.ask('GET', `/explain/${id}`)).status).toBe(404)
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
    expect([...new Set(problems.map((problem) => problem.code))].toSorted()).toEqual([
      ...['conflicting_fields', 'invalid_domain', 'invalid_field_type', 'invalid_name', 'missing_id', 'unknown_field'],
    ])
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
