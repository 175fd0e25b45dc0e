import { describe, expect, it } from 'vitest'
import { ControlError, FaultSetError, FixtureError, OptionError, startUnderstudy } from '../../src/index.ts'
import { NOW, open, start, untilTheEnd, WAYS } from './stand-in.ts'

describe('A stand-in', () => {
  it('makes accounts as they are asked for, and by default like itself, with ids that are free', async () => {
    const fixture = { domains: ['a.example'] }
    const understudy = await start({ fixture, seed: 7, plan: 'above-stone', faults: ['slow'] })
    const like = { domains: 1, seed: 7, plan: 'above-stone', faults: 2, now: NOW, frozen: true }
    const [one, other] = [await understudy.createAccount(), await understudy.createAccount({})]
    expect(new Set([one.id, other.id, one.apiKey, other.apiKey]).size).toBe(4)
    for (const account of [understudy.account, one, other]) expect(await account.read()).toMatchObject(like)
    const terms = { id: 'shop', plan: 'stone', seed: 8, now: '2027-01-01T00:00:00Z', frozen: false }
    const shop = await understudy.createAccount({ ...terms, fixture: 'empty', apiKey: 'key-of-the-shop' })
    expect(shop).toMatchObject({ id: 'shop', apiKey: 'key-of-the-shop' })
    const { now, ...rest } = terms
    expect(await shop.read()).toMatchObject({ ...rest, created_at: now, domains: 0 })
    expect((await understudy.listAccounts()).map(({ id }) => id)).toEqual(['default', one.id, other.id, 'shop'])
  })

  it('stops once, however often and in whichever way it is asked to, and every method says so afterwards', async () => {
    const understudy = await open()
    const account = await understudy.createAccount()
    await Promise.all([understudy.stop(), understudy.stop()])
    await understudy[Symbol.asyncDispose]()
    await expect(fetch(`${understudy.baseUrl}/domains`)).rejects.toThrow()
    for (const call of [
      () => understudy.createAccount(),
      () => understudy.requests.list(),
      () => understudy.verdict(),
      () => account.clock.now(),
      () => account.import('empty'),
    ]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ControlError)
      const message = 'The stand-in was stopped; start another with startUnderstudy().'
      expect(error).toMatchObject({ code: 'stopped', message })
    }
  })
})

/** What those can give who do not write TypeScript. */
// biome-ignore lint/suspicious/noExplicitAny: it is the point of these tests
type Anything = any

/** The class of what rejects, and the beginning of its message, by what was given to `startUnderstudy`. */
const REFUSED: readonly [options: Anything, type: new (...args: never) => Error, message: string | RegExp][] = [
  [{ log: console.log }, OptionError, 'log [Function: log]: must be an object with the methods info, warn, error.'],
  [{ fixtures: 'demo' }, OptionError, 'fixtures "demo": is no option; did you mean fixture?'],
  [null, TypeError, "Options must be an object such as { fixture: 'empty' }, which null is not."],
  [{ faults: ['nowhere.json'] }, FaultSetError, 'nowhere.json: The fault sets cannot be read (ENOENT); give flaky,'],
  [{ fixture: { domains: ['x'] } }, FixtureError, 'fixture#/domains/0: "x" is not a valid hostname.'],
]

it.each(REFUSED)('Options that cannot be are named with what would be right: %o', async (options, type, message) => {
  const error: unknown = await startUnderstudy(options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(type)
  expect((error as Error).message).toMatch(message)
})

/** What is asked of a stand-in that cannot be, the code of the refusal, and a part of its message. */
const CALLS: readonly [code: string, call: (understudy: Anything) => Promise<unknown>, message: string][] = [
  ['invalid_request_body', (u) => u.createAccount('empty'), 'Request body must be a JSON object.'],
  ['invalid_value', (u) => u.findAccount(), '`account` must be a text, which undefined is not.'],
  ['invalid_field_type', (u) => u.createAccount({ apiKey: 5 }), '`apiKey` must be of type string'],
  ['invalid_value', (u) => u.requests.list(5), 'An object was expected here, which 5 is not.'],
  [
    'invalid_value',
    (u) => u.requests.list({ operation: {} }),
    '`operation` must be a text, a number, true or false, which {} is not.',
  ],
]

describe.each(WAYS)('$way, a call that cannot be', ({ open }) => {
  it.each(CALLS)('is refused with %s: %s', async (code, call, message) => {
    const error: unknown = await call(untilTheEnd(await open())).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ControlError)
    expect(error).toMatchObject({ name: 'ControlError', code, message: expect.stringContaining(message) })
    const { problems } = error as ControlError
    if (code !== 'invalid_json') expect(problems[0]).toMatchObject({ code, message: (error as ControlError).message })
  })

  it('rejects with a FixtureError for a path that is no fixture', async () => {
    const understudy = untilTheEnd(await open())
    for (const call of [
      () => understudy.createAccount({ fixture: 'nowhere.json' }),
      () => understudy.account.reset({ fixture: './fixtures' }),
      () => understudy.account.import('nowhere.json'),
    ]) {
      await expect(call()).rejects.toThrow(FixtureError)
    }
  })
})
