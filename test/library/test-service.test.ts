import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { AccountWithKey, TestOptions, Understudy } from '../../src/index.ts'
import { shareUnderstudy } from '../../src/node-test.ts'
import { divideTestOptions, openTestService } from '../../src/server/test-service.ts'
import { openUnderstudy } from '../../src/server/understudy.ts'
import { createTest } from '../../src/vitest.mts'
import { listenOn } from '../support/listening.ts'
import { send } from './stand-in.ts'

/** The plan of a run of `explore`. */
const PLAN = [{ match: { operation: 'listDmarc' }, respond: { error: 'internal_error' } }]

let server: Understudy

beforeEach(async () => {
  server = await openUnderstudy({ fixture: 'demo', seed: 3 }, OPERATIONS, { faults: PLAN })
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
const get = (account: Understudy['account'], path: string) => send(server, account as AccountWithKey, 'GET', path)

describe('Under run, vary and explore, the stand-in of the tests', () => {
  it('is the server of the command, with accounts that are as the options say', async () => {
    const options = { seed: 7, now: '2026-01-15T09:00:00Z', frozen: true, plan: 'above-stone' }
    const service = await open(options)
    expect(service).toMatchObject({ baseUrl: server.baseUrl, adminUrl: server.adminUrl, instance: server.instance })
    const account = await service.createAccount({ fixture: { domains: ['a.example'] } })
    expect(await account.read()).toMatchObject({ ...options, domains: 1 })
    expect(await service.account.read()).toMatchObject({ ...options, domains: 0 })
    await get(account, '/domains')
    expect(await server.verdict()).toMatchObject({ passed: true, requests: 1 })
    // The faults of a plan are for every account.
    for (const each of [account, service.account]) expect((await get(each, '/dmarc')).status).toBe(500)
    expect(() => service.contract).toThrow('The contract is not known here, because')
    const locked = await openUnderstudy({ adminToken: 'token' }, OPERATIONS)
    onTestFinished(() => locked.stop())
    pretend({ UNDERSTUDY_BASE_URL: locked.baseUrl, UNDERSTUDY_ADMIN_URL: locked.adminUrl })
    expect((await open({ adminToken: 'token' })).instance).toBe(locked.instance)
    await expect(open()).rejects.toThrow(/ Give it as the option adminToken\.$/)
  })

  it('shows a file only its own accounts and their requests', async () => {
    const [one, other] = [await open(), await open({}, 'test/list.test.ts')]
    const account = await other.createAccount({ id: 'shop' })
    await get(account, '/domains')
    expect(await idsOf(one)).toEqual([one.account.id])
    expect(await idsOf(other)).toEqual([other.account.id, 'shop'])
    expect(await one.requests.list()).toEqual([])
    expect(await other.requests.list()).toMatchObject([{ account: 'shop' }])
    expect((await one.findAccount('default')).id).toBe(one.account.id)
    const taken = { code: 'taken', message: expect.stringContaining('There is an account "shop" already') }
    await expect(one.createAccount({ id: 'shop' })).rejects.toMatchObject(taken)
  })

  it('names the accounts of a file the same in each run, and never gives two the same key', async () => {
    const keys = async (service: Understudy) => [service.apiKey, (await service.createAccount()).apiKey]
    const file = 'test/keys.test.ts'
    expect(new Set([...(await keys(await open({}, file))), ...(await keys(await open({}, file)))]).size).toBe(4)
    expect((await open({}, `${process.cwd()}/test/key.test.ts`)).account.id).toBe('key.test.ts-a29c3b-1')
  })

  it('removes its accounts at its stop or its signal, and leaves the server to others', async () => {
    const ending = new AbortController()
    const [one, other] = [await open(), await open({}, 'other')]
    await open({ signal: ending.signal }, 'third')
    const [, gone] = [await one.createAccount(), await one.createAccount()]
    await gone.delete()
    await Promise.all([one.stop(), one.stop()])
    ending.abort()
    await expect.poll(() => idsOf(server)).toEqual(['default', other.account.id])
    await expect(one.verdict()).rejects.toMatchObject({ code: 'stopped' })
  })

  it('says that the run has ended, and lets the accounts go with it', async () => {
    const service = await open()
    await server.stop()
    const message = /^The stand-in of the run does not answer at http:.* \(ECONN\w+\): the run has ended, or /
    await expect(service.account.read()).rejects.toThrow(message)
    await service.stop()
  })

  it('has a `fetch`, which asks that server, whatever the origin of the URL is', async () => {
    const service = await open({ listen: false })
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' }
    const ask = (path: string, init: RequestInit = {}) =>
      service.fetch(new Request(`https://any.example${path}`, { headers, ...init }))
    const body = '{"domains":["a.example"]}'
    expect((await ask('/api/v1/domains', { method: 'POST', body })).status).toBe(200)
    expect(await server.verdict()).toMatchObject({ passed: true, requests: 1 })
    expect((await ask('/__admin/health')).status).toBe(200)
    await service.account.faults.clear()
    await service.account.faults.add({ connection: 'hang', match: { operation: 'listDomains' } })
    const waiting = ask('/api/v1/domains')
    await service.account.requests.waitFor({ operation: 'listDomains' })
    await service.stop()
    await expect(waiting).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'UND_ERR_SOCKET' } })
    await expect(ask('/api/v1/domains')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })
})

describe('An option of the tests that the server of the command cannot have', () => {
  it.each<[options: TestOptions, remedy: string]>([
    [{ overlays: ['mine.yaml'] }, 'give --overlay to the command, or start a server of your own'],
    [{ enforceQuotas: false }, 'give --no-quotas to the command, or'],
    [{ clock: () => 0 }, 'leave it out and start a server of your own with startUnderstudy().'],
  ])('is refused at once: %o', (options, remedy) => {
    const reason = 'cannot be chosen here, because the tests use the server of their command (UNDERSTUDY_TRIAL=run); '
    for (const make of [createTest, shareUnderstudy]) {
      expect(() => make(options)).toThrow(reason)
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

it.each<[what: string, answer: [text: string, status?: number] | string | undefined, message: RegExp]>([
  ['none', undefined, /because UNDERSTUDY_ADMIN_URL is not set; run the command without --no-admin/],
  [
    'of nobody, with a password, which no message tells',
    'http://user:secret@127.0.0.1:9',
    /^The stand-in of the run does not answer at http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\): the run has ended, or /,
  ],
  [
    'of a page',
    ['<html>'],
    /^Something other than the control plane of dmarc-understudy answers at http:.*; UNDERSTUDY_/,
  ],
  [
    'of an old server',
    ['{"success":true,"data":{"instance":"one"},"paths":{}}'],
    /has no listAllRequests at .* of another version; both/,
  ],
])('An address %s is told in one sentence', async (_, answer, message) => {
  const [text = '', status = 200] = typeof answer === 'object' ? answer : []
  const other = createServer((_, response) => void response.writeHead(status).end(text))
  const url = typeof answer === 'object' ? `http://127.0.0.1:${await listenOn(other)}/__admin` : answer
  pretend({ UNDERSTUDY_ADMIN_URL: url })
  await expect(open()).rejects.toThrow(message)
})
