import fc, { type Arbitrary } from 'fast-check'
import { expect } from 'vitest'
import { weighted } from '../support/weighted.ts'
import { DAY, type Held, HOUR, idOf, instant, stateIn } from './account.ts'
import { bodyOfChanges, bodyOfDomains, bodyOfGroup, type SentBody } from './bodies.ts'
import { type Command, command } from './commands.ts'
import { canStrike } from './faults.ts'
import { BAD_DOMAINS, BAD_FIXTURES, FIRST, FIXTURES, secretOf, USUAL_DOMAINS } from './pool.ts'
import { bearer, readingOf } from './requests.ts'
import type { Answer, Run } from './run.ts'

const WEEK = 7 * DAY

/** What is asked of the control plane about an account, and what it does. */
interface Deed {
  run: Run
  held: Held
  /** On the account's clock. */
  now: number
  ask(method: string, target: string, body?: unknown): Promise<Answer>
}

/** A command about an account that is there; an account that is not is not asked about. */
function deed<Drawn>(name: string, drawn: Arbitrary<Drawn>, act: (deed: Deed, drawn: Drawn) => Promise<void>) {
  const id = weighted(
    [12, fc.constant('default')],
    [3, fc.constant('other')],
    [1, fc.constantFrom('sandbox_one', 'third')],
  )
  return fc.tuple(id, drawn).map(([account, value]): Command => {
    return command(`(${name} of ${account} ${JSON.stringify(value) ?? ''})`, async (run) => {
      const held = run.world.accounts.get(account)
      if (held === undefined) return
      const ask: Deed['ask'] = (method, target, body) => run.control(method, `/accounts/${account}${target}`, body)
      await act({ run, held, now: held.clock(run.world.now), ask }, value)
    })
  })
}

/** The answer must be this. */
function holdTo({ status, code }: Answer, wanted: number | readonly [number, string]): boolean {
  expect([status, code]).toEqual(typeof wanted === 'number' ? [wanted, undefined] : wanted)
  return status < 300
}

/** No clock starts where all must stand. */
const standing = <Body extends { frozen?: boolean }>({ world }: Run, body: Body): Body =>
  world.isStanding && body.frozen === false ? { ...body, frozen: true } : body

const NOT_FOUND = [404, 'not_found'] as const
const INVALID = [400, 'invalid_value'] as const
const TAKEN = [409, 'taken'] as const

const pick = <Item>(items: readonly Item[], index: number | null) =>
  index === null ? undefined : items.at(index % Math.max(1, items.length))
const anyIndex = fc.constantFrom(0, 0, 1, 2, -1, -1, null)

const ADVANCES = { PT0S: 0, PT1M: 60_000, PT59M59S: 3_599_000, PT1H: HOUR, P1D: DAY, P1W: WEEK, P1DT2H: 26 * HOUR }
const clock = fc.oneof(
  fc.record({ advance: fc.constantFrom(...(Object.keys(ADVANCES) as (keyof typeof ADVANCES)[])) }),
  fc.record({ now: fc.constantFrom(0, 1, HOUR, DAY, -1, -DAY) }),
  fc.record({ frozen: fc.boolean() }),
  fc.record({ now: fc.constant(1_000), advance: fc.constant('PT1H' as const), frozen: fc.boolean() }),
)
const setClock = deed<{ now?: number; advance?: keyof typeof ADVANCES; frozen?: boolean }>(
  'clock',
  clock,
  async ({ run, held, now, ask }, { now: after, ...drawn }) => {
    const body = standing(run, drawn)
    const next = now + (after ?? 0) + (body.advance === undefined ? 0 : ADVANCES[body.advance])
    const given = after === undefined ? body : { ...body, now: instant(now + after) }
    const answer = await ask('PATCH', '/clock', given)
    if (!holdTo(answer, next < now ? INVALID : 200)) return
    held.setClock(next, body.frozen ?? held.isFrozen, run.world.now)
  },
)

/** "Just after the next ending of a kind, of whichever key or path." */
const ENDINGS = {
  'window-end': ({ account }: Held) => {
    return [...account.charged.values()].flat().map((stamp) => stamp - (stamp % HOUR) + HOUR)
  },
  refresh: (_: Held, now: number) => [now - (now % DAY) + DAY],
  'grace-end': ({ account }: Held) => account.keys.map(({ createdAt }) => createdAt + WEEK),
}
const kinds = fc.constantFrom('window-end' as const, 'refresh' as const, 'grace-end' as const)
const moveClock = deed('clock to', kinds, async ({ run, held, now, ask }, to) => {
  const coming = ENDINGS[to](held, now).filter((ending) => ending > now)
  if (!holdTo(await ask('PATCH', '/clock', { to }), coming.length === 0 ? INVALID : 200)) return
  held.setClock(Math.min(...coming), held.isFrozen, run.world.now)
})

