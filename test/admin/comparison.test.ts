import { describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'

const FIXTURE = {
  domains: ['a.example', { name: 'b.example', features: ['mta-sts'] }, 'c.example'],
  groups: [{ name: 'Shop', domains: ['a.example', 'b.example'] }],
}
/** The two accounts that most tests compare: `before` and `after`. */
const [AT, WITH] = ['/accounts/before', 'with=after']

/** A stand-in with two accounts that hold the same. */
async function startTwins({ fixture = FIXTURE }: { fixture?: object } = {}) {
  const plane = await startControlPlane()
  const before = await plane.create({ id: 'before', fixture })
  const after = await plane.create({ id: 'after', fixture })
  return { ...plane, before: before.key, after: after.key }
}

async function compare({ get }: Pick<ControlPlane, 'get'>, query = WITH, path = AT) {
  const { status, data, text } = await get(`${path}/comparison?${query}`)
  expect(status, text).toBe(200)
  return data
}

function namesIn({ listed }: { listed: { name: string }[] }): string[] {
  return listed.map(({ name }) => name)
}

describe('the comparison of two accounts', () => {
  it('says what equal contents rest on, and is inconclusive about clients that have asked nothing', async () => {
    const { result, message, holds, asked, covered, one, other } = await compare(await startTwins())
    expect([result, holds.result, asked.result, covered.result]).toEqual([
      'inconclusive',
      'same',
      'inconclusive',
      'inconclusive',
    ])
    expect(message).toBe(
      'There is no difference in what they hold. Too little is known of what they asked and what they covered.',
    )
    expect(holds.message).toMatch(/^Both hold the same: 3 domains, 1 group, 1 key and no fault rule\./)
    expect(asked.message).toBe('No request of either of them is known, so it is not known whether they do the same.')
    expect([one, other]).toMatchObject([
      { account: 'before', snapshot: null, before: null, domains: 3, groups: 1 },
      { account: 'after', domains: 3, groups: 1 },
    ])
  })

  it('is inconclusive about requests as long as one account has none', async () => {
    const twins = await startTwins()
    await twins.ask(twins.after, 'GET', '/domains')
    const { asked, covered } = await compare(twins)
    expect([asked.result, covered.result]).toEqual(['inconclusive', 'inconclusive'])
    expect(asked.message).toBe('No request of before is known, so it is not known whether they do the same.')
  })

  it('calls the same requests with the same answers the same, although ids and times differ', async () => {
    const twins = await startTwins()
    for (const key of [twins.before, twins.after]) {
      twins.advance(60_000)
      await twins.ask(key, 'POST', '/domains', { domains: ['new.example'] })
      await twins.ask(key, 'POST', '/domaingroups', { name: 'New', domains: ['new.example'] })
    }
    const { result, message, asked, covered } = await compare(twins)
    expect([result, message]).toEqual([
      'same',
      'There is no difference in what they hold, what they asked and what they covered.',
    ])
    expect(asked).toMatchObject({
      message: 'Both made the same 2 requests in the same order, and got the same answers.',
      parting: null,
      one: 2,
      other: 2,
    })
    expect(covered.message).toMatch(/^Both have shown the same parts of the contract: 2 responses/)
  })

  it('finds the request at which the two part, and counts the answers to each operation', async () => {
    const twins = await startTwins()
    await twins.ask(twins.before, 'GET', '/domains')
    await twins.ask(twins.after, 'GET', '/domains')
    const first = await twins.ask(twins.before, 'POST', '/domains', { domains: ['new.example'] })
    const second = await twins.ask(twins.after, 'POST', '/domains', { domains: ['a.example'] })
    await twins.ask(twins.after, 'GET', '/domains')
    const { result, asked, covered } = await compare(twins)
    expect([result, asked.result, covered.result]).toEqual(['different', 'different', 'different'])
    const code = second.body.error.code
    expect(asked.message).toBe(
      `They part at request 2: before sent POST /domains and got 200, and after sent POST /domains and got ${second.status} ${code}.`,
    )
    expect(asked.parting).toMatchObject({
      position: 2,
      one: { request_id: first.headers['x-request-id'], operation: 'addDomains', status: 200, code: null },
      other: { request_id: second.headers['x-request-id'], operation: 'addDomains', status: second.status, code },
    })
    expect(asked.operations).toMatchObject([
      { operation: 'listDomains', method: 'GET', path: '/domains', one: 1, other: 2 },
      {
        operation: 'addDomains',
        answers: [
          { status: 200, one: 1, other: 0, one_request: first.headers['x-request-id'], other_request: null },
          { status: second.status, code, one: 0, other: 1, one_request: null },
        ],
      },
    ])
    expect(covered.responses).toMatchObject({
      alike: 1,
      only_in_one: [{ operation: 'addDomains', status: 200, code: null }],
      only_in_other: [{ operation: 'addDomains', status: second.status, code }],
    })
  })

  it('sees where one client stops', async () => {
    const twins = await startTwins()
    for (const key of [twins.before, twins.after, twins.before]) await twins.ask(key, 'GET', '/domains')
    const { asked } = await compare(twins)
    expect(asked.parting).toMatchObject({ position: 2, one: { path: '/domains' }, other: null })
    expect(asked.message).toMatch(/after made no further request\.$/)
  })

  it('is inconclusive about requests that the journal no longer has', async () => {
    const twins = await startTwins()
    for (const key of [twins.before, twins.after]) await twins.ask(key, 'GET', '/domains')
    await twins.delete(`${AT}/requests`)
    await twins.ask(twins.before, 'GET', '/domains')
    const { asked, covered } = await compare(twins)
    expect(asked).toMatchObject({
      result: 'inconclusive',
      message: 'The journal lacks 1 request of before, so it is not known where they part.',
      missing_in_one: 1,
      missing_in_other: 0,
    })
    expect(covered.result).toBe('same')
  })

  it('names what differs in contents, by meaning', async () => {
    const twins = await startTwins()
    const { ask, put, post, patch } = twins
    await ask(twins.after, 'DELETE', '/domains', { domains: ['c.example'] })
    await ask(twins.after, 'POST', '/domains', { domains: ['d.example'] })
    await put('/accounts/after/domains/a.example/dmarc', { p: 'reject' })
    await put('/accounts/after/domains/b.example/features', { features: [] })
    await post('/accounts/after/keys', { label: 'CI' })
    await post('/accounts/after/faults', { respond: { error: 'rate_limited' } })
    expect((await compare(twins)).holds.quotas.different.listed).toMatchObject([
      { name: 'domains', fields: ['remaining'], one: { key: null }, other: { bucket: 'domains' } },
    ])
    await patch('/accounts/after', { plan: 'below-stone' })
    await patch('/accounts/after/clock', { advance: 'P40D', frozen: true })
    const { holds, one, other } = await compare(twins)
    expect(holds.settings).toEqual(['plan', 'clock'])
    expect([one.frozen, other.frozen]).toEqual([false, true])
    expect(namesIn(holds.domains.only_in_one)).toEqual(['c.example'])
    expect(namesIn(holds.domains.only_in_other)).toEqual(['d.example'])
    const changed = Object.fromEntries(
      holds.domains.different.listed.map(({ name, ...difference }: { name: string }) => [name, difference]),
    )
    expect(changed['a.example']).toMatchObject({
      fields: expect.arrayContaining(['pinned']),
      one: { pinned: {} },
      other: { pinned: { p: 'reject' }, policy: { p: 'reject', sp: 'reject' } },
    })
    expect(changed['b.example']).toMatchObject({ one: { features: ['mta-sts'] }, other: { features: [] } })
    expect(holds.keys.only_in_other).toEqual({
      count: 1,
      listed: [{ name: 'CI', fields: [], one: null, other: { label: 'CI', disabled: false } }],
    })
    expect(holds.faults.only_in_other).toMatchObject({
      count: 1,
      listed: [{ other: { rule: { respond: { error: 'rate_limited' } } } }],
    })
    expect(holds.message).toMatch(
      /^They differ in \d domains, 1 key, 1 fault rule, \d quotas, the plan and the clock\.$/,
    )
  })

  it('finds a group by its name in any spelling, and lists the members that only one side has', async () => {
    const twins = await startTwins()
    const { data } = await twins.get('/accounts/after/groups')
    const id = data.groups[0].id
    await twins.ask(twins.after, 'PATCH', `/domaingroups?id=${id}`, {
      name: 'shop',
      domains: ['c.example', 'b.example'],
    })
    await twins.ask(twins.after, 'POST', '/domaingroups', { name: 'New', domains: [] })
    const { groups } = (await compare(twins)).holds
    expect(groups).toMatchObject({ alike: 0, only_in_one: { count: 0 }, only_in_other: { count: 1 } })
    expect(groups.different.listed).toMatchObject([
      {
        name: 'Shop',
        fields: ['name', 'members'],
        one: { name: 'Shop', members: 2, only_here: ['a.example'], only_here_count: 1 },
        other: { id, name: 'shop', members: 2, only_here: ['c.example'], only_here_count: 1 },
      },
    ])
  })

  it('gives each key and rule at most one counterpart', async () => {
    const twins = await startTwins()
    const rule = { respond: { error: 'rate_limited' } }
    for (const [account, times] of Object.entries({ before: 3, after: 2 })) {
      for (let time = 0; time < times; time++) {
        await twins.post(`/accounts/${account}/faults`, { ...rule, description: `The rule ${time} of ${account}` })
      }
    }
    const { faults } = (await compare(twins)).holds
    expect(faults).toMatchObject({
      alike: 2,
      different: { count: 0 },
      only_in_one: { count: 1 },
      only_in_other: { count: 0 },
    })
    expect(namesIn(faults.only_in_one)).toEqual(['The rule 2 of before'])
  })

  it('counts every difference and lists as many as are wanted', async () => {
    const domains = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`)
    const plane = await startControlPlane()
    await plane.create({ id: 'before', fixture: { domains, groups: [{ name: 'All', domains }] } })
    await plane.create({ id: 'after', fixture: { domains: domains.slice(150), seed: 7 } })
    const { holds } = await compare(plane, `${WITH}&limit=3`)
    expect(holds.domains.only_in_one.count).toBe(150)
    expect(namesIn(holds.domains.only_in_one)).toEqual(['d0.example', 'd1.example', 'd2.example'])
    expect(holds.domains.alike + holds.domains.different.count).toBe(9850)
    expect(holds.domains.different.listed).toHaveLength(3)
    expect(holds.message).toMatch(/^They differ in [\d,]+ domains, 1 group and the seed\.$/)
    expect((await compare(plane)).holds.domains.only_in_one.listed).toHaveLength(100)
  })

  it('is the same from the other side, with the sides exchanged', async () => {
    const twins = await startTwins()
    await twins.ask(twins.after, 'POST', '/domains', { domains: ['new.example'] })
    await twins.ask(twins.before, 'GET', '/domains')
    const there = await compare(twins)
    const back = await compare(twins, 'with=before', '/accounts/after')
    expect([back.one, back.other]).toEqual([there.other, there.one])
    expect(back.holds.domains.only_in_one.count).toBe(there.holds.domains.only_in_other.count)
    expect(back.asked.parting).toEqual({
      position: 1,
      one: there.asked.parting.other,
      other: there.asked.parting.one,
    })
    expect(back.covered.responses.only_in_one).toEqual(there.covered.responses.only_in_other)
  })
})

describe('the comparison of an account with its earlier state', () => {
  it.each([
    [
      'its snapshot',
      async ({ post }: ControlPlane) => {
        await post(`${AT}/snapshots`, { name: 'clean' })
        return { query: 'snapshot=clean', snapshot: 'clean', before: null }
      },
    ],
    [
      'the state before a request',
      async ({ ask }: ControlPlane, key: string) => {
        const { headers } = await ask(key, 'GET', '/domaingroups')
        return { query: `before=${headers['x-request-id']}`, snapshot: null, before: headers['x-request-id'] }
      },
    ],
  ])('has only what it holds: %s', async (_, prepare) => {
    const twins = await startTwins()
    const { query, ...earlier } = await prepare(twins, twins.before)
    const unchanged = await compare(twins, query)
    expect(unchanged.holds.domains).toMatchObject({ alike: 3, different: { count: 0 } })
    await twins.ask(twins.before, 'POST', '/domains', { domains: ['new.example'] })
    const { result, message, asked, covered, holds, other } = await compare(twins, query)
    expect([result, asked, covered]).toEqual(['different', null, null])
    expect(message).toBe(holds.message)
    expect(other).toMatchObject({ account: 'before', domains: 3, ...earlier })
    expect(namesIn(holds.domains.only_in_one)).toEqual(['new.example'])
  })
})

describe('a comparison is refused', () => {
  const EXACTLY = 'Exactly one of the query parameters with, snapshot and before is needed, not'
  it.each([
    ['', 400, 'invalid_value', `${EXACTLY} 0.`],
    ['with=after&snapshot=clean', 400, 'invalid_value', `${EXACTLY} 2.`],
    ['with=before', 400, 'invalid_value', '`with` must be another account, and "before" is the account itself.'],
    ['with=afterwards', 404, 'not_found', 'There is no account "afterwards".'],
    ['snapshot=clean', 404, 'not_found', 'There is no snapshot "clean".'],
    ['before=x', 404, 'not_found', 'There is no request "x".'],
    ['with=after&limit=1001', 400, 'invalid_value', '`limit` must be at most 1000, not 1001.'],
    ['with=after&after=x', 400, 'unknown_field', 'The query parameter `after` is unknown.'],
  ])('with the query %j: %j', async (query, status, code, message) => {
    const { get } = await startTwins()
    const { status: received, error } = await get(`${AT}/comparison?${query}`)
    expect([received, error.code, error.message]).toEqual([status, code, message])
  })

  it('for an unknown account', async () => {
    const { get } = await startTwins()
    const { status, error } = await get('/accounts/nobody/comparison?with=after')
    expect([status, error.message]).toEqual([404, 'There is no account "nobody".'])
  })
})
