import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { AccountWithKey, RequestReport, ServerOptions, Understudy } from '../../src/index.ts'
import { ControlClient, type RequestReader } from '../../src/library/control-client.ts'
import { openEvents } from '../../src/library/requests.ts'
import { holdTime, someoneWaits } from '../support/held-time.ts'
import { IN_PROCESS, send, untilTheEnd, WAYS } from './stand-in.ts'

describe.each(WAYS)('$way', ({ way, open }) => {
  let understudy: Understudy
  let account: AccountWithKey

  async function restart(options: ServerOptions = {}): Promise<void> {
    understudy = untilTheEnd(await open({ enforceQuotas: false, ...options }))
    account = await understudy.createAccount()
  }
  beforeEach(() => restart())

  const get = (path: string, of = account) => send(understudy, of, 'GET', path)
  const add = (domain: string) => send(understudy, account, 'POST', '/domains', { domains: [domain] })
  const stranger = () => ({ baseUrl: account.baseUrl, headers: { authorization: 'Bearer nobody' } }) as AccountWithKey

  it('the requests of all accounts are listed, and those that belong to none', async () => {
    await get('/domains')
    await get('/dmarc', await understudy.createAccount())
    await get('/domains', stranger())
    expect((await understudy.requests.list()).map(({ status }) => status)).toEqual([200, 200, 401])
    expect(await understudy.requests.list({ status: 401 })).toMatchObject([{ account: null }])
    expect(await account.requests.list()).toMatchObject([{ account: account.id, operation: 'listDomains' }])
  })

  describe('waiting for a request', () => {
    it('ends with the first one that matches, as lists have it', async () => {
      const wanted = { operation: 'addDomains', body: { domains: ['two.example'] } } as const
      const waiting = account.requests.waitFor(wanted, { timeout: 600_000 })
      await get('/domains')
      for (const domain of ['one.example', 'two.example', 'two.example']) await add(domain)
      const request = await waiting
      expect(request).toEqual((await account.requests.list())[2])
      expect(request).toMatchObject({ operation: 'addDomains', status: 200, account: account.id })
    })

    it('ends at once where one is in the journal already, with the oldest', async () => {
      for (const domain of ['one.example', 'one.example']) await add(domain)
      expect(await account.requests.waitFor({ operation: 'addDomains' }, { timeout: 0 })).toMatchObject({ status: 200 })
    })

    it('gives up in one line where nothing came, and takes no note of other accounts', async () => {
      await get('/dmarc', await understudy.createAccount())
      await expect(account.requests.waitFor({ operation: 'listDmarc' }, { timeout: 0 })).rejects.toThrow(
        /^No request matched \{"operation":"listDmarc"\} within 0 ms\. No request came meanwhile\.$/,
      )
    })

    it('ends with the account and with the stand-in', async () => {
      // One begins to wait before the stop, the other is still about to.
      const early = account.requests.waitFor({ operation: 'listDmarc' }, { timeout: 600_000 })
      early.catch(() => {})
      await add('a.example')
      const late = account.requests.waitFor({ operation: 'listDmarc' }, { timeout: 600_000 })
      late.catch(() => {})
      await understudy.stop()
      await expect(early).rejects.toMatchObject({ code: 'stopped' })
      await expect(late).rejects.toMatchObject({ code: 'stopped' })
      await restart()
      await account.delete()
      await expect(account.requests.waitFor({ operation: 'listDmarc' })).rejects.toMatchObject({ code: 'not_found' })
    })
  })

  describe('events', () => {
    async function take(events: AsyncIterableIterator<RequestReport>, count: number): Promise<string[]> {
      const paths: string[] = []
      while (paths.length < count) paths.push((await events.next()).value?.path.replace('/api/v1', ''))
      return paths
    }

    it('are the requests from now on, as lists have them, without secrets, and end when the loop is left', async () => {
      await get('/dmarc')
      // Over HTTP, they begin after those that were read.
      await account.requests.list()
      const events = account.events()
      await get(`/domains?key=${account.apiKey}`)
      await get('/domaingroups')
      const seen: RequestReport[] = []
      for await (const request of events) {
        seen.push(request)
        if (seen.length === 2) break
      }
      expect(seen).toEqual((await account.requests.list()).slice(1))
      expect(JSON.stringify(seen)).not.toContain(account.apiKey)
      await get('/domains')
      expect(await events.next()).toEqual({ done: true, value: undefined })
    })

    it('are those of one account; the service has those of all and of none', async () => {
      const [mine, all] = [account.events(), understudy.events()]
      await get('/domains', await understudy.createAccount())
      await get('/dmarc', stranger())
      await get('/domaingroups')
      expect(await take(mine, 1)).toEqual(['/domaingroups'])
      expect(await take(all, 3)).toEqual(['/domains', '/dmarc', '/domaingroups'])
    })

    it('end for somebody who waits, where they are ended and with the stand-in', async () => {
      for (const end of [(events: AsyncIterator<unknown>) => events.return?.(), () => understudy.stop()]) {
        const events = account.events()
        const next = events.next()
        await end(events)
        expect(await next).toEqual({ done: true, value: undefined })
      }
    })
  })

  // Over HTTP, the server sends events after a pause, and a reader is faster than they come.
  if (way !== IN_PROCESS) return

  it('waiting for a request gives up after the timeout and says in a few lines what came instead', async () => {
    holdTime()
    const refusal = account.requests
      .waitFor({ operation: 'addDomains', body: { domains: ['b.example'] } }, { timeout: 300 })
      .catch((thrown: unknown) => thrown)
    const { headers } = await add('a.example')
    await someoneWaits()
    await vi.advanceTimersByTimeAsync(300)
    const error = await refusal
    expect(error).toMatchObject({ name: 'ControlError', code: 'timeout', problems: [] })
    expect((error as Error).message.split('\n')).toEqual([
      'No request matched {"operation":"addDomains","body":{"domains":["b.example"]}} within 300 ms. One request came meanwhile.',
      'The nearest in the journal:',
      `  POST /api/v1/domains (${headers['x-request-id']}): body is {"domains":["a.example"]}, not {"domains":["b.example"]}.`,
    ])
  })
})

it('Events that nobody reads are kept within a limit, and then end with an error', async () => {
  let isLeft = false
  const transport = {
    ...{ newest: 0, journalLimit: 0, stopping: new AbortController().signal, perform: async () => {} },
    events(_: unknown, { take }: RequestReader) {
      for (let count = 0; count < 20_000; count++) queueMicrotask(() => take({ ordinal: count } as RequestReport))
      return () => {
        isLeft = true
      }
    },
  }
  const events = openEvents(new ControlClient(transport), 'one', {})
  await new Promise(setImmediate)
  expect(isLeft).toBe(true)
  for (let count = 0; count < 10_000; count++) expect((await events.next()).value).toEqual({ ordinal: count })
  await expect(events.next()).rejects.toThrow('The reader of these events has left 10000 requests unread')
})
