import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AccountWithKey, startUnderstudy, type Understudy, ViolationError } from '../../src/index.ts'
import { listenOn } from '../support/listening.ts'
import { receivedOf } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { NOW, send, WAYS } from './stand-in.ts'

const readTime = Date.now
const realQueue = queueMicrotask

/** Each replaces what a test can replace, and returns what brings it back. No test lets the replaced time go on. */
const REPLACEMENTS: readonly (readonly [name: string, replace: () => () => void])[] = [
  ['vi.useFakeTimers()', () => useFakeTimers({ now: 0 })],
  ['vi.useFakeTimers() also for microtasks', () => useFakeTimers({ toFake: ['setTimeout', 'queueMicrotask', 'Date'] })],
  [
    'the mock.timers of node:test',
    () => {
      mock.timers.enable()
      return () => mock.timers.reset()
    },
  ],
  [
    'a Date that is always the same',
    () => {
      const same = new Date(0)
      vi.spyOn(globalThis, 'Date').mockImplementation(function always() {
        return same
      })
      return () => void vi.restoreAllMocks()
    },
  ],
]
function useFakeTimers(options: Parameters<typeof vi.useFakeTimers>[0]): () => void {
  vi.useFakeTimers(options)
  return () => void vi.useRealTimers()
}

/** As docs/testing.md advises for clients of the global `fetch`, which needs real immediates on a connection that is kept. */
it.for<[name: string, replace: () => () => void]>([
  ['vitest', () => useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })],
  [
    'node:test',
    () => {
      mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
      return () => mock.timers.reset()
    },
  ],
])('a client of the global fetch goes on with its connection when %s replaces timers', async ([, replace]) => {
  const { app, account, contract, stop } = await startUnderstudy({ fixture: 'empty', now: NOW, listen: false })
  onTestFinished(stop)
  const server = createServer(app)
  let connections = 0
  server.on('connection', () => connections++)
  const port = await listenOn(server)
  for (let count = 0; count < 4; count++) {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/domains`, { headers: account.headers })
    const received = receivedOf(response.status, Object.fromEntries(response.headers), await response.text())
    expectLawful(contract, 'GET', '/domains', received)
    if (count === 0) onTestFinished(replace())
  }
  // Where it could not, each request would wait until its connection is closed, and make one.
  expect(connections).toBeLessThan(4)
})

const FAULT = { match: { operation: 'listDomains' }, delay_ms: 1 } as const

describe.each(REPLACEMENTS)('With %s', (_, replace) => {
  let bringBack: () => void

  beforeEach(() => {
    bringBack = replace()
    return () => bringBack()
  })

  /** Sends a request by this `fetch`. */
  async function fetchBy(fetch: Understudy['fetch'], { contract }: Understudy, { baseUrl, headers }: AccountWithKey) {
    const response = await fetch(`${baseUrl}/domains`, { headers })
    const received = receivedOf(response.status, Object.fromEntries(response.headers), await response.text())
    expectLawful(contract, 'GET', '/domains', received)
    return received
  }

  describe.each(WAYS)('a stand-in $way', ({ start }) => {
    let understudy: Understudy
    let account: AccountWithKey

    beforeEach(async () => {
      understudy = await start()
      account = await understudy.createAccount()
    })

    const list = () => send(understudy, account, 'GET', '/domains')

    it('answers over its port, and without one', async () => {
      expect((await list()).status).toBe(200)
      expect((await fetchBy(understudy.fetch, understudy, account)).status).toBe(200)
      // The global one itself waits for microtasks.
      const own = queueMicrotask === realQueue ? fetch : understudy.fetch
      expect((await fetchBy(own, understudy, account)).status).toBe(200)
    })

    it('delays an answer', async () => {
      await account.faults.add(FAULT)
      expect((await list()).status).toBe(200)
      expect((await fetchBy(understudy.fetch, understudy, account)).status).toBe(200)
    })

    it('waits for a request, and gives up in time', async () => {
      const coming = account.requests.waitFor({ operation: 'listDomains' })
      await list()
      expect(await coming).toMatchObject({ status: 200 })
      await expect(account.requests.waitFor({ method: 'DELETE' }, { timeout: 1 })).rejects.toThrow('within 1 ms')
    })

    it('delivers the requests as events', async () => {
      const events = account.events()
      const next = events.next()
      await list()
      expect((await next).value).toMatchObject({ operation: 'listDomains' })
      await events.return()
    })

    it('finds what violates the contract', async () => {
      const watch = understudy.watchViolations({ account })
      await send(understudy, account, 'GET', '/domain')
      await expect(watch.end()).rejects.toThrow(ViolationError)
    })

    it('goes on when they are brought back', async () => {
      await account.faults.add(FAULT)
      await list()
      bringBack()
      expect((await list()).status).toBe(200)
      expect(await account.requests.list()).toHaveLength(2)
    })
  })

  it('a stand-in stops, although a connection is open and a request is delayed', async () => {
    const understudy = await startUnderstudy({ fixture: 'empty', now: NOW })
    const account = await understudy.createAccount()
    await send(understudy, account, 'GET', '/domains')
    await account.faults.add({ ...FAULT, delay_ms: 60_000 })
    const delayed = fetchBy(understudy.fetch, understudy, account)
    await understudy.stop()
    expect((await delayed).status).toBe(200)
  })

  it('a stand-in keeps its accounts in a folder', async () => {
    const data = mkdtempSync(join(tmpdir(), 'understudy-'))
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    for (const ids of [['default'], ['default', 'kept']]) {
      const understudy = await startUnderstudy({ data, fixture: 'empty', listen: false })
      expect((await understudy.listAccounts()).map(({ id }) => id)).toEqual(ids)
      if (ids.length === 1) await understudy.createAccount({ id: 'kept' })
      await understudy.stop()
    }
  })

  it('a stand-in has the time of the machine, and an account moves in its own', async () => {
    const before = readTime()
    const understudy = await startUnderstudy({ listen: false })
    const account = await understudy.createAccount({ fixture: 'demo' })
    const { headers } = await fetchBy(understudy.fetch, understudy, account)
    const [shown, moved] = [await account.clock.now(), await account.clock.advance({ hours: 1 })]
    await understudy.stop()
    bringBack()
    // The field has no milliseconds.
    expect(Date.parse(headers['date'] ?? '')).toBeGreaterThan(before - 1_000)
    expect(Date.parse(shown)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(moved.now)).toBeGreaterThanOrEqual(before + 3_600_000)
  })
})
