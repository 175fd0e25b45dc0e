import { afterAll, describe, expect, it } from 'vitest'
import { ControlError, FixtureError, startUnderstudy, type Understudy } from '../../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: the arguments are wrong on purpose
type Anything = any

const understudy: Understudy = await startUnderstudy({ fixture: 'demo' })
afterAll(() => understudy.stop())
const library: Anything = understudy
const { account } = library
/** One that no other call changes: what it sends is in its journal, so that nothing waits for it in vain. */
const waiting: Anything = await understudy.createAccount()

/** The next event, if any comes at once. */
async function firstOf(events: AsyncIterableIterator<unknown>): Promise<unknown> {
  setImmediate(() => events.return?.())
  return events.next()
}

/** What `call` returns, once a request of the account is in the journal. */
async function afterRequest(call: () => Promise<unknown>): Promise<unknown> {
  await fetch(`${waiting.baseUrl}/domains`, { headers: waiting.headers })
  return call()
}

/** Every verb that takes an argument, with the wrong one in each place. */
const VERBS: Readonly<Record<string, readonly ((wrong: unknown) => Promise<unknown>)[]>> = {
  'requests.list': [(wrong) => library.requests.list(wrong), (wrong) => library.requests.list({ status: wrong })],
  createAccount: [
    (wrong) => library.createAccount(wrong),
    ...['id', 'plan', 'seed', 'now', 'frozen', 'apiKey', 'fixture'].map(
      (name) => (wrong: unknown) => library.createAccount({ [name]: wrong }),
    ),
  ],
  findAccount: [(wrong) => library.findAccount(wrong)],
  explain: [(wrong) => library.explain(wrong)],
  'account.clock.advance': [
    (wrong) => account.clock.advance(wrong),
    (wrong) => account.clock.advance({ hours: wrong }),
  ],
  'account.clock.advanceTo': [(wrong) => account.clock.advanceTo(wrong)],
  'account.clock.set': [(wrong) => account.clock.set(wrong)],
  'account.faults.add': [
    (wrong) => account.faults.add(wrong),
    (wrong) => account.faults.add({ match: wrong, delay_ms: 1 }),
  ],
  'account.faults.addSet': [(wrong) => account.faults.addSet(wrong)],
  'account.faults.remove': [(wrong) => account.faults.remove(wrong)],
  'account.requests.list': [
    (wrong) => account.requests.list(wrong),
    (wrong) => account.requests.list({ operation: wrong }),
  ],
  'account.requests.verify': [
    (wrong) => account.requests.verify(wrong),
    (wrong) => account.requests.verify({}, wrong),
    (wrong) => account.requests.verify({ path: wrong }),
  ],
  'account.keys.create': [(wrong) => account.keys.create(wrong), (wrong) => account.keys.create({ label: wrong })],
  'account.keys.disable': [(wrong) => account.keys.disable(wrong)],
  'account.keys.enable': [(wrong) => account.keys.enable(wrong)],
  'account.keys.delete': [(wrong) => account.keys.delete(wrong)],
  'account.quotas.set': [
    (wrong) => account.quotas.set(wrong, 1),
    (wrong) => account.quotas.set('dmarc', wrong),
    (wrong) => account.quotas.set('dmarc', 1, wrong),
  ],
  'account.snapshots.take': [
    (wrong) => account.snapshots.take(wrong),
    (wrong) => account.snapshots.take('name', wrong),
  ],
  'account.snapshots.restore': [(wrong) => account.snapshots.restore(wrong)],
  'account.snapshots.delete': [(wrong) => account.snapshots.delete(wrong)],
  'account.setPlan': [(wrong) => account.setPlan(wrong)],
  'account.reset': [(wrong) => account.reset(wrong), (wrong) => account.reset({ fixture: wrong })],
  'account.import': [(wrong) => account.import(wrong), (wrong) => account.import({ domains: wrong })],
  'account.listDailyRecords': [
    (wrong) => account.listDailyRecords(wrong),
    (wrong) => account.listDailyRecords({ from: wrong, to: wrong }),
    (wrong) => account.listDailyRecords({ from: '2026-01-15', to: '2026-01-15', domain: [wrong] }),
  ],
  'account.overview': [(wrong) => account.overview(wrong), (wrong) => account.overview({ days: wrong })],
  watchViolations: [
    (wrong) => library.watchViolations(wrong).end(),
    ...['account', 'name', 'seesOthers', 'permits'].map(
      (name) => (wrong: unknown) => library.watchViolations({ [name]: wrong }).end(),
    ),
  ],
  events: [(wrong) => firstOf(library.events(wrong)), (wrong) => firstOf(library.events({ signal: wrong }))],
  'account.events': [(wrong) => firstOf(account.events(wrong)), (wrong) => firstOf(account.events({ signal: wrong }))],
  'account.requests.waitFor': [
    (wrong) => waiting.requests.waitFor(wrong, { timeout: 0 }),
    (wrong) => afterRequest(() => waiting.requests.waitFor({}, wrong)),
    (wrong) => afterRequest(() => waiting.requests.waitFor({}, { timeout: wrong })),
  ],
  'account.domains.add': [(wrong) => account.domains.add(wrong), (wrong) => account.domains.add('x.example', wrong)],
  'account.domains.remove': [(wrong) => account.domains.remove(wrong)],
  'account.groups.create': [(wrong) => account.groups.create(wrong), (wrong) => account.groups.create({ name: wrong })],
  'account.groups.update': [
    (wrong) => account.groups.update(wrong, { name: 'x' }),
    (wrong) => account.groups.update('nothing', wrong),
  ],
  'account.groups.delete': [(wrong) => account.groups.delete(wrong)],
  'account.domains.setFeatures': [
    (wrong) => account.domains.setFeatures(wrong, []),
    (wrong) => account.domains.setFeatures('a.example', wrong),
  ],
  'account.domains.pin': [
    (wrong) => account.domains.pin(wrong, {}),
    (wrong) => account.domains.pin('a.example', wrong),
  ],
  'account.domains.unpin': [(wrong) => account.domains.unpin(wrong)],
  'account.export': [(wrong) => account.export(wrong), (wrong) => account.export({ before: wrong })],
  'account.rewind': [(wrong) => account.rewind(wrong)],
  'account.explain': [(wrong) => account.explain(wrong)],
}

