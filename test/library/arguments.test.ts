import { afterAll, expect, it } from 'vitest'
import { ControlError, FixtureError, startUnderstudy } from '../../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: the arguments are wrong on purpose
type Anything = any

const understudy = await startUnderstudy({ fixture: 'empty' })
afterAll(() => understudy.stop())

const DAY = '2026-01-15'
/** Right arguments of every verb that takes some. Each of them, and each field of them, is replaced by what is wrong. */
const VERBS: Readonly<Record<string, readonly unknown[]>> = {
  createAccount: [
    { id: 'x', plan: 'stone', seed: 1, now: `${DAY}T00:00:00Z`, frozen: true, apiKey: 'k', fixture: 'empty' },
  ],
  findAccount: ['default'],
  explain: ['id'],
  events: [{ signal: undefined }],
  watchViolations: [{ account: undefined, name: 'x', seesOthers: true, permits: false }],
  'requests.list': [{ status: 200, operation: 'listDomains' }],
  'account.setPlan': ['stone'],
  'account.reset': [{ fixture: 'demo', seed: 1 }],
  'account.import': [{ domains: [] }],
  'account.export': [{ before: 'id' }],
  'account.rewind': ['id'],
  'account.explain': ['id'],
  'account.overview': [{ days: 1 }],
  'account.listDailyRecords': [{ from: DAY, to: DAY, domain: ['a.example'] }],
  'account.events': [{ signal: undefined }],
  'account.clock.advance': [{ hours: 1 }],
  'account.clock.advanceTo': ['refresh'],
  'account.clock.set': ['2999-01-01T00:00:00Z'],
  'account.domains.add': ['x.example', 'y.example'],
  'account.domains.remove': ['x.example'],
  'account.domains.setFeatures': ['x.example', []],
  'account.domains.pin': ['x.example', { p: 'none' }],
  'account.domains.unpin': ['x.example'],
  'account.faults.add': [{ match: { method: 'GET' }, delay_ms: 0 }],
  'account.faults.addSet': ['slow'],
  'account.faults.remove': ['id'],
  'account.groups.create': [{ name: 'x', domains: [] }],
  'account.groups.update': ['id', { name: 'x' }],
  'account.groups.delete': ['id'],
  'account.keys.create': [{ label: 'x' }],
  'account.keys.disable': ['id'],
  'account.keys.enable': ['id'],
  'account.keys.delete': ['id'],
  'account.quotas.set': ['dmarc', 1, 'id'],
  'account.requests.list': [{ operation: 'listDomains', limit: 1 }],
  'account.requests.verify': [{ path: '/domains' }, { count: 1 }],
  'account.requests.waitFor': [{ path: '/domains' }, { timeout: 0 }],
  'account.snapshots.take': ['x', { replace: true }],
  'account.snapshots.restore': ['x'],
  'account.snapshots.delete': ['x'],
}
/** Verbs without an argument. */
const PLAIN = [
  ...['listAccounts', 'listFaultSets', 'coverage', 'verdict', 'clearVerdict', 'stop', 'account.read', 'account.delete'],
  ...['account.coverage', 'account.scenes', 'account.clock.now', 'account.clock.freeze', 'account.clock.unfreeze'],
  ...[
    'account.domains.list',
    'account.faults.list',
    'account.faults.clear',
    'account.groups.list',
    'account.keys.list',
  ],
  ...['account.quotas.list', 'account.quotas.areEnforced', 'account.requests.clear', 'account.snapshots.list'],
]

const CIRCULAR: { self?: unknown } = {}
CIRCULAR.self = CIRCULAR
const WRONG: readonly unknown[] = [
  ...[undefined, null, {}, [], '', true, 5, Number.NaN, 1n, Symbol('x'), () => 1, Object.create(null), CIRCULAR],
  // An object that inherits, one with a field that throws, one with a prototype as a field, and the instance of a class.
  Object.create({ fixture: 'empty', hours: 1, id: 'x' }),
  {
    get id() {
      throw new TypeError('from outside')
    },
  },
  JSON.parse('{"__proto__": {"id": 1}}'),
  new Map([['id', 1]]),
  'x'.repeat(100_000),
]

/** The arguments with what is wrong in the place of each, and of each field. */
function* spoil(args: readonly unknown[], wrong: unknown): Generator<readonly unknown[]> {
  for (const [index, argument] of args.entries()) {
    yield args.with(index, wrong)
    for (const name of Object.keys(typeof argument === 'object' ? (argument ?? {}) : {})) {
      yield args.with(index, { ...(argument as object), [name]: wrong })
    }
  }
}

/** What a call rejects with, if it does. A verb that throws before it returns a promise fails its test. */
function call(verb: string, args: readonly unknown[]): Promise<unknown> {
  const path = verb.split('.')
  const name = path.pop() ?? ''
  const returned: Anything = path.reduce((holder, step) => holder[step], understudy as Anything)[name](...args)
  // The next event would come when there is a request.
  if (name === 'events') setImmediate(() => returned.return())
  const promise: Promise<unknown> = name === 'events' ? returned.next() : (returned.end?.() ?? returned)
  return promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
}

/** The names of the methods of an object, and of those that it groups under a name. */
function verbsOf(object: object, prefix = ''): string[] {
  const names = new Set([...Object.keys(object), ...Object.getOwnPropertyNames(Object.getPrototypeOf(object))])
  return [...names].flatMap((name) => {
    // What `fetch` refuses has a test of its own, see test/server/fetch-input.test.ts.
    if (['fetch', 'constructor', 'headers', 'account', 'app', 'contract', 'exposed', 'skipped'].includes(name))
      return []
    if (name in Object.prototype) return []
    const value = (object as Record<string, unknown>)[name]
    if (typeof value === 'function') return [prefix + name]
    const isGroup = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isGroup ? verbsOf(value, `${prefix}${name}.`) : []
  })
}

it('A wrong argument is given here to every verb that takes one', () => {
  const all = [...verbsOf(understudy), ...verbsOf(understudy.account, 'account.')]
  expect(all.toSorted()).toEqual([...Object.keys(VERBS), ...PLAIN].toSorted())
})

it.each(Object.entries(VERBS))('A wrong argument of %s is refused in a sentence, if it is', async (verb, args) => {
  // So that `waitFor` finds one in the journal, and does not wait.
  await fetch(`${understudy.baseUrl}/domains`, { headers: understudy.account.headers })
  for (const spoilt of WRONG.flatMap((wrong) => [...spoil(args, wrong)])) {
    const error = await call(verb, spoilt)
    if (error === undefined) continue
    expect(error).toSatisfy((each) => each instanceof ControlError || each instanceof FixtureError)
    expect((error as Error).message).toMatch(/\S.*[.?)]$/s)
    expect((error as Error).message.length).toBeLessThan(100_500)
    if (error instanceof ControlError) expect(error.code).not.toBe('internal_error')
  }
})