const newKey = fc.record(
  {
    key: fc.constantFrom('late', 'late', 'spare', 'fixed', 'young').map(secretOf),
    created_at: fc.constantFrom(0, -WEEK, -WEEK + 1, -WEEK + HOUR, -30 * DAY, 1),
    label: fc.constant('Later'),
  },
  { requiredKeys: [] },
)
const createKey = deed<{ key?: string; created_at?: number; label?: string }>(
  'new key',
  newKey,
  async ({ run, held, now, ask }, { created_at: after, ...body }) => {
    const given = after === undefined ? body : { ...body, created_at: instant(now + after) }
    const isTaken = body.key !== undefined && run.world.isTaken([body.key])
    const answer = await ask('POST', '/keys', given)
    if (!holdTo(answer, (after ?? 0) > 0 ? INVALID : isTaken ? TAKEN : 201)) return
    const secret = answer.data.api_key
    if (body.key === undefined) run.world.secrets.push(secret)
    const label = body.label === undefined ? {} : { label: body.label }
    held.account.keys.push({ secret, createdAt: now + (after ?? 0), disabled: false, ...label })
    await run.send(readingOf('/domaingroups', `Bearer ${secret}`))
  },
)
const changeKey = deed(
  'change of key',
  fc.record({ index: anyIndex, disabled: fc.constantFrom(true, false, null) }),
  async ({ run, held, ask }, { index, disabled }) => {
    const { account } = held
    const key = pick(account.keys, index)
    const path = `/keys/${key === undefined ? 'key_none' : idOf(key.secret)}`
    const answer = disabled === null ? await ask('DELETE', path) : await ask('PATCH', path, { disabled })
    if (!holdTo(answer, key === undefined ? NOT_FOUND : 200) || key === undefined) return
    if (disabled !== null) key.disabled = disabled
    else {
      account.keys = account.keys.filter((each) => each !== key)
      // What was counted for a key ends with it, also if the same key is there again later.
      for (const name of account.charged.keys()) if (name.startsWith(`${key.secret} `)) account.charged.delete(name)
    }
    await run.send(readingOf('/domaingroups', `Bearer ${key.secret}`))
  },
)

const setQuota = deed(
  'quota',
  fc.record({
    path: fc.constantFrom('/dmarc', '/domains', '/domaingroups'),
    remaining: fc.oneof(fc.nat(3), fc.constantFrom(10, 11, 30, 100, 1000)),
    index: fc.constantFrom(0, -1, null, null),
  }),
  async ({ held, now, ask }, { path, remaining, index }) => {
    const { service, account } = held
    const key = pick(account.keys, index)
    const meant = key === undefined ? account.keys : [key]
    const buckets = meant.map((each) => service.quotaOf(each, path, now))
    const body = { bucket: path.slice(1), remaining, ...(key && { key: idOf(key.secret) }) }
    const isTooMuch = buckets.some(({ limit }) => remaining > limit)
    if (!holdTo(await ask('PATCH', '/quotas', body), isTooMuch ? INVALID : 200)) return
    for (const { name, limit } of buckets) account.charged.set(name, Array(limit - remaining).fill(now))
  },
)