/** Verbs without an argument. */
const PLAIN = [
  ...['listAccounts', 'listFaultSets', 'coverage', 'verdict', 'clearVerdict', 'stop'],
  ...['clock.now', 'clock.freeze', 'clock.unfreeze', 'faults.list', 'faults.clear', 'requests.clear', 'keys.list'].map(
    (name) => `account.${name}`,
  ),
  ...[
    'quotas.list',
    'quotas.areEnforced',
    'snapshots.list',
    'read',
    'domains.list',
    'groups.list',
    'coverage',
    'scenes',
    'delete',
  ].map((name) => `account.${name}`),
]

function circular(): object {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

const WRONG: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  'an empty object': {},
  'an empty list': [],
  'a number': 5,
  'no number': Number.NaN,
  'a big integer': 1n,
  'a symbol': Symbol('x'),
  'a function': () => 1,
  'an object without a prototype': Object.create(null),
  'an object that holds itself': circular(),
  'an object that inherits': Object.create({ fixture: 'empty', hours: 1, id: 'x' }),
  'an object with a field that throws': {
    get id() {
      throw new TypeError('from outside')
    },
  },
  'an object with a prototype as a field': JSON.parse('{"__proto__": {"id": 1}}'),
  'an instance of a class': new Map([['id', 1]]),
  'an empty text': '',
  'a long text': 'x'.repeat(100_000),
  true: true,
}

/** The names of the methods of an object, and of those that it groups under a name. */
function verbsOf(object: object, prefix = ''): string[] {
  const names = new Set([...Object.keys(object), ...Object.getOwnPropertyNames(Object.getPrototypeOf(object))])
  return [...names].flatMap((name) => {
    if (['constructor', 'headers', 'account', 'contract', 'exposed', 'skipped'].includes(name)) return []
    const value = (object as Record<string, unknown>)[name]
    if (typeof value === 'function') return [prefix + name]
    const isGroup = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isGroup ? verbsOf(value, `${prefix}${name}.`) : []
  })
}

describe('a wrong argument', () => {
  it('is given here to every verb that takes one', () => {
    const own = (names: string[]) =>
      names.filter(
        (name) => !/__|toString|valueOf|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString/.test(name),
      )
    const all = own([...verbsOf(library), ...verbsOf(account, 'account.')])
    expect(all.toSorted()).toEqual([...Object.keys(VERBS), ...PLAIN].toSorted())
  })

  it.each(Object.keys(VERBS).flatMap((verb) => Object.keys(WRONG).map((what): [string, string] => [verb, what])))(
    'of %s, %s, is refused in a sentence, if it is',
    async (verb, what) => {
      for (const call of VERBS[verb] ?? []) {
        // A verb that throws before it returns a promise fails here.
        const promise = call(WRONG[what])
        const error: unknown = await promise.then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        if (error === undefined) continue
        expect(error).toSatisfy((each) => each instanceof ControlError || each instanceof FixtureError)
        expect((error as Error).message).toMatch(/\S.*[.?)]$/s)
        expect((error as Error).message.length).toBeLessThan(100_500)
        if (error instanceof ControlError) expect(error.code).not.toBe('internal_error')
      }
    },
  )
})
