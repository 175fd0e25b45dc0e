import { createServer } from 'node:http'
import { mock } from 'node:test'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AccountWithKey, startUnderstudy, type Understudy, ViolationError } from '../../src/index.ts'
import { listenOn } from '../support/listening.ts'
import { receivedOf } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { NOW, send, untilTheEnd, WAYS } from './stand-in.ts'

const readTime = Date.now
const realQueue = queueMicrotask

function useFakeTimers(options: Parameters<typeof vi.useFakeTimers>[0]): () => void {
  vi.useFakeTimers(options)
  return () => void vi.useRealTimers()
}

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

/** Sends a request by this `fetch`. */
async function fetchBy(fetch: Understudy['fetch'], { contract }: Understudy, { baseUrl, headers }: AccountWithKey) {
  const response = await fetch(`${baseUrl}/domains`, { headers })
  const received = receivedOf(response.status, Object.fromEntries(response.headers), await response.text())
  expectLawful(contract, 'GET', '/domains', received)
  return received
}

describe.each(REPLACEMENTS)('With %s', (_, replace) => {
  /** Until the end of the test, or until it is brought back. */
  function replaceNow(): () => void {
    const bringBack = replace()
    onTestFinished(bringBack)
    return bringBack
  }

  it.each(WAYS)('a stand-in $way answers, delays, waits, tells events and finds violations', async ({ open }) => {
    const bringBack = replaceNow()
    const understudy = untilTheEnd(await open())
    const account = await understudy.createAccount()
    const list = () => send(understudy, account, 'GET', '/domains')
    await account.faults.add({ match: { operation: 'listDomains' }, delay_ms: 1 })
    const events = account.events()
    const next = events.next()
    const coming = account.requests.waitFor({ operation: 'listDomains' })
    expect((await list()).status).toBe(200)
    expect((await coming).status).toBe(200)
    expect((await next).value).toMatchObject({ operation: 'listDomains' })
    await events.return()
    expect((await fetchBy(understudy.fetch, understudy, account)).status).toBe(200)
    // The global one itself waits for microtasks.
    if (queueMicrotask === realQueue) expect((await fetchBy(fetch, understudy, account)).status).toBe(200)
    await expect(account.requests.waitFor({ method: 'DELETE' }, { timeout: 1 })).rejects.toThrow('within 1 ms')
    const watch = understudy.watchViolations({ account })
    await send(understudy, account, 'GET', '/domain')
    await expect(watch.end()).rejects.toThrow(ViolationError)
    bringBack()
    expect((await list()).status).toBe(200)
  })

  it('a stand-in has the time of the machine, and an account moves in its own', async () => {
    const bringBack = replaceNow()
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
])('A client of the global fetch goes on with its connection when %s replaces timers', async ([, replace]) => {
  const understudy = untilTheEnd(await startUnderstudy({ fixture: 'empty', now: NOW, listen: false }))
  const server = createServer(understudy.app)
  let connections = 0
  server.on('connection', () => connections++)
  const baseUrl = `http://127.0.0.1:${await listenOn(server)}/api/v1`
  for (let count = 0; count < 4; count++) {
    await fetchBy(fetch, understudy, { baseUrl, headers: understudy.account.headers } as AccountWithKey)
    if (count === 0) onTestFinished(replace())
  }
  // Where it could not, each request would wait until its connection is closed, and make one.
  expect(connections).toBeLessThan(4)
})
