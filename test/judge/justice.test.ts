import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { DATE, failure, success } from '../exchanges/made-exchange.ts'
import { accusationsIn, check } from '../independent-service/judging.ts'
import { play } from '../independent-service/playing.ts'
import { PLAIN, type Profile, randomProfile } from '../independent-service/profile.ts'
import { IndependentService } from '../independent-service/service.ts'
import { type Session, thoroughSession } from '../independent-service/sessions.ts'
import { playAtOnce } from './at-once.ts'
import {
  add,
  create,
  destroy,
  group,
  groups,
  judgeAfter,
  judgeLast,
  list,
  refused,
  remove,
  type Step,
  sentByKey,
  sentWith,
  change as update,
} from './judged.ts'

const CONTENT_FIRST: Profile['checks'] = ['route', 'media', 'size', 'json', 'key', 'limit', ...PLAIN.checks.slice(6)]

/** Services that keep the specification in ways that are not usual. */
const SERVICES: readonly Profile[] = [
  {
    ...PLAIN,
    name: 'reads the body before the key, and has a smaller limit for callers without one',
    checks: CONTENT_FIRST,
    quota: { ...PLAIN.quota, anonymous: 5, headersOn: ['success', 'refusal', 'unauthorized', 'limited'] },
  },
  {
    ...PLAIN,
    name: 'takes any charset and any media type',
    codes: { ...PLAIN.codes, otherCharset: 'accepted', otherMedia: 'accepted', otherEncoding: 'accepted' },
  },
  { ...PLAIN, name: 'trims names', names: { ...PLAIN.names, trimmed: true }, stored: 'as sent' },
  {
    ...PLAIN,
    name: 'orders each list at random',
    lists: { domains: 'hash', records: 'hash', groups: 'hash', members: 'hash', echoed: 'hash' },
  },
]

/** Requests that such services take in their own way. */
const unusualSession: Session = (ask) => {
  const send = (body: unknown, headers: Record<string, string> = {}, authorization?: string | null) =>
    ask('POST', '/domaingroups', { body, headers, ...(authorization !== undefined && { authorization }) })
  for (const authorization of [null, 'Bearer another-key', 'Basic abc']) {
    for (const body of ['{', '[]', '', '{"name":"A"}', { x: 1 }]) send(body, {}, authorization)
  }
  for (const type of ['application/json; charset=iso-8859-1', 'text/plain', 'application/json;charset=UTF-8']) {
    send({ name: `By ${type.length}` }, { 'content-type': type })
  }
  for (const name of [' Shop ', 'Shop', 'Ärzte', 'shop\u200b', '\ufeff', 'a\ud800b']) send({ name })
  ask('POST', '/domains', { body: { domains: ['B.Example', 'a.example'] } })
  ask('POST', '/domains', { body: { domains: ['x.example.', 'bücher.example'] } })
  for (const path of ['/domains', '/dmarc', '/domaingroups', '/domains']) ask('GET', path)
}

describe('a service is judged justly that', () => {
  it.each(SERVICES)('$name', async (profile) => {
    for (const session of [unusualSession, thoroughSession]) {
      const exchanges = play(session, new IndependentService(profile))
      expect(accusationsIn(await check(exchanges, { isSoleWriter: true }))).toEqual([])
    }
  })

  it('answers 204 to a DELETE breaks the contract: every response body has the envelope', async () => {
    const { judge } = await judgeAfter([{ ...destroy('x'), status: 204, body: '' }])
    expect(judge.conclude().findings.map(({ id }) => id)).toEqual([
      'contract-violation/deleteDomainGroup/204/response/status',
      'contract-violation/deleteDomainGroup/204/response/body',
    ])
  })

  it('adds fields to each of many groups is told of these, and not of the answer with one group', async () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      ...group(`4fTq81Z${name}`, name),
      created_at: '2026-01-01',
    }))
    const { judge } = await judgeAfter([groups(...all)])
    expect(judge.conclude().findings.map(({ id }) => id)).toEqual([
      'contract-violation/listDomainGroups/200/response/data/groups/*/created_at/additionalProperties',
    ])
  })

  it('has no words for the reason of a refusal keeps the contract: a message is a string', async () => {
    const body = { success: false, error: { code: 'not_found', message: '' } }
    const { judge } = await judgeAfter([{ ...destroy('none'), status: 404, body }])
    expect(judge.conclude().findings).toEqual([])
  })

  it.each([300, 302, 307])('answers %d breaks the contract', async (status) => {
    const { judge } = await judgeAfter([{ ...list(), status, body: '' }])
    expect(judge.conclude().findings.map(({ id }) => id)).toContain(
      `contract-violation/listDomains/${status}/response/status`,
    )
  })
})

