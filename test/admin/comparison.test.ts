import { describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'

const FIXTURE = {
  domains: ['a.example', { name: 'b.example', features: ['mta-sts'] }, 'c.example'],
  groups: [{ id: 'aaaaaaaa', name: 'Shop', domains: ['a.example', 'b.example'] }],
}
/** The two accounts that most tests compare: `before` and `after`. */
const [AT, WITH] = ['/accounts/before', 'with=after']

/** A stand-in with two accounts that hold the same. */
async function startTwins() {
  const plane = await startControlPlane()
  const [before, after] = [
    await plane.create({ id: 'before', fixture: FIXTURE }),
    await plane.create({ id: 'after', fixture: FIXTURE }),
  ]
  return { ...plane, before: before.key, after: after.key }
}

async function compare({ get }: Pick<ControlPlane, 'get'>, query = WITH) {
  const { status, data, text } = await get(`${AT}/comparison?${query}`)
  expect(status, text).toBe(200)
  return data
}

describe('the comparison of two accounts', () => {
  it('is inconclusive about clients of which one has asked nothing, or whose journal has lost requests', async () => {
    const twins = await startTwins()
    const { result, message, holds, asked } = await compare(twins)
    expect([result, holds.result, asked.result]).toEqual(['inconclusive', 'same', 'inconclusive'])
    expect(message).toBe(
      'There is no difference in what they hold. Too little is known of what they asked and what they covered.',
    )
    expect(holds.message).toMatch(/^Both hold the same: 3 domains, 1 group, 1 key and no fault rule\./)
    expect(asked.message).toBe('No request of either of them is known, so it is not known whether they do the same.')
    await twins.ask(twins.after, 'GET', '/domains')
    await twins.ask(twins.before, 'GET', '/domains')
    await twins.delete(`${AT}/requests`)
    await twins.ask(twins.before, 'GET', '/domains')
    const lost = 'The journal lacks 1 request of before, so it is not known where they part.'
    expect((await compare(twins)).asked).toMatchObject({ result: 'inconclusive', message: lost })
  })

  it('finds the request at which the two part, and counts the answers to each operation', async () => {
    const twins = await startTwins()
    for (const key of [twins.before, twins.after]) await twins.ask(key, 'GET', '/domains?id=the-query-is-no-difference')
    const first = await twins.ask(twins.before, 'POST', '/domains', { domains: ['new.example'] })
    const second = await twins.ask(twins.after, 'POST', '/domains', { domains: ['a.example'] })
    const { result, asked, covered } = await compare(twins)
    expect([result, asked.result, covered.result]).toEqual(['different', 'different', 'different'])
    const { status } = second
    const code = second.body.error.code
    expect(asked.message).toBe(
      `They part at request 2: before sent POST /domains and got 200, and after sent POST /domains and got ${status} ${code}.`,
    )
    const [one, other] = [first, second].map(({ headers }) => headers['x-request-id'])
    expect(asked.parting).toMatchObject({
      position: 2,
      one: { request_id: one, operation: 'addDomains', status: 200, code: null },
      other: { request_id: other, operation: 'addDomains', status, code },
    })
    expect(asked.operations).toMatchObject([
      { operation: 'listDomains', method: 'GET', path: '/domains', one: 1, other: 1 },
      {
        operation: 'addDomains',
        answers: [
          { status: 200, one: 1, other: 0, one_request: one, other_request: null },
          { status, code, one: 0, other: 1, one_request: null },
        ],
      },
    ])
    expect(covered.responses).toMatchObject({
      ...{ alike: 1, only_in_one: [{ operation: 'addDomains', status: 200, code: null }] },
      only_in_other: [{ operation: 'addDomains', status, code }],
    })
  })
})

const EXACTLY = 'Exactly one of the query parameters with, snapshot and before is needed, not'

it.each([
  ['', 400, `${EXACTLY} 0.`],
  ['with=before', 400, '`with` must be another account, and "before" is the account itself.'],
  ['with=afterwards', 404, 'There is no account "afterwards".'],
  ['before=x', 404, 'There is no request "x".'],
  ['with=after&limit=1001', 400, '`limit` must be at most 1000, not 1001.'],
])('A comparison with the query %j is refused: %i %s', async (query, status, message) => {
  const { get } = await startTwins()
  const { status: received, error } = await get(`${AT}/comparison?${query}`)
  expect([received, error.message]).toEqual([status, message])
})
