import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { TestOptions, Understudy } from '../../src/index.ts'
import { shareUnderstudy } from '../../src/node-test.ts'
import { startServer } from '../../src/start/server.ts'
import { divideTestOptions } from '../../src/start/test-options.ts'
import { openTestService } from '../../src/start/test-service.ts'
import { createTest } from '../../src/vitest.ts'
import { send } from './stand-in.ts'

/** The plan of a run of `explore`. */
const PLAN = [{ match: { operation: 'listDmarc' }, respond: { error: 'internal_error' } }]

let server: Understudy

beforeEach(async () => {
  server = await startServer({ fixture: 'demo', seed: 3 }, OPERATIONS, { faults: PLAN })
  pretend({ UNDERSTUDY_BASE_URL: server.baseUrl, UNDERSTUDY_ADMIN_URL: server.adminUrl })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.stop()
})

/** Sets the environment of a command of `run`. */
function pretend(variables: Readonly<Record<string, string | undefined>>): void {
  vi.stubEnv('UNDERSTUDY_TRIAL', 'run')
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

/** Opens the stand-in of the tests of a file. */
async function open(options: TestOptions = {}, file = `${process.cwd()}/test/cart.test.ts`): Promise<Understudy> {
  const service = await openTestService(divideTestOptions(options).server, () => file)
  onTestFinished(() => service.stop())
  return service
}

const idsOf = async (service: Understudy) => (await service.listAccounts()).map(({ id }) => id)

describe('Under run, vary and explore, the stand-in of the tests', () => {
  it('is the server of the command, with accounts that are as the options say', async () => {
    const options = { seed: 7, now: '2026-01-15T09:00:00Z', frozen: true, plan: 'above-stone' }
    const service = await open(options)
    expect(service).toMatchObject({ baseUrl: server.baseUrl, adminUrl: server.adminUrl, instance: server.instance })
    const account = await service.createAccount({ fixture: { domains: ['a.example'] } })
    expect(await account.read()).toMatchObject({ ...options, domains: 1 })
    expect(await service.account.read()).toMatchObject({ ...options, domains: 0 })
    await send(server, account, 'GET', '/domains')
    expect(await server.verdict()).toMatchObject({ passed: true, requests: 1 })
    const twin = await service.createAccount({ like: 'default' })
    expect(await twin.read()).toMatchObject({ seed: 3, fixture: 'demo', now: options.now })
  })

  it('has the faults of a plan for every account', async () => {
    const service = await open()
    for (const account of [service.account, await service.createAccount()]) {
      expect((await send(server, account as never, 'GET', '/dmarc')).status).toBe(500)
    }
  })

  it('shows a file only its own accounts and their requests', async () => {
    const [one, other] = [await open(), await open({}, 'test/list.test.ts')]
    const account = await other.createAccount({ id: 'shop' })
    await send(server, account, 'GET', '/domains')
    expect(await idsOf(one)).toEqual([one.account.id])
    expect(await idsOf(other)).toEqual([other.account.id, 'shop'])
    expect(await one.requests.list()).toEqual([])
    expect(await other.requests.list()).toMatchObject([{ account: 'shop' }])
    expect((await one.findAccount('default')).id).toBe(one.account.id)
    const taken = { code: 'taken', message: expect.stringContaining('There is an account "shop" already') }
    await expect(one.createAccount({ id: 'shop' })).rejects.toMatchObject(taken)
    const [sent] = await other.requests.list()
    const events = one.events()
    await send(server, account, 'GET', '/domaingroups')
    await send(server, one.account as never, 'GET', '/domains')
    expect((await events.next()).value).toMatchObject({ account: one.account.id, ordinal: Number(sent?.ordinal) + 2 })
    await events.return()
  })

  it('gives the same keys to the accounts of a file in each run, and never two the same', async () => {
    const keys = async (service: Understudy) => [service.apiKey, (await service.createAccount()).apiKey]
    const file = 'test/keys.test.ts'
    const [first, second] = [await keys(await open({}, file)), await keys(await open({}, file))]
    expect(new Set([...first, ...second]).size).toBe(4)
    expect((await open({}, `${process.cwd()}/test/key.test.ts`)).account.id).toBe('key.test.ts-a29c3b-1')
  })

  it('removes its accounts at its stop, and leaves the server to others', async () => {
    const [one, other] = [await open(), await open({}, 'other')]
    await one.createAccount()
    const gone = await one.createAccount()
    await gone.delete()
    await Promise.all([one.stop(), one.stop()])
    expect(await idsOf(server)).toEqual(['default', other.account.id])
    await expect(one.verdict()).rejects.toMatchObject({ code: 'stopped' })
    const ending = new AbortController()
    await open({ signal: ending.signal }, 'third')
    ending.abort()
    await expect.poll(() => idsOf(server)).toEqual(['default', other.account.id])
  })

  it('says that the run has ended, and lets the accounts go with it', async () => {
    const service = await open()
    await server.stop()
    const message = /^The stand-in of the run does not answer at http:.* \(ECONN\w+\): the run has ended, or /
    await expect(service.account.read()).rejects.toThrow(message)
    await service.stop()
  })

  it('does not know the contract', async () => {
    await expect(open().then(({ contract }) => contract)).rejects.toThrow('The contract is not known here, because')
  })

  it('has a `fetch`, which asks that server, whatever the origin of the URL is', async () => {
    const service = await open({ listen: false })
    const headers = {
      authorization: `Bearer ${service.apiKey}`,
      'content-type': 'application/json',
      host: 'any.example',
    }
    const send = (path: string, init: RequestInit = {}) =>
      service.fetch(new Request(`https://any.example${path}`, { headers, ...init }))
    const body = '{"domains":["a.example"]}'
    expect((await send('/api/v1/domains', { method: 'POST', body })).status).toBe(200)
    expect(await server.verdict()).toMatchObject({ passed: true, requests: 1 })
    expect((await send('/__admin/health')).status).toBe(200)
    await expect(send('/api/v1/domains', { signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early')
    await expect(service.fetch('/domains')).rejects.toThrow('"/domains" is no absolute URL; give one such as http://')
    await service.account.faults.clear()
    await service.account.faults.add({ connection: 'hang', match: { operation: 'listDomains' } })
    const waiting = send('/api/v1/domains')
    await service.account.requests.waitFor({ operation: 'listDomains' })
    await service.stop()
    await expect(waiting).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'UND_ERR_SOCKET' } })
    await expect(send('/api/v1/domains')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  it('takes the token of the server', async () => {
    const locked = await startServer({ adminToken: 'token' }, OPERATIONS)
    onTestFinished(() => locked.stop())
    pretend({ UNDERSTUDY_BASE_URL: locked.baseUrl, UNDERSTUDY_ADMIN_URL: locked.adminUrl })
    expect((await open({ adminToken: 'token' })).instance).toBe(locked.instance)
    await expect(open()).rejects.toThrow(/ Give it as the option adminToken\.$/)
  })
})

describe('An option of the tests that the server of the command cannot have', () => {
  it.each<[options: TestOptions, remedy: string]>([
    [{ overlays: ['mine.yaml'] }, 'give --overlay to the command, or start a server of your own'],
    [{ faults: ['flaky'] }, 'give --faults to the command, or'],
    [{ enforceQuotas: false }, 'give --no-quotas to the command, or'],
    [{ port: 4010 }, 'give --port to the command, or'],
    [{ clock: () => 0 }, 'leave it out and start a server of your own with startUnderstudy().'],
  ])('is refused at once: %o', (options, remedy) => {
    for (const make of [createTest, shareUnderstudy]) {
      expect(() => make(options)).toThrow(
        'cannot be chosen here, because the tests use the server of their command (UNDERSTUDY_TRIAL=run); ',
      )
      expect(() => make(options)).toThrow(remedy)
    }
  })

  it('is no hindrance where it says what is so anyway, and is told where no answer depends on it', async () => {
    expect(() => createTest({ overlays: [], prefer: true, admin: true })).not.toThrow()
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    await open({ journal: 5, maxAccounts: 3 })
    const told = 'maxAccounts, journal: no effect, because the tests use the server of their command.'
    expect(warn.mock.calls).toEqual([[told]])
  })
})

describe('An address that is none says so in one sentence:', () => {
  /** Answers everything with this. */
  async function answerWith(text: string, status = 200): Promise<string> {
    const other = createServer((_, response) => void response.writeHead(status).end(text))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    return `http://127.0.0.1:${(other.address() as AddressInfo).port}/__admin`
  }
  const foreign =
    /^Something other than the control plane of dmarc-understudy answers at http:.*; UNDERSTUDY_ADMIN_URL /
  const old = { success: true, data: { instance: 'one' }, 'x-settings': { 'page-limit': { value: 5 } }, paths: {} }

  it.each<[what: string, find: () => Promise<string | undefined>, message: RegExp]>([
    [
      'none at all',
      async () => undefined,
      /because UNDERSTUDY_ADMIN_URL is not set; run the command without --no-admin/,
    ],
    [
      'of nobody',
      async () => 'http://127.0.0.1:9',
      /\(ECONNREFUSED\): the run has ended, or UNDERSTUDY_ADMIN_URL is wro/,
    ],
    [
      'with a password, which no message tells',
      async () => 'http://user:secret@127.0.0.1:9',
      /^The stand-in of the run does not answer at http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\): /,
    ],
    ['that is no URL', async () => 'here', /^The stand-in of the run does not answer at here \(ERR_INVALID_URL\): /],
    ['of a page', () => answerWith('<html>'), foreign],
    ['of another API', () => answerWith('{"success": true, "data": {}}'), foreign],
    ['of a server that is in trouble', () => answerWith('{}', 500), foreign],
    [
      'of an old server',
      () => answerWith(JSON.stringify(old)),
      /has no listAllRequests at .* of another version; the tests/,
    ],
  ])('%s', async (_, find, message) => {
    pretend({ UNDERSTUDY_ADMIN_URL: await find() })
    await expect(open()).rejects.toThrow(message)
  })
})