describe('another client', () => {
  const SHOP = group('4fTq81Zb', 'Shop', 'a.example')
  const KNOWN = [list('a.example'), groups(SHOP)]

  it.each([
    ['has deleted the group of an empty change', refused(update('4fTq81Zb', {}, {}), 'not_found', 404)],
    ['has taken the name', refused(create({ name: 'New', domains: ['no host'] }, {}), 'duplicate_name')],
    ['has added the domain', refused(add(['x.example']), 'invalid_domain')],
    ['has removed the member', refused(create({ name: 'New', domains: ['a.example'] }, {}), 'not_monitored')],
    ['has removed all', list()],
    ['has changed the group', groups(group('4fTq81Zb', 'Other'))],
    ['has created the deleted group again', { path: '/domaingroups?id=4fTq81Zb', body: success({ group: SHOP }) }],
  ])('may be the reason: it %s', async (what, step) => {
    const all = what.includes('deleted group again') ? [...KNOWN, destroy('4fTq81Zb')] : KNOWN
    const ids = await judgeLast([...all, step], {})
    expect(ids).toEqual([expect.stringMatching(/^cannot-tell\/.*\/changed$/)])
    const sure = await judgeLast([...all, step], { isSoleWriter: true })
    expect(sure).toEqual([expect.stringMatching(/^(broken-rule|unexplained)\//)])
  })

  const isOwnName = (name: string) => name.includes('own')
  const run = group('4fTq81Zb', 'own', 'own.example', 'own-2.example')
  const records: Step = { path: '/dmarc', body: success(run.domains.map((domain) => ({ domain }))) }
  const started = [list('own.example', 'own-2.example'), groups(run), records]

  it.each<[what: string, step: Step]>([
    ['removes a domain', list('own.example')],
    [
      'removes a domain, so that it is no member',
      refused(create({ name: 'New', domains: ['own.example'] }, {}), 'not_monitored'),
    ],
    ['removes a domain, so that it is not removed twice', remove(['own.example', 'own-2.example'], ['own.example'])],
    ['removes a domain, so that it has no record', { path: '/dmarc', body: success([]) }],
    ['deletes a group', groups()],
    ['deletes a group, so that it is not found', refused(destroy('4fTq81Zb'), 'not_found', 404)],
    ['deletes a group, so that its name is free', create({ name: 'own' }, group('other', 'own'))],
    ['renames a group', groups({ ...run, name: 'Other' })],
    [
      'renames a group before a change',
      update('4fTq81Zb', { remove_domains: [] }, { group: { ...run, name: 'Other' } }),
    ],
    ['takes a member away', groups({ ...run, domains: ['own.example'] })],
    [
      'takes a member away before a change',
      update('4fTq81Zb', { add_domains: ['own.example'] }, { group: { ...run, domains: ['own.example'] } }),
    ],
    ['adds a member', groups({ ...run, domains: [...run.domains, 'b.example'] })],
  ])('%s of a run', async (_, step) => {
    expect(await judgeLast([...started, step], { isOwnName })).toEqual([expect.stringMatching(/^cannot-tell/)])
    expect(await judgeLast([...started, step])).toEqual([expect.stringMatching(/^(broken-rule|unexplained)\//)])
  })

  it.each<[what: string, ...steps: Step[]]>([
    ['a domain', remove(['own.example']), list('own.example', 'own-2.example')],
    [
      'a domain, so that it is a member',
      remove(['own.example']),
      create({ name: 'New', domains: ['own.example'] }, group('n', 'New', 'own.example')),
    ],
    ['a domain, so that it is not counted', remove(['own.example']), add(['own.example'], ['own.example'], 0)],
    ['a member', remove(['own.example']), groups(run)],
    [
      'a member before a change',
      update('4fTq81Zb', { remove_domains: ['own.example'] }, {}),
      update('4fTq81Zb', { name: 'own' }, { group: run }),
    ],
    ['a group', groups(run, group('n', 'own 2'))],
    ['a group with a name that is taken', refused(create({ name: 'own 2' }, {}), 'duplicate_name', 409)],
    ['a group that the run has deleted', destroy('4fTq81Zb'), groups(run)],
    ['the former name', update('4fTq81Zb', { name: 'own 2' }, {}), groups(run)],
    ['a group with an id that a run invents', destroy('own-id')],
  ])('adds nothing with a name of a run: %s', async (_, ...steps) => {
    expect(await judgeLast([...started, ...steps], { isOwnName })).toEqual([
      expect.stringMatching(/^(broken-rule|unexplained)\//),
    ])
  })
})

describe('what is not known says nothing', () => {
  const unknown = { isKnown: false, reason: 'It was left out.' } as const
  const withoutRequest = (exchange: Exchange): Exchange => ({
    ...exchange,
    request: { ...exchange.request, body: unknown },
  })
  const withoutResponse = (exchange: Exchange): Exchange => ({
    ...exchange,
    response: exchange.response && { ...exchange.response, body: unknown },
  })
  const lost = (exchange: Exchange): Exchange => ({ ...exchange, response: undefined })
  const overlapping = (exchange: Exchange): Exchange => ({ ...exchange, overlaps: true })

  it.each([
    ['the body of the request', withoutRequest],
    ['the body of the response', withoutResponse],
    ['the response', lost],
    ['the order of requests at the same time', overlapping],
  ])('%s', async (_, change) => {
    const [before, mail] = [list('a.example'), groups(group('m', 'Mail'))]
    const pairs = [
      [add(['b.example']), [before, list('a.example', 'b.example')]],
      [remove(['a.example']), [before, list()]],
      [refused(add(['a.example', 'b.example']), 'invalid_domain'), [before, list('a.example', 'b.example')]],
      [create({ name: 'New' }, group('n', 'New')), [mail, groups(group('m', 'Mail'), group('n', 'New'))]],
      [update('m', { name: 'Post' }, {}), [mail, groups(group('m', 'Post'))]],
      [destroy('m'), [mail, groups()]],
    ] as const
    for (const [write, reads] of pairs) {
      // A removal of a group has no body that could be unknown.
      if (change === withoutRequest && write.sent === undefined) continue
      for (const read of reads) {
        const { take } = await judgeAfter([before, mail, { ...write, change }])
        expect(take(read)).toEqual([])
      }
    }
  })

  it.each([1, 2, 3, 4, 5, 6])('whatever is asked at the same time: seed %i', async (seed) => {
    for (const isSoleWriter of [true, false]) {
      const service = new IndependentService(randomProfile(seed))
      expect(accusationsIn(await check(playAtOnce(seed, service), { isSoleWriter }))).toEqual([])
    }
  })

  it('a redacted key may be any', async () => {
    const quota = (remaining: number) => ({ 'X-RateLimit-Limit': '30', 'X-RateLimit-Remaining': `${remaining}` })
    const steps = [12, 29, 11, 28].map((left) => ({
      ...list(),
      headers: { ...quota(left), 'X-Request-Id': `5ecb3e29-3c77-4a1f-8a3e-0f6a1c0a9d${left}` },
      change: sentWith({ kind: 'unknown' }),
    }))
    const { judge } = await judgeAfter(steps, {})
    expect(accusationsIn(judge.conclude())).toEqual([])
  })
})

describe('a request to change the account that got no answer', () => {
  const lost = (exchange: Exchange): Exchange => ({ ...exchange, response: undefined })
  const byGateway = (write: Step): Step => ({ ...write, status: 504, body: '<html>' })
  const [empty, a, b] = [list(), list('a.example'), list('a.example', 'b.example')]
  const [none, mail, post] = [
    groups(),
    groups(group('m', 'Mail', 'a.example')),
    groups(group('m', 'Post', 'a.example')),
  ]
  const late: readonly (readonly [what: string, write: Step, before: Step, after: Step])[] = [
    ['adds a domain', add(['b.example']), a, b],
    ['removes a domain', remove(['a.example']), a, empty],
    ['takes a member away', remove(['a.example']), mail, groups(group('m', 'Mail'))],
    ['creates a group', create({ name: 'Mail', domains: ['a.example'] }, {}), none, mail],
    ['renames a group', update('m', { name: 'Post' }, {}), mail, post],
    ['deletes a group', destroy('m'), mail, none],
  ]
  const minutes = (count: number) => DATE + count * 60_000

  it.each(late)('$0 much later', async (_, write, before, after) => {
    for (const unanswered of [{ ...write, change: lost }, byGateway(write)]) {
      const { take } = await judgeAfter([a, before, unanswered, before, before])
      expect(take({ ...after, at: minutes(14) })).toEqual([])
    }
  })

  it.each(late)('$0 for another key of the account', async (_, write, before, after) => {
    const change = sentByKey('key 2')
    const read = { ...before, change }
    const { take } = await judgeAfter([read, { ...write, change: lost }, read, read])
    expect(take({ ...after, change })).toEqual([])
  })

  it('does nothing any more after a quarter of an hour', async () => {
    const again = [
      { ...a, at: minutes(16) },
      { ...a, at: minutes(17) },
    ]
    const { take } = await judgeAfter([a, { ...add(['b.example']), change: lost }, a, ...again])
    expect(take({ ...b, at: minutes(18) })).toEqual(['broken-rule/listDomains/200/all-domains-listed'])
  })

  it('is one of so many that nothing is certain', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...add([`n${index}.example`]), change: lost }))
    const { take } = await judgeAfter([a, ...many, a])
    expect(take(list('a.example', 'n3.example'))).toEqual([])
  })
})

describe('a service that finds the group for its id in other case', () => {
  const [shop, other] = [group('4ftq81zb', 'Shop'), '4FTQ81ZB']
  const asked: Step = { path: `/domaingroups?id=${other}`, body: success({ group: shop }) }
  it.each<[string, Step[]]>([
    ['reads it', [groups(shop), asked]],
    ['reads it, of an account that is not known', [asked]],
    ['renames it', [groups(shop), update(other, { name: 'Mail' }, { group: { ...shop, name: 'Mail' } })]],
    ['renames it unseen', [update(other, { name: 'Mail' }, { group: { ...shop, name: 'Mail' } })]],
    ['changes it without showing it', [groups(shop), update(other, { add_domains: ['a.example'] }, null)]],
    ['deletes it', [groups(shop), destroy(other), groups()]],
    ['keeps another group with the other id', [groups(shop, group(other, 'Mail')), destroy(other), groups(shop)]],
  ])('%s', async (_, steps) => expect(await judgeLast(steps)).toEqual([]))
})

describe('a request without a key', () => {
  it.each([
    ['must not succeed', list('a.example'), ['broken-rule/listDomains/200/key-required']],
    [
      'must not be told of the account',
      refused(destroy('x'), 'not_found', 404),
      ['broken-rule/deleteDomainGroup/404/key-required'],
    ],
    ['may be told of its body', { ...refused(add([]), 'invalid_json'), sent: '{' }, []],
    ['may be told of its length', refused(add(Array(51).fill('x.example')), 'request_too_large'), []],
    ['may be refused for the limit', { ...list(), status: 429, body: failure('rate_limited') }, []],
  ])('%s', async (_, step, ids) => {
    expect(
      (await judgeLast([{ ...step, change: sentWith({ kind: 'none' }) }])).filter((id) => !id.startsWith('contract')),
    ).toEqual(ids)
  })
})
