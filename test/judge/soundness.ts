import fc, { type Arbitrary } from 'fast-check'
import { expect } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { nameOf } from '../../src/contract/choices.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { isFailure, partyOf } from '../../src/judge/finding.ts'
import { decideVerdicts } from '../../src/judge/verdicts.ts'
import { accusationsIn, check } from '../independent-service/judging.ts'
import { choices } from '../support/choices.ts'
import { askControl } from '../support/control-plane.ts'
import { exchangeWith } from '../support/exchanges.ts'
import { API_KEY, openService, START, type TestService } from '../support/service.ts'
import { weighted } from '../support/weighted.ts'
import { wrongVerdicts } from './calibration.ts'

/** A request of a random session. `{3}` in a path stands for the id of a group that was seen. */
interface Asked {
  method: string
  path: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
  as?: Key
  /** Nobody may say that it violates the contract. */
  isLawful?: boolean
}

/** `old` and `own` are keys of the account without a grace period, `young` has one, and `foreign` is no key. */
type Key = keyof typeof KEYS
const keyNamed = (id: string) => `Bearer key_${id}.${'5'.repeat(48)}`
const KEYS = {
  old: `Bearer ${API_KEY}`,
  own: keyNamed('OwnOwn01'),
  young: keyNamed('YoungKey'),
  foreign: keyNamed('Foreign1'),
  malformed: 'Bearer',
  none: null,
}

type Move =
  /** Those of one move are sent at once; somebody else's are not recorded. */
  | { requests: readonly Asked[]; isOther: boolean }
  | { wait: number }
  | { features: readonly string[]; domain: string }
  | { burst: string; count: number }

interface Session {
  moves: readonly Move[]
  /** Then nobody may say that no other client writes. */
  hasOthers: boolean
  /** How many exchanges passed before the recording began. */
  skipped: number
  /** How far the clock of the recorder is ahead, in milliseconds. */
  skew: number
}

const FIXTURE = {
  domains: ['a.example', 'b.example', { name: 'used.example', features: ['mta-sts'] }],
  groups: [
    { name: 'Shop', domains: ['a.example'] },
    { name: 'Mail', domains: ['a.example', 'b.example'] },
  ],
}
const MINUTE = 60_000
/** How long a request takes. */
const PACE = 7

const NAMES = ['a.example', 'b.example', 'c.a.example', 'd.example', 'e.example']
const domains = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
const members = fc.array(fc.constantFrom(...NAMES), { maxLength: 3 })
const name = fc.constantFrom('Web', 'Mail', 'Shop', 'shop', 'Post')
const group = fc.nat(9).map((index) => `/domaingroups?id={${index}}`)
const at = (path: string) => fc.constant(path)
const lawful = (method: string, path: Arbitrary<string>, body?: Arbitrary<unknown>): Arbitrary<Asked> =>
  fc.record({ method: fc.constant(method), path, body: body ?? fc.constant(undefined), isLawful: fc.constant(true) })
