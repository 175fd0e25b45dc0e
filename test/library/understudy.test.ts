import { describe, expect, it } from 'vitest'
import { ControlError, FaultSetError, FixtureError, OptionError, startUnderstudy } from '../../src/index.ts'
import { NOW, send, start, WAYS_OF_CALLS } from './stand-in.ts'

describe('a stand-in', () => {
  it('makes accounts as they are asked for', async () => {
    const understudy = await start()
    const terms = { id: 'shop', plan: 'above-stone', seed: 7, now: '2027-01-01T00:00:00Z', frozen: true }
    const fixture = { domains: ['a.example'] }
    const account = await understudy.createAccount({ ...terms, fixture, apiKey: 'key-of-the-shop' })
    expect(account).toMatchObject({ id: 'shop', apiKey: 'key-of-the-shop' })
    expect(await account.read()).toMatchObject({ ...terms, domains: 1 })
    expect((await understudy.listAccounts()).map(({ id }) => id)).toEqual(['default', 'shop'])
  })

  it('makes accounts like itself, with ids that are free', async () => {
    const fixture = { domains: ['a.example'] }
    const understudy = await start({ fixture, seed: 7, plan: 'above-stone', faults: ['slow'] })
    const [one, other] = [await understudy.createAccount(), await understudy.createAccount({})]
    expect(one.id).not.toBe(other.id)
    expect(one.apiKey).not.toBe(other.apiKey)
    for (const account of [understudy.account, one, other]) {
      const like = { domains: 1, seed: 7, plan: 'above-stone', faults: 2, now: NOW, frozen: true }
      expect(await account.read()).toMatchObject(like)
    }
  })

  it('lists the requests of all accounts, and those that belong to none', async () => {
    const understudy = await start()
    const account = await understudy.createAccount()
    await send(understudy, account, 'GET', '/domains')
    await send(understudy, understudy.account, 'GET', '/dmarc')
    await send(understudy, { ...understudy, headers: { authorization: 'Bearer nobody' } }, 'GET', '/domains')
    const all = await understudy.requests.list()
    expect(all.map((request) => [request.account, request.status])).toEqual([
      [account.id, 200],
      ['default', 200],
      [null, 401],
    ])
    expect(await understudy.requests.list({ status: 401 })).toEqual(all.slice(2))
    expect(await account.requests.list()).toEqual(all.slice(0, 1))
  })

  it('stands beside others in one process, each with its own', async () => {
    const seeds = [1, 2, 3, 4, 5]
    const all = await Promise.all(
      seeds.map((seed) => start({ seed, overlays: [], fixture: { domains: [`s${seed}.example`] } })),
    )
    expect(new Set(all.map(({ baseUrl }) => baseUrl)).size).toBe(seeds.length)
    const answers = await Promise.all(all.map((each) => send(each, each.account, 'GET', '/domains')))
    expect(answers.map(({ body }) => body.data.domains)).toEqual(seeds.map((seed) => [`s${seed}.example`]))
    const [first, second] = all
    const stranger = { baseUrl: second?.baseUrl ?? '', headers: first?.account.headers ?? { authorization: '' } }
    expect((await send(second ?? (await start()), stranger, 'GET', '/domains')).status).toBe(401)
    await first?.stop()
    expect(await second?.account.read()).toMatchObject({ seed: 2 })
  })

  it('works without its control plane over HTTP', async () => {
    const understudy = await start({ admin: false })
    expect(understudy.adminUrl).toBeUndefined()
    expect(await (await understudy.createAccount()).read()).toMatchObject({ now: NOW })
  })
})

