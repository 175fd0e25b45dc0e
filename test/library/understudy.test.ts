import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ControlError, FaultSetError, FixtureError, OptionError, startUnderstudy } from '../../src/index.ts'
import { NOW, send, start } from './stand-in.ts'

describe('a stand-in', () => {
  it('makes accounts as they are asked for', async () => {
    const understudy = await start()
    const account = await understudy.createAccount({
      id: 'shop',
      plan: 'above-stone',
      fixture: { domains: ['a.example'] },
      seed: 7,
      now: '2027-01-01T00:00:00Z',
      frozen: true,
      apiKey: 'key-of-the-shop',
    })
    expect(account).toMatchObject({ id: 'shop', apiKey: 'key-of-the-shop' })
    expect(await account.read()).toMatchObject({
      plan: 'above-stone',
      domains: 1,
      seed: 7,
      now: '2027-01-01T00:00:00Z',
      frozen: true,
    })
    expect((await understudy.listAccounts()).map(({ id }) => id)).toEqual(['default', 'shop'])
  })

  it('makes accounts like itself, with ids that are free', async () => {
    const understudy = await start({
      fixture: { domains: ['a.example'] },
      seed: 7,
      plan: 'above-stone',
      faults: ['slow'],
    })
    const [one, other] = [await understudy.createAccount(), await understudy.createAccount({})]
    expect(one.id).not.toBe(other.id)
    expect(one.apiKey).not.toBe(other.apiKey)
    for (const account of [understudy.account, one, other]) {
      const like = { domains: 1, seed: 7, plan: 'above-stone', faults: 2, now: NOW, frozen: true }
      expect(await account.read()).toMatchObject(like)
    }
  })

  it('finds the account of a sandbox that a client has opened', async () => {
    const understudy = await start()
    await expect(understudy.findAccount('sandbox_mine')).rejects.toMatchObject({ code: 'not_found' })
    const client = { baseUrl: understudy.baseUrl, headers: { authorization: 'Bearer sandbox_mine' } }
    await send(understudy, client, 'POST', '/domains', { domains: ['mine.example'] })
    const account = await understudy.findAccount('sandbox_mine')
    expect(account.headers).toEqual(client.headers)
    expect(await account.read()).toMatchObject({ domains: 1 })
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

  it('starts at once when it is imported already', async () => {
    const times: number[] = []
    for (let run = 0; run < 9; run++) {
      const begun = performance.now()
      const understudy = await start({ seed: run })
      times.push(performance.now() - begun)
      await understudy.stop()
    }
    // A median of less than a millisecond, and much patience with busy machines.
    expect(times.toSorted((one, other) => one - other)[4]).toBeLessThan(500)
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

  it('answers the requests under way, and waits no longer for a delay', async () => {
    const understudy = await start()
    const { account, baseUrl } = understudy
    await account.faults.add({ match: { operation: 'listDmarc' }, delay_ms: 600_000 })
    const slow = send(understudy, account, 'GET', '/dmarc')
    // A request whose body is still on its way.
    const { hostname, port } = new URL(baseUrl)
    const socket = connect(Number(port), hostname)
    const head = `POST /api/v1/domains HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${account.headers.authorization}\r\n`
    const body = '{"domains":["late.example"]}'
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`)
    while ((await account.quotas.list()).some(({ bucket, remaining }) => bucket === 'domains' && remaining === 30)) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    const stopped = understudy.stop()
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk)).write(body.slice(9))
    await once(socket, 'close')
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 200 /)
    expect((await slow).status).toBe(200)
    await stopped
  })

  it('lets every method reject afterwards, and say why', async () => {
    const understudy = await start()
    const account = await understudy.createAccount()
    await understudy.stop()
    const calls = [
      () => understudy.createAccount(),
      () => understudy.findAccount('default'),
      () => understudy.listAccounts(),
      () => understudy.listFaultSets(),
      () => understudy.requests.list(),
      () => understudy.explain('x'),
      () => understudy.verdict(),
      () => understudy.coverage(),
      () => account.read(),
      () => account.clock.now(),
      () => account.faults.add({ delay_ms: 1 }),
      () => account.requests.list(),
      () => account.import('empty'),
    ]
    for (const call of calls) {
      const error: unknown = await call().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ControlError)
      expect(error).toMatchObject({
        code: 'stopped',
        message: 'The stand-in was stopped; start another with startUnderstudy().',
      })
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
    [{ fixture: 3 }, 'fixture 3: must be the name of a ready-made fixture, the path of a file, or a fixture.'],
    [{ fixture: true }, 'fixture true: must be the name of a ready-made fixture, the path of a file, or a fixture.'],
    [{ fixture: [] }, 'fixture []: must be the name of a ready-made fixture, the path of a file, or a fixture.'],
    [{ fixture: null }, 'fixture null: must be the name of a ready-made fixture, the path of a file, or a fixture.'],
    [{ overlays: 'x' }, 'overlays "x": must be a list of texts that are not empty.'],
    [{ faults: 'flaky' }, 'faults "flaky": must be a list of texts that are not empty.'],
    [{ data: '' }, 'data "": must be a text that is not empty.'],
    [{ seed: 1n }, 'seed 1n: must be a whole number from 0 to 9007199254740991.'],
    [{ frozen: 'yes' }, 'frozen "yes": must be true or false.'],
    [{ clock: 5 }, 'clock 5: must be a function that returns milliseconds as a number.'],
    [{ log: console.log }, 'log [Function: log]: must be an object with the methods info, warn, error.'],
    [{ store: {} }, expect.stringMatching(/^store \{\}: must be an object with the methods list, has, .*, close\.$/)],
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

  it.each<[options: Anything, type: typeof Error, message: string]>([
    [
      { faults: ['nowhere.json'] },
      FaultSetError as typeof Error,
      'nowhere.json: The fault sets cannot be read (ENOENT); give flaky,',
    ],
    [
      { fixture: 'nowhere.json' },
      FixtureError as typeof Error,
      'nowhere.json: The fixture cannot be read (ENOENT); give demo,',
    ],
    [
      { fixture: { domains: ['x'] } },
      FixtureError as typeof Error,
      'fixture#/domains/0: "x" is not a valid hostname (setting single-labels: refused).',
    ],
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

describe('a call that cannot be', () => {
  it.each<[what: string, call: (understudy: Anything) => Promise<unknown>, code: string, message: string]>([
    [
      'a name in place of options',
      (u) => u.createAccount('empty'),
      'invalid_request_body',
      'Request body must be a JSON object.',
    ],
    [
      'null in place of options',
      (u) => u.createAccount(null),
      'invalid_request_body',
      'Request body must be a JSON object.',
    ],
    ['an unknown option', (u) => u.createAccount({ apikey: 'x' }), 'unknown_field', 'The field `apikey` is unknown.'],
    [
      'a key that is no text',
      (u) => u.createAccount({ apiKey: 3 }),
      'invalid_field_type',
      '`apiKey` must be of type string, not number: 1 to 200 visible ASCII characters.',
    ],
    [
      'a plan that there is not',
      (u) => u.createAccount({ plan: 'gold' }),
      'invalid_value',
      '`plan` must be one of below-stone, stone, above-stone, not "gold".',
    ],
    [
      'an id that is taken',
      (u) => u.createAccount({ id: 'default' }),
      'taken',
      'There is an account "default" already.',
    ],
    [
      'a fixture that breaks a rule',
      (u) => u.createAccount({ fixture: { domains: ['x'] } }),
      'invalid_fixture',
      'fixture#/domains/0: "x" is not a valid hostname (setting single-labels: refused).',
    ],
    ['a fixture that is a number', (u) => u.createAccount({ fixture: 3 }), 'invalid_field_type', 'not number'],
    ['no id', (u) => u.findAccount(), 'invalid_value', '`account` must be a text, which undefined is not.'],
    ['an object for an id', (u) => u.explain({}), 'invalid_value', '`request-id` must be a text, which {} is not.'],
    [
      'a function where JSON is expected',
      (u) => u.createAccount({ seed: () => 1 }),
      'invalid_json',
      'The argument must be JSON, which [Function: seed] is not.',
    ],
    [
      'an option that an object inherits',
      (u) => u.createAccount(Object.create({ fixture: 'empty' })),
      'invalid_value',
      'The field `fixture` is inherited; make it a field of the object itself.',
    ],
    [
      'a field that an object inherits',
      (u) => u.account.faults.add({ match: Object.create({ method: 'GET' }), delay_ms: 1 }),
      'invalid_value',
      'The field `method` is inherited; make it a field of the object itself.',
    ],
    [
      'a filter that is no object',
      (u) => u.requests.list(5),
      'invalid_value',
      'An object was expected here, which 5 is not.',
    ],
    [
      'a filter by an object',
      (u) => u.requests.list({ operation: {} }),
      'invalid_value',
      '`operation` must be a text, a number, true or false, which {} is not.',
    ],
    ['an id of no account', (u) => u.findAccount('nobody'), 'not_found', 'There is no account "nobody".'],
    [
      'an unknown filter',
      (u) => u.account.requests.list({ colour: 'red' }),
      'unknown_field',
      'The query parameter `colour` is unknown.',
    ],
    [
      'an unknown filter of all',
      (u) => u.requests.list({ colour: 'red' }),
      'unknown_field',
      'The query parameter `colour` is unknown.',
    ],
    [
      'an account as a filter of all',
      (u) => u.requests.list({ account: 'default' }),
      'invalid_value',
      '`account` must be one of none',
    ],
    [
      'a filter that cannot be',
      (u) => u.account.requests.list({ limit: -1 }),
      'invalid_value',
      '`limit` must be a whole number, 1 or more, not "-1".',
    ],
    [
      'an unknown field to match',
      (u) => u.account.requests.verify({ operaton: 'x' }),
      'unknown_field',
      'The field `match.operaton` is unknown.',
    ],
    ['nothing to match', (u) => u.account.requests.verify(), 'missing_field', 'The field `match` is required.'],
    [
      'an exact number and bounds',
      (u) => u.account.requests.verify({}, { count: 1, at_least: 1 }),
      'conflicting_fields',
      '',
    ],
    ['no rule', (u) => u.account.faults.add(null), 'invalid_request_body', 'Request body must be a JSON object.'],
    [
      'an error that there is not',
      (u) => u.account.faults.add({ respond: { error: 'teapot' } }),
      'invalid_value',
      '`respond.error` must be one of unauthorized, rate_limited',
    ],
    [
      'an operation that there is not',
      (u) => u.account.faults.add({ match: { operation: 'brew' }, delay_ms: 1 }),
      'invalid_value',
      '`match.operation` must be one of listDmarc',
    ],
    [
      'a set that there is not',
      (u) => u.account.faults.addSet('flakey'),
      'not_found',
      'There is no fault set "flakey".',
    ],
    [
      'a rule that there is not',
      (u) => u.account.faults.remove('fault_9'),
      'not_found',
      'There is no fault "fault_9".',
    ],
    [
      'a bucket that there is not',
      (u) => u.account.quotas.set('domain', 3),
      'invalid_value',
      '`bucket` must be one of dmarc, domains, domaingroups, not "domain".',
    ],
    [
      'more than a quota has',
      (u) => u.account.quotas.set('domains', 31),
      'invalid_value',
      '`remaining` must be at most 30, not 31.',
    ],
    ['a snapshot that there is not', (u) => u.account.snapshots.restore('x'), 'not_found', 'There is no snapshot "x".'],
    [
      'a name of two words',
      (u) => u.account.snapshots.take('a b'),
      'invalid_value',
      '`name` must be 1 to 100 letters, digits, dots, dashes, tildes or underscores, not "a b".',
    ],
    ['a key that there is not', (u) => u.account.keys.disable('x'), 'not_found', 'There is no key "x".'],
    [
      'a domain that there is not',
      (u) => u.account.domains.pin('x.example', { p: 'none' }),
      'not_found',
      'There is no domain "x.example".',
    ],
    [
      'a record that cannot be',
      (u) =>
        u
          .createAccount({ fixture: { domains: ['a.example'] } })
          .then((a: Anything) => a.domains.pin('a.example', { p: 'no' })),
      'invalid_value',
      '`p` must be one of none, quarantine, reject, not "no".',
    ],
    [
      'an option that a reset has not',
      (u) => u.account.reset({ plan: 'stone' }),
      'unknown_field',
      'The field `plan` is unknown.',
    ],
    [
      'the end of the default account',
      (u) => u.account.delete(),
      'protected',
      'The account "default" cannot be deleted; reset it instead.',
    ],
    ['a request that there was not', (u) => u.explain('x'), 'not_found', 'There is no request "x".'],
    [
      'what no JSON can say',
      (u) => u.account.faults.add({ delay_ms: 1n }),
      'invalid_json',
      'The argument must be JSON: Do not know how to serialize a BigInt.',
    ],
  ])('is refused for %s, and says what would be right', async (_, call, code, message) => {
    const error: unknown = await call(await start()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ControlError)
    expect(error).toMatchObject({ name: 'ControlError', code, message: expect.stringContaining(message) })
    const { problems } = error as ControlError
    if (code !== 'invalid_json') expect(problems[0]).toMatchObject({ code, message: (error as ControlError).message })
  })

  it('is refused with everything that is wrong', async () => {
    const understudy = await start()
    const options: Anything = { colour: 'red', seed: -1, plan: 3 }
    const error = await understudy.createAccount(options).catch((thrown: ControlError) => thrown)
    expect((error as ControlError).problems.map(({ field }) => field).toSorted()).toEqual(['/colour', '/plan', '/seed'])
    expect(await understudy.listAccounts()).toHaveLength(1)
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