const change = fc.oneof(
  fc.record({ name }),
  fc.record({ domains: members, name }, { requiredKeys: ['domains'] }),
  fc.record({ add_domains: members, remove_domains: members }, { requiredKeys: ['add_domains'] }),
  fc.record({ remove_domains: members }),
)
const [ADD, CREATE] = [
  { method: 'POST', path: '/domains' },
  { method: 'POST', path: '/domaingroups' },
] as const
/** Of these nobody says whether the contract permits them. */
const odd = fc.constantFrom<Asked>(
  ...['co.uk', '_dmarc.b.example', 'B.Example.', 'bücher.example', 'no host'].map((each) => ({
    ...ADD,
    body: { domains: ['x.example', each] },
  })),
  ...[{}, { domains: [] }, { domains: 'a.example' }, { domains: null }, { domain: ['a.example'] }, '{', ''].map(
    (body) => ({ ...ADD, body }),
  ),
  { ...ADD, body: { domains: ['y.example', 'y.example'] } },
  { method: 'DELETE', path: '/domains', body: { domains: ['used.example'] } },
  { method: 'DELETE', path: '/domains', body: { domains: ['a.example', 'unknown.example'] } },
  ...['sho\u00adp', 'é'.repeat(60), ' Shop ', ''].map((each) => ({ ...CREATE, body: { name: each } })),
  { ...CREATE, body: '{"name":"A","name":"B"}' },
  { ...CREATE, body: { name: 'Typed' }, headers: { 'content-type': 'text/plain' } },
  { ...CREATE, body: { name: 'Origin' }, headers: { origin: 'http://localhost:5173' } },
  { method: 'PATCH', path: '/domaingroups?id={0}', body: {} },
  { method: 'PATCH', path: '/domaingroups', body: { name: 'None' } },
  { method: 'DELETE', path: '/domaingroups?id={0}&id={1}' },
  { method: 'PUT', path: '/domains', body: { domains: [] } },
  ...['/nowhere', '/Domains', '/domains/', '/domains?page=2', '/domaingroups?id='].map((path) => ({
    method: 'GET',
    path,
  })),
  ...['HEAD', 'OPTIONS'].map((method) => ({ method, path: '/domains' })),
)
const sent: Arbitrary<Asked> = weighted(
  [6, lawful('GET', at('/domains'))],
  [6, lawful('GET', at('/domaingroups'))],
  [4, lawful('GET', at('/dmarc'))],
  [4, lawful('GET', group)],
  [6, lawful('POST', at('/domains'), fc.record({ domains }))],
  [4, lawful('DELETE', at('/domains'), fc.record({ domains }))],
  [6, lawful('POST', at('/domaingroups'), fc.record({ name, domains: members }, { requiredKeys: ['name'] }))],
  [8, lawful('PATCH', group, change)],
  [2, lawful('DELETE', group)],
  [20, odd],
)
const by = (...keys: Key[]): Arbitrary<Asked> =>
  fc.tuple(sent, fc.constantFrom(...keys)).map(([asked, as]) => ({ ...asked, as }))
const requests = (request: Arbitrary<Asked>, isOther = false) =>
  fc.array(request, { minLength: 1, maxLength: 1 }).map((all): Move => ({ requests: all, isOther }))
const WAITS = [1000, MINUTE, 20 * MINUTE, 60 * MINUTE, 7 * 60 * MINUTE, 1440 * MINUTE, 8 * 1440 * MINUTE]

/** Random sessions of one client or several with an account, of which somebody has recorded a part. */
const sessions: Arbitrary<Session> = fc.boolean().chain((hasOthers) => {
  const move = weighted<Move>(
    [40, requests(by('old', 'old', 'old', 'own', 'young'))],
    [2, requests(by('none', 'foreign', 'malformed'))],
    [2, fc.array(by('old'), { minLength: 2, maxLength: 4 }).map((all): Move => ({ requests: all, isOther: false }))],
    [hasOthers ? 12 : 0, requests(by('own', 'old', 'young'), true)],
    [4, fc.constantFrom(...WAITS).map((wait) => ({ wait }))],
    [1, fc.constantFrom([], ['mta-sts']).map((features) => ({ features, domain: 'b.example' }))],
    [1, fc.constantFrom('/dmarc', '/domains').map((burst) => ({ burst, count: burst === '/dmarc' ? 11 : 31 }))],
  )
  return fc.record({
    moves: fc.array(move, { minLength: 5, maxLength: 40, size: 'max' }),
    hasOthers: fc.constant(hasOthers),
    skipped: fc.oneof(fc.constant(0), fc.nat(10)),
    skew: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, fc.constantFrom(-1500, 900, 40_000)),
  })
})

/** Names of alternatives, at most one of each assumption. */
const truths: Arbitrary<string[]> = fc
  .constantFrom(1, 2, 3, 8)
  .chain((count) =>
    fc.uniqueArray(fc.constantFrom(...choices.alternatives), {
      minLength: count,
      maxLength: count,
      selector: ({ id }) => id,
    }),
  )
  .map((chosen) => chosen.map(nameOf))