describe('a stop', () => {
  it('may be asked for twice, at once or later, and by the end of a block', async () => {
    const understudy = await start()
    await Promise.all([understudy.stop(), understudy.stop()])
    await understudy.stop()
    await understudy[Symbol.asyncDispose]()
    await expect(fetch(`${understudy.baseUrl}/domains`)).rejects.toThrow()
  })

  it('lets every method reject afterwards, and say why', async () => {
    const understudy = await start()
    const account = await understudy.createAccount()
    await understudy.stop()
    for (const call of [
      () => understudy.createAccount(),
      () => understudy.requests.list(),
      () => understudy.verdict(),
      () => account.clock.now(),
      () => account.requests.list(),
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

describe('options that cannot be', () => {
  it.each<[options: Anything, message: string]>([
    [{ port: 99_999 }, 'port 99999: must be a whole number from 0 to 65535.'],
    [{ port: '80' }, 'port "80": must be a whole number from 0 to 65535.'],
    ...[3, true, [], null].map((fixture): [Anything, string] => [
      { fixture },
      `fixture ${JSON.stringify(fixture)}: must be the name of a ready-made fixture, the path of a file, or a fixture.`,
    ]),
    [{ overlays: 'x' }, 'overlays "x": must be a list of texts that are not empty.'],
    [{ faults: 'flaky' }, 'faults "flaky": must be a list of texts that are not empty.'],
    [{ data: '' }, 'data "": must be a text that is not empty.'],
    [{ seed: 1n }, 'seed 1n: must be a whole number from 0 to 9007199254740991.'],
    [{ frozen: 'yes' }, 'frozen "yes": must be true or false.'],
    [{ log: console.log }, 'log [Function: log]: must be an object with the methods info, warn, error.'],
    [{ journal: -1 }, 'journal -1: must be a whole number from 0 to 1000000.'],
    [{ maxAccounts: 0 }, 'maxAccounts 0: must be a whole number from 1 to 10000000.'],
    [{ responseValidation: true }, 'responseValidation true: must be one of error, warn, off.'],
    [{ host: '0.0.0.0' }, 'host "0.0.0.0": others can reach this address, so give adminToken or admin: false.'],
    [{ fixtures: 'demo' }, 'fixtures "demo": is no option; did you mean fixture?'],
    [{ api_key: 'x' }, 'api_key "x": is no option; did you mean apiKey?'],
    [{ sandboxkeys: true }, 'sandboxkeys true: is no option; did you mean sandboxKeys?'],
    [{ constructor: 1 }, expect.stringMatching(/^constructor 1: is no option; there are port, host, .*, signal\.$/)],
    [{ tls: 'x'.repeat(1000) }, expect.stringMatching(/^tls "x{98}…: is no option; there are port, /)],
  ])('%o are named with what would be right', async (options, message) => {
    const error: unknown = await startUnderstudy(options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OptionError)
    expect(error).toMatchObject({ message })
  })

  it.each([null, 'demo', [], 3])('%j are refused as what they are', async (options: Anything) => {
    const message = /^Options must be an object such as \{ fixture: 'empty' \}, which .+ is not\.$/
    await expect(startUnderstudy(options)).rejects.toThrow(message)
  })

  it.each<[options: Anything, type: new (...args: never) => Error, message: string]>([
    [{ faults: ['nowhere.json'] }, FaultSetError, 'nowhere.json: The fault sets cannot be read (ENOENT); give flaky,'],
    [{ fixture: 'nowhere.json' }, FixtureError, 'nowhere.json: The fixture cannot be read (ENOENT); give demo,'],
    [{ fixture: { domains: ['x'] } }, FixtureError, 'fixture#/domains/0: "x" is not a valid hostname (setting single-'],
  ])('%j come with an error of their own', async (options, type, message) => {
    const error: unknown = await startUnderstudy(options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(type)
    expect((error as Error).message).toContain(message)
  })

  it('leave the port and the process as they were', async () => {
    const understudy = await start()
    const port = Number(new URL(understudy.baseUrl).port)
    await expect(startUnderstudy({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(await understudy.account.read()).toMatchObject({ id: 'default' })
  })
})

const MAKE_OWN = 'make it a field of the object itself.'

/** What is asked of a stand-in that cannot be, and the message of the refusal, or its beginning; by the code. */
const CALLS: Readonly<Record<string, [call: (understudy: Anything) => Promise<unknown>, message: string][]>> = {
  invalid_request_body: [
    [(u) => u.createAccount('empty'), 'Request body must be a JSON object.'],
    [(u) => u.account.faults.add(null), 'Request body must be a JSON object.'],
  ],
  unknown_field: [[(u) => u.account.requests.list({ colour: 'red' }), 'The query parameter `colour` is unknown.']],
  invalid_value: [
    [(u) => u.findAccount(), '`account` must be a text, which undefined is not.'],
    [(u) => u.explain({}), '`request-id` must be a text, which {} is not.'],
    [(u) => u.createAccount(inheriting({ fixture: 'empty' })), `The field \`fixture\` is inherited; ${MAKE_OWN}`],
    [
      (u) => u.account.faults.add({ match: inheriting({ method: 'GET' }), delay_ms: 1 }),
      `The field \`method\` is inherited; ${MAKE_OWN}`,
    ],
    [(u) => u.requests.list(5), 'An object was expected here, which 5 is not.'],
    [
      (u) => u.requests.list({ operation: {} }),
      '`operation` must be a text, a number, true or false, which {} is not.',
    ],
  ],
  invalid_json: [
    [(u) => u.createAccount({ seed: () => 1 }), 'The argument must be JSON, which [Function: seed] is not.'],
    [
      (u) => u.account.faults.add({ delay_ms: 1n }),
      'The argument must be JSON: Do not know how to serialize a BigInt.',
    ],
  ],
}

function inheriting(fields: object): object {
  return Object.create(fields)
}

describe.each(WAYS_OF_CALLS)('$way, a call that cannot be', ({ start }) => {
  const rows = Object.entries(CALLS).flatMap(([code, calls]) => calls.map((row) => [code, ...row] as const))
  it.each(rows)('is refused with %s: %s', async (code, call, message) => {
    const error: unknown = await call(await start()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ControlError)
    expect(error).toMatchObject({ name: 'ControlError', code, message: expect.stringContaining(message) })
    const { problems } = error as ControlError
    if (code !== 'invalid_json') expect(problems[0]).toMatchObject({ code, message: (error as ControlError).message })
  })

  it.each(['nowhere.json', './fixtures'])('rejects with a FixtureError for the path %s', async (fixture) => {
    const understudy = await start()
    for (const call of [
      () => understudy.createAccount({ fixture }),
      () => understudy.account.reset({ fixture }),
      () => understudy.account.import(fixture),
    ]) {
      await expect(call()).rejects.toThrow(FixtureError)
    }
  })
})
