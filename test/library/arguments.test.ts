import { afterAll, describe, expect, it } from 'vitest'
import { ControlError, FixtureError, startUnderstudy, type Understudy } from '../../src/index.ts'
import { sample } from '../support/budget.ts'

// biome-ignore lint/suspicious/noExplicitAny: the arguments are wrong on purpose
type Anything = any

const understudy: Understudy = await startUnderstudy({ fixture: 'demo' })
afterAll(() => understudy.stop())
/** One that no other call changes: what it sends is in its journal, so that nothing waits for it in vain. */
const waiting: Anything = await understudy.createAccount()

/** Stands for what is wrong. */
const X = Symbol('what is wrong')

/** Every verb that takes an argument, with the wrong one in each place. */
const VERBS: Readonly<Record<string, readonly unknown[][]>> = {
  createAccount: [[X], ...['id', 'plan', 'seed', 'now', 'frozen', 'apiKey', 'fixture'].map((name) => [{ [name]: X }])],
  findAccount: [[X]],
  explain: [[X]],
  events: [[X], [{ signal: X }]],
  watchViolations: [[X], ...['account', 'name', 'seesOthers', 'permits'].map((name) => [{ [name]: X }])],
  'requests.list': [[X], [{ status: X }]],
  'account.setPlan': [[X]],
  'account.reset': [[X], [{ fixture: X }]],
  'account.import': [[X], [{ domains: X }]],
  'account.export': [[X], [{ before: X }]],
  'account.rewind': [[X]],
  'account.explain': [[X]],
  'account.compare': [[X], [{ snapshot: X }], ['other', { limit: X }]],
  'account.overview': [[X], [{ days: X }]],
  'account.listDailyRecords': [[X], [{ from: X, to: X }], [{ from: '2026-01-15', to: '2026-01-15', domain: [X] }]],
  'account.events': [[X], [{ signal: X }]],
  'account.clock.advance': [[X], [{ hours: X }]],
  'account.clock.advanceTo': [[X]],
  'account.clock.set': [[X]],
  'account.domains.add': [[X], ['x.example', X]],
  'account.domains.remove': [[X]],
  'account.domains.setFeatures': [
    [X, []],
    ['a.example', X],
  ],
  'account.domains.pin': [
    [X, {}],
    ['a.example', X],
  ],
  'account.domains.unpin': [[X]],
  'account.faults.add': [[X], [{ match: X, delay_ms: 1 }]],
  'account.faults.addSet': [[X]],
  'account.faults.remove': [[X]],
  'account.groups.create': [[X], [{ name: X }]],
  'account.groups.update': [
    [X, { name: 'x' }],
    ['nothing', X],
  ],
  'account.groups.delete': [[X]],
  'account.keys.create': [[X], [{ label: X }]],
  'account.keys.disable': [[X]],
  'account.keys.enable': [[X]],
  'account.keys.delete': [[X]],
  'account.quotas.set': [
    [X, 1],
    ['dmarc', X],
    ['dmarc', 1, X],
  ],
  'account.requests.list': [[X], [{ operation: X }]],
  'account.requests.verify': [[X], [{}, X], [{ path: X }]],
  'account.requests.waitFor': [
    [X, { timeout: 0 }],
    [{}, X],
    [{}, { timeout: X }],
  ],
  'account.snapshots.take': [[X], ['name', X]],
  'account.snapshots.restore': [[X]],
  'account.snapshots.delete': [[X]],
}

/** Verbs without an argument. */
const PLAIN = [
  ...['listAccounts', 'listFaultSets', 'coverage', 'verdict', 'clearVerdict', 'stop'],
  ...['read', 'delete', 'coverage', 'scenes', 'clock.now', 'clock.freeze', 'clock.unfreeze', 'domains.list'].map(of),
  ...['faults.list', 'faults.clear', 'groups.list', 'keys.list', 'quotas.list', 'quotas.areEnforced'].map(of),
  ...['requests.clear', 'snapshots.list'].map(of),
]

function of(verb: string): string {
  return `account.${verb}`
}

/** What ends a call that returns no promise. */
const ENDS: Readonly<Record<string, (returned: Anything) => Promise<unknown>>> = {
  watchViolations: (watch) => watch.end(),
  events: takeFirst,
  'account.events': takeFirst,
}

/** The next event, if any comes at once. */
function takeFirst(events: AsyncIterableIterator<unknown>): Promise<unknown> {
  setImmediate(() => events.return?.())
  return events.next()
}

/** What a call rejects with, if it does. A verb that throws before it returns a promise fails its test. */
async function call(verb: string, args: readonly unknown[], wrong: unknown): Promise<unknown> {
  const waits = verb === 'account.requests.waitFor'
  // Where it is not wrong what is waited for, it is in the journal already.
  if (waits && args[0] !== X) await fetch(`${waiting.baseUrl}/domains`, { headers: waiting.headers })
  const path = verb.split('.')
  const name = path.pop() ?? ''
  const root: Anything = waits ? { account: waiting } : understudy
  const object = path.reduce((holder, step) => holder[step], root)
  const returned = object[name](...args.map((argument) => fill(argument, wrong)))
  const promise: Promise<unknown> = ENDS[verb]?.(returned) ?? returned
  return promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
}

/** The same with what is wrong in its place. */
function fill(argument: unknown, wrong: unknown): unknown {
  if (argument === X) return wrong
  if (Array.isArray(argument)) return argument.map((item) => fill(item, wrong))
  if (typeof argument !== 'object' || argument === null) return argument
  return Object.fromEntries(Object.entries(argument).map(([name, value]) => [name, fill(value, wrong)]))
}

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
    // What `fetch` refuses has a test of its own, see test/doors/fetch-input.test.ts.
    if (name === 'fetch') return []
    if (['constructor', 'headers', 'account', 'app', 'contract', 'exposed', 'skipped'].includes(name)) return []
    if (name in Object.prototype) return []
    const value = (object as Record<string, unknown>)[name]
    if (typeof value === 'function') return [prefix + name]
    const isGroup = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isGroup ? verbsOf(value, `${prefix}${name}.`) : []
  })
}

/** Every verb with everything that is wrong. */
const PAIRS = Object.keys(VERBS).flatMap((verb) => Object.keys(WRONG).map((what): [string, string] => [verb, what]))

describe('a wrong argument', () => {
  it('is given here to every verb that takes one', () => {
    const all = [...verbsOf(understudy), ...verbsOf(understudy.account, 'account.')]
    expect(all.toSorted()).toEqual([...Object.keys(VERBS), ...PLAIN].toSorted())
  })

  it.each(sample(PAIRS, 180))('of %s, %s, is refused in a sentence, if it is', async (verb, what) => {
    for (const args of VERBS[verb] ?? []) {
      const error = await call(verb, args, WRONG[what])
      if (error === undefined) continue
      expect(error).toSatisfy((each) => each instanceof ControlError || each instanceof FixtureError)
      expect((error as Error).message).toMatch(/\S.*[.?)]$/s)
      expect((error as Error).message.length).toBeLessThan(100_500)
      if (error instanceof ControlError) expect(error.code).not.toBe('internal_error')
    }
  })
})