/** The service is not accused of so many sessions, whatever it has chosen. */
export async function expectNoAccusation(seed: number, numRuns: number): Promise<void> {
  const some = fc.oneof(fc.constant<string[]>([]), truths)
  const property = fc.asyncProperty(sessions, some, async (session, truth) => {
    expect(await wrongsAbout(session, truth), truth.join()).toEqual([])
  })
  await fc.assert(property, { seed, numRuns, endOnFailure: true })
}

/** Everything that is said wrongly about a session with a service that makes these choices. */
export async function wrongsAbout(session: Session, truth: readonly string[] = []): Promise<string[]> {
  const chosen = choices.alternatives.filter((alternative) => truth.includes(nameOf(alternative)))
  const contract = chosen.length === 0 ? choices.contract : await choices.compile(chosen)
  // Other choices forbid some of what the fixture holds.
  const open = (fixture: object | string) => openService({ fixture: fixture as never }, OPERATIONS, { contract })
  const service = await open(FIXTURE).catch(() => open('empty'))
  const { exchanges, lawful: kept } = await play(session, service).finally(service.stop)
  const wrongs: string[] = []
  for (const isSoleWriter of session.hasOthers ? [false] : [true, false]) {
    const conclusion = await check(exchanges, { isSoleWriter })
    const verdicts = decideVerdicts(conclusion.observations, choices)
    wrongs.push(...accusationsIn(conclusion), ...wrongVerdicts(verdicts, chosen))
    const ofClient = conclusion.findings.filter((each) => isFailure(each) && partyOf(each) === 'client')
    const unjust = ofClient.filter(({ request_id = '' }) => kept.has(request_id))
    wrongs.push(...(truth.length === 0 ? unjust.map(({ id, message }) => `${id}: ${message}`) : []))
  }
  return wrongs
}

async function play({ moves, skipped, skew }: Session, service: TestService) {
  const seen: Exchange[] = []
  const kept = new Set<string>()
  const groups: string[] = []
  let now = START
  const advance = (milliseconds: number) => {
    now += milliseconds
    service.advance(milliseconds)
  }
  for (const [label, secret] of Object.entries({ own: KEYS.own, young: KEYS.young })) {
    const age = label === 'young' ? {} : { created_at: '2025-06-01T00:00:00Z' }
    const key = { key: secret.replace('Bearer ', ''), label, ...age }
    await askControl(service, 'POST', '/accounts/default/keys', key)
  }
  const ask = async ({ path, as = 'old', isLawful, headers = {}, ...more }: Asked, overlaps = false) => {
    const target = path.replaceAll(/\{(\d)\}/g, (_, index) => groups[Number(index) % groups.length] ?? 'NoGroup1')
    const sending = { ...more, path: target, authorization: KEYS[as], overlaps, at: now + skew, headers }
    const exchange = await exchangeWith(service.baseUrl, sending)
    exchange.until = now + skew + PACE
    if (isLawful === true && as !== 'malformed') kept.add(exchange.id)
    const body = exchange.response?.body
    const text = body?.isKnown === true ? body.bytes.toString() : ''
    for (const [, id = ''] of text.matchAll(/"id":"([^"]+)"/g)) if (!groups.includes(id)) groups.unshift(id)
    return exchange
  }
  for (const move of moves) {
    if ('wait' in move) advance(move.wait)
    else if ('features' in move) {
      const { domain, features } = move
      await askControl(service, 'PUT', `/accounts/default/domains/${domain}/features`, { features })
    } else if ('burst' in move) {
      for (let sent = 0; sent < move.count; sent++) seen.push(await ask({ method: 'GET', path: move.burst }))
    } else {
      const overlaps = move.requests.length > 1
      const exchanges = await Promise.all(move.requests.map((each) => ask(each, overlaps)))
      if (!move.isOther) seen.push(...exchanges)
    }
    advance(PACE)
  }
  return { exchanges: seen.slice(skipped), lawful: kept }
}