const domain = fc.oneof(
  { arbitrary: fc.constantFrom(...USUAL_DOMAINS, 'locked.example'), weight: 8 },
  // A path with one of the first two would be another path.
  fc.constantFrom(...BAD_DOMAINS.slice(2)),
)
/** The domain of the account that a path means, which may be spelt in any way. */
function monitored({ account }: Held, text: string): string | undefined {
  const name = text.normalize('NFKC').toLowerCase().replace(/\.$/, '')
  return BAD_DOMAINS.includes(text) ? undefined : account.domains.find((each) => each === name)
}
const setFeatures = deed(
  'features',
  fc.record({ text: domain, features: fc.constantFrom<string[]>([], ['mta-sts'], ['bimi', 'tls-rpt']) }),
  async ({ held, ask }, { text, features }) => {
    const name = monitored(held, text)
    const answer = await ask('PUT', `/domains/${encodeURIComponent(text)}/features`, { features })
    if (!holdTo(answer, name === undefined ? NOT_FOUND : 200) || name === undefined) return
    if (features.length > 0) held.account.inUse.set(name, features)
    else held.account.inUse.delete(name)
  },
)
const PINS = [
  ...[{ p: 'reject' }, { p: 'quarantine', np: 'none', pct: 50 }, { sp: 'reject', testing: 'y' }, { dkim: 12.5 }],
  ...[{ dmarc: 99.9, dkim: 99.9, spf: 0 }, { count: 0 }, { profile: 'enforced' }, { profile: 'parked', p: 'none' }],
]
const pinRecord = deed(
  'fixed figures',
  fc.record({ text: domain, pin: fc.constantFrom<object | null>(...PINS, { count: 0, spf: 5 }, null, null) }),
  async ({ held, ask }, { text, pin }) => {
    const name = monitored(held, text)
    const path = `/domains/${encodeURIComponent(text)}/dmarc`
    const answer = pin === null ? await ask('DELETE', path) : await ask('PUT', path, pin)
    const isContradiction = pin !== null && 'count' in pin && 'spf' in pin
    if (!holdTo(answer, isContradiction ? INVALID : name === undefined ? NOT_FOUND : 200)) return
    const { profile: _, ...fields } = (pin ?? {}) as { profile?: string }
    expect(answer.data.record).toMatchObject({ ...fields, domain: name })
  },
)

/** A body of the service that is a JSON object; the control plane refuses any other before the service could. */
const objectOf = (body: Arbitrary<SentBody>) =>
  body.map(readObject).filter((value): value is Record<string, unknown> => value !== undefined)
function readObject({ content }: SentBody): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content))
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? undefined) : undefined
  } catch {
    return undefined
  }
}
type SetUp = { method: string; path: string; body?: object; index?: number | null }
const setUp = deed<SetUp>(
  'set-up',
  fc.oneof(
    objectOf(bodyOfDomains).map((body) => ({ method: 'POST', path: '/domains', body })),
    objectOf(bodyOfDomains).map((body) => ({ method: 'DELETE', path: '/domains', body })),
    objectOf(bodyOfGroup).map((body) => ({ method: 'POST', path: '/groups', body })),
    fc
      .tuple(objectOf(bodyOfChanges), anyIndex)
      .map(([body, index]) => ({ method: 'PATCH', path: '/groups', body, index })),
    anyIndex.map((index) => ({ method: 'DELETE', path: '/groups', index })),
  ),
  async ({ run, held, now, ask }, { method, path, body, index }) => {
    const id = index === undefined ? undefined : (pick(held.account.groups, index)?.id ?? 'zzzzzzzz')
    const target = `${path.replace('groups', 'domaingroups')}${id === undefined ? '' : `?id=${id}`}`
    const content = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const code = run.world.askFreely(held, { method, target: `/api/v1${target}`, body: content }, now)
    const answer = await ask(method, id === undefined ? path : `${path}/${id}`, body)
    holdTo(answer, code === undefined ? (method === 'POST' ? 201 : 200) : [409, 'refused'])
    await run.learnGroups(held)
  },
)

const snapshotName = fc.constantFrom('one', 'two')
const takeSnapshot = deed(
  'snapshot',
  fc.record({ name: snapshotName, replace: fc.boolean() }),
  async ({ run, held, ask }, body) => {
    const exported = (await ask('GET', '/state')).data
    const answer = await ask('POST', '/snapshots', body)
    if (!holdTo(answer, held.snapshots.has(body.name) && !body.replace ? TAKEN : 201)) return
    // "From the oldest to the newest."
    held.snapshots.delete(body.name)
    held.snapshots.set(body.name, { ...held.keep(run.world.now), exported })
  },
)
const restore = deed('restore', fc.constantFrom(0, 0, 1, 1, null), async ({ run, held, ask }, index) => {
  const name = pick([...held.snapshots.keys()], index) ?? 'none'
  const snapshot = held.snapshots.get(name)
  const secrets = snapshot?.life.account.keys.map(({ secret }) => secret) ?? []
  const answer = await ask('POST', `/snapshots/${name}/restore`)
  if (!holdTo(answer, snapshot === undefined ? NOT_FOUND : run.world.isTaken(secrets, held) ? TAKEN : 200)) return
  if (snapshot === undefined) return
  held.bringBack(snapshot, run.world.now)
  expect((await ask('GET', '/state')).data).toEqual(snapshot.exported)
  await lookAgain({ run, held })
})
const dropSnapshot = deed('drop', snapshotName, async ({ held, ask }, name) => {
  holdTo(await ask('DELETE', `/snapshots/${name}`), held.snapshots.delete(name) ? 200 : NOT_FOUND)
})

