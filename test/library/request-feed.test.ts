import { beforeEach, describe, expect, it } from 'vitest'
import type { AccountWithKey, RequestReport, Understudy } from '../../src/index.ts'
import { WAITING } from '../../src/library/request-feed.ts'
import { IN_PROCESS, send, WAYS } from './stand-in.ts'

describe.each(WAYS)('$way', ({ way, start }) => {
  let understudy: Understudy
  let account: AccountWithKey

  beforeEach(async () => {
    understudy = await start({ enforceQuotas: false })
    account = await understudy.createAccount()
  })

  const get = (path: string, of = account) => send(understudy, of, 'GET', path)

  async function take(events: AsyncIterableIterator<RequestReport>, count: number): Promise<string[]> {
    const paths: string[] = []
    for (let left = count; left > 0; left--) {
      const { value } = await events.next()
      paths.push(value?.path.replace('/api/v1', ''))
    }
    return paths
  }

  describe('the events of an account', () => {
    it('are its requests from now on, as lists have them, and end when the loop is left', async () => {
      await get('/dmarc')
      // Over HTTP, they begin after those that were read.
      await account.requests.list()
      const events = account.events()
      await get('/domains')
      await get('/domaingroups')
      const seen: RequestReport[] = []
      for await (const request of events) {
        seen.push(request)
        if (seen.length === 2) break
      }
      expect(seen).toEqual((await account.requests.list()).slice(1))
      await get('/domains')
      expect(await events.next()).toEqual({ done: true, value: undefined })
    })

    it('come while somebody waits for them', async () => {
      const events = account.events()
      const next = events.next()
      await get('/domains')
      expect((await next).value).toMatchObject({ path: '/api/v1/domains', status: 200 })
      await events.return()
    })

    it('are those of one account; the service has those of all and of none', async () => {
      const [mine, all] = [account.events(), understudy.events()]
      const other = await understudy.createAccount()
      await get('/domains', other)
      await send(understudy, { baseUrl: account.baseUrl, headers: { authorization: 'Bearer wrong' } }, 'GET', '/dmarc')
      await get('/domaingroups')
      expect(await take(mine, 1)).toEqual(['/domaingroups'])
      expect(await take(all, 3)).toEqual(['/domains', '/dmarc', '/domaingroups'])
    })

    // The server sends events after a pause, and does not know when the signal is given.
    if (way === IN_PROCESS)
      it('end with the signal, after those that came before it', async () => {
        const ending = new AbortController()
        const events = account.events({ signal: ending.signal })
        await get('/domains')
        ending.abort()
        await get('/dmarc')
        const seen: string[] = []
        for await (const { path } of events) seen.push(path)
        expect(seen).toEqual(['/api/v1/domains'])
        expect(await account.events({ signal: ending.signal }).next()).toEqual({ done: true, value: undefined })
      })

    it('end with the stand-in, also for somebody who waits', async () => {
      const events = account.events()
      const next = events.next()
      await understudy.stop()
      expect(await next).toEqual({ done: true, value: undefined })
    })

    it('end where they are ended, also for somebody who waits', async () => {
      const events = account.events()
      const next = events.next()
      await events.return()
      expect(await next).toEqual({ done: true, value: undefined })
      await account.events()[Symbol.asyncDispose]()
    })

    it.each<[options: object, message: RegExp]>([
      [{ signals: 1 }, /^`signals` is no option of events\(\); there is signal\.$/],
      [{ signal: 1 }, /^`signal` must be the signal of an AbortController, which 1 is not\.$/],
    ])('are refused with the options %j', async (options, message) => {
      await expect(account.events(options).next()).rejects.toThrow(message)
    })

    // Over HTTP, they come one after the other, and the reader may be faster.
    if (way === IN_PROCESS)
      it('tell a reader who is too far behind how many are lost, after those that are not', {}, async () => {
        const events = account.events()
        await Promise.all(Array.from({ length: WAITING.requests + 3 }, () => get('/domains')))
        for (let taken = 0; taken < WAITING.requests; taken++) expect((await events.next()).done).toBe(false)
        await expect(events.next()).rejects.toMatchObject({
          name: 'ControlError',
          code: 'lost',
          message:
            '3 requests were lost, because 1000 requests or 16 MiB waited for the reader of events(). Read faster, or list the requests.',
        })
        expect(await events.next()).toEqual({ done: true, value: undefined })
      })

    it('show no secret', async () => {
      const events = account.events()
      await get(`/domains?key=${account.apiKey}`)
      expect(JSON.stringify((await events.next()).value)).not.toContain(account.apiKey)
      await events.return()
    })
  })
})