/** The state before a request is what a rewind to it brings back, and what it met. */
const rewind = deed('rewind', fc.nat(12), async ({ run, held, ask }, back) => {
  const known = held.entries.filter(({ before }) => before !== undefined)
  const entry = known.at(-1 - (back % Math.max(1, known.length)))
  if (entry?.before === undefined) return
  const exported = (await ask('GET', `/state?before=${entry.id}`)).data
  const secrets = entry.before.life.account.keys.map(({ secret }) => secret)
  const answer = await ask('POST', '/rewind', { request_id: entry.id })
  if (!holdTo(answer, run.world.isTaken(secrets, held) ? TAKEN : 200)) return
  held.bringBack(entry.before, run.world.now)
  expect((await ask('GET', '/state')).data).toEqual(exported)
  await lookAgain({ run, held })
})

const reset = deed(
  'reset',
  fc.record(
    {
      fixture: fc.constantFrom(...FIXTURES, ...BAD_FIXTURES),
      seed: fc.constantFrom(42, 7, 1),
      now: fc.constantFrom(-DAY, 0, DAY),
      frozen: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  async ({ run, held, now, ask }, { now: after, ...drawn }) => {
    const { origin } = held.life
    const body = standing(run, drawn)
    const chosen = after === undefined ? body : { ...body, now: instant(now + after) }
    const secrets = (chosen.fixture ?? origin.fixture).keys?.flatMap(({ key }) => key ?? []) ?? []
    const isTaken = run.world.isTaken([origin.key, ...secrets], held)
    const isBad = BAD_FIXTURES.some((bad) => bad === body.fixture)
    const answer = await ask('POST', '/reset', chosen)
    if (!holdTo(answer, isBad ? [400, 'invalid_fixture'] : isTaken ? TAKEN : 200)) return
    held.begin({ ...origin, ...chosen } as typeof origin, run.world.now)
    await lookAgain({ run, held })
  },
)
/** The state of any account at this moment, or a fixture, takes the place of what there is. */
const importState = deed(
  'import',
  fc.constantFrom('default', 'other', ...FIXTURES, ...BAD_FIXTURES),
  async ({ run, held, ask }, source) => {
    const isExport = typeof source === 'string'
    if (isExport && !run.world.accounts.has(source)) return
    const fixture = isExport ? (await run.control('GET', `/accounts/${source}/state`)).data : source
    const secrets = isExport ? [] : (source.keys?.flatMap(({ key }) => key ?? []) ?? [])
    const isBad = BAD_FIXTURES.some((bad) => bad === source)
    const answer = await ask('PUT', '/state', fixture)
    if (!holdTo(answer, isBad ? [400, 'invalid_fixture'] : run.world.isTaken(secrets, held) ? TAKEN : 200)) return
    held.enter(fixture, run.world.now)
    await lookAgain({ run, held })
    if (!isExport) return
    for (const { id } of fixture.groups ?? []) run.world.copiedIds.add(id)
    const [one, other] = [fixture, (await ask('GET', '/state')).data].map(
      ({ description: _, keys: __, ...rest }) => rest,
    )
    expect(other).toEqual(one)
    expect(stateIn(other)).toEqual(stateIn(one))
  },
)

const operations = ['createDomainGroup', 'addDomains', 'deleteDomains', 'updateDomainGroup'] as const
const match = fc.constantFrom<object>(
  ...[{}, {}, {}, { path: '/domaingroups' }, { path: '/domains' }, { path: '/dmarc' }],
  ...[{ method: 'POST' }, { method: 'GET' }, { method: 'HEAD' }, { key: idOf(secretOf('main')) }],
  ...operations.map((operation) => ({ operation })),
)
const effect = fc.constantFrom<object>(
  ...['internal_error', 'internal_error', 'rate_limited', 'unauthorized'].map((error) => ({ respond: { error } })),
  { respond: { error: 'unauthorized', status: 403 } },
  ...['not_found', 'duplicate_name', 'domain_delete_failed'].map((error) => ({ respond: { error } })),
  ...[{ connection: 'reset' }, { connection: 'reset' }, { connection: 'empty' }],
)
const terms = fc.record(
  {
    match,
    times: fc.constantFrom(1, 1, 1, 2),
    skip: fc.nat(2),
    phase: fc.constantFrom('before' as const, 'after' as const, 'after' as const),
    expires_after: fc.constantFrom('PT1H', 'P1D'),
  },
  { requiredKeys: ['match', 'times'] },
)
const addFault = deed(
  'fault',
  fc.tuple(terms, effect).map(([given, result]) => ({ ...given, ...result })),
  async ({ held, now, ask }, rule) => {
    const answer = await ask('POST', '/faults', rule)
    if (!holdTo(answer, canStrike(rule) ? 201 : INVALID)) return
    held.life.faults.push({ id: answer.data.fault.id, createdAt: now, rule, matched: 0, hits: 0 })
  },
)
const dropFault = deed('no fault', fc.constantFrom(0, 0, 1, 'all', null), async ({ held, ask }, index) => {
  const { life } = held
  const fault = index === 'all' ? undefined : pick(life.faults, index as number | null)
  const answer = await ask('DELETE', index === 'all' ? '/faults' : `/faults/${fault?.id ?? 'none'}`)
  holdTo(answer, index === 'all' || fault !== undefined ? 200 : NOT_FOUND)
  life.faults = index === 'all' ? [] : life.faults.filter((each) => each !== fault)
})

const setPlan = deed(
  'plan',
  fc.constantFrom('stone', 'above-stone', 'below-stone', 'gold'),
  async ({ held, ask }, plan) => {
    if (holdTo(await ask('PATCH', '', { plan }), plan === 'gold' ? INVALID : 200)) held.setPlan(plan)
  },
)
const clearJournal = deed('no journal', fc.constant(null), async ({ held, ask }) => {
  holdTo(await ask('DELETE', '/requests'), 200)
  held.entries = []
})
const clearVerdict = deed('no verdict', fc.constant(null), async ({ run }) => {
  holdTo(await run.control('DELETE', '/verdict'), 200)
  run.world.verdict = { requests: 0, injected: 0, violations: 0 }
})
const verifyRequests = deed('verify', fc.constant(null), async ({ held, ask }) => {
  const answer = await ask('POST', '/requests/verify', { match: {} })
  expect(answer.data.matched).toBe(held.entries.length)
})
const deleteAccount = deed('deletion', fc.constant(null), async ({ run, held, ask }) => {
  if (!holdTo(await ask('DELETE', ''), held.id === 'default' ? [409, 'protected'] : 200)) return
  run.world.accounts.delete(held.id)
})
const newAccount = fc.record(
  {
    id: fc.constantFrom('third', 'other'),
    plan: fc.constantFrom('stone', 'below-stone'),
    fixture: fc.constantFrom(...FIXTURES.slice(0, 2)),
  },
  { requiredKeys: ['id'] },
)
const createAccount: Arbitrary<Command> = newAccount.map((chosen) =>
  command(`(new account ${JSON.stringify(chosen)})`, async (run) => {
    const { id, fixture = FIRST, ...rest } = chosen
    const key = secretOf(id)
    const { world } = run
    const isTaken = world.accounts.has(id) || world.isTaken([key])
    if (!holdTo(await run.control('POST', '/accounts', { ...chosen, api_key: key }), isTaken ? TAKEN : 201)) return
    const held = world.open(id, { ...rest, fixture, key, seed: 42 })
    await lookAgain({ run, held })
    await run.send(readingOf('/domains', bearer(id)))
  }),
)

async function lookAgain({ run, held }: Pick<Deed, 'run' | 'held'>): Promise<void> {
  await run.learnGroups(held)
  await run.look(held, false)
}
const look = deed('look', fc.constant(null), async ({ run, held }) => {
  await run.look(held)
  await run.lookAround()
})

/** Commands of every kind about the control plane. */
export const controlCommands: Arbitrary<Command> = weighted<Command>(
  ...([
    [3, setClock],
    [1, moveClock],
    [3, createKey],
    [3, changeKey],
    [3, setQuota],
    [2, setFeatures],
    [2, pinRecord],
    [4, setUp],
    [6, takeSnapshot],
    [8, restore],
    [1, dropSnapshot],
    [8, rewind],
    [2, reset],
    [3, importState],
    [5, addFault],
    [1, dropFault],
    [2, setPlan],
    [1, clearJournal],
    [1, clearVerdict],
    [1, verifyRequests],
    [1, deleteAccount],
    [2, createAccount],
    [3, look],
  ] as const),
)
