import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { AccountWithKey, ServerOptions, Understudy } from '../../src/index.ts'
import { PATIENCE } from '../../src/library/account-requests.ts'
import { holdTime, someoneWaits } from '../support/held-time.ts'
import { IN_PROCESS, send, WAYS } from './stand-in.ts'

describe.each(WAYS)('$way', ({ way, start }) => {
  let understudy: Understudy
  let account: AccountWithKey

  async function restart(options: ServerOptions = {}): Promise<void> {
    understudy = await start(options)
    account = await understudy.createAccount()
  }
  beforeEach(() => restart())

  const ask = (method: string, path: string, body?: unknown) => send(understudy, account, method, path, body)
  const add = (domain: string) => ask('POST', '/domains', { domains: [domain] })

  describe('waiting for a request', () => {
    it('ends with the first one that matches, as lists have it', async () => {
      const wanted = { operation: 'addDomains', body: { domains: ['two.example'] } } as const
      const waiting = account.requests.waitFor(wanted, { timeout: PATIENCE.longest })
      await ask('GET', '/domains')
      await add('one.example')
      await add('two.example')
      await add('two.example')
      const request = await waiting
      expect(request).toEqual((await account.requests.list())[2])
      expect(request).toMatchObject({ operation: 'addDomains', status: 200, account: account.id })
    })

    it('ends at once where one is in the journal already, with the oldest', async () => {
      await add('one.example')
      await add('one.example')
      expect(await account.requests.waitFor({ operation: 'addDomains' }, { timeout: 0 })).toMatchObject({ status: 200 })
      expect(await account.requests.waitFor({ status: 400 }, { timeout: 0 })).toMatchObject({ code: 'invalid_domain' })
    })

    // Over HTTP, the journal is asked for the request.
    if (way === IN_PROCESS)
      it('needs no journal for a request to come', async () => {
        await restart({ journal: 0 })
        holdTime()
        const waiting = account.requests.waitFor({ operation: 'addDomains' })
        await add('one.example')
        expect(await waiting).toMatchObject({ operation: 'addDomains' })
      })

    it('takes no note of the requests of other accounts', async () => {
      await send(understudy, await understudy.createAccount(), 'GET', '/domains')
      await expect(account.requests.waitFor({ method: 'GET' }, { timeout: 1 })).rejects.toMatchObject({
        code: 'timeout',
      })
    })

    // The server sends events after a pause, for which nobody waits here.
    if (way === IN_PROCESS)
      it('gives up after the timeout and says in a few lines what came instead', async () => {
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

    it('gives up in one line where nothing came', async () => {
      await expect(account.requests.waitFor({ operation: 'listDmarc' }, { timeout: 0 })).rejects.toThrow(
        /^No request matched \{"operation":"listDmarc"\} within 0 ms\. No request came meanwhile\.$/,
      )
    })

    it.each<[match: object, options: object | undefined, message: RegExp]>([
      [{ operation: 'addDomain' }, undefined, /Did you mean addDomains\?/],
      [{}, { timeOut: 5 }, /`timeOut` is no option of waitFor/],
      [{}, { timeout: -1 }, /milliseconds from 0 to 600000, which -1 is not/],
    ])('refuses at once to wait for %j with %j', async (match, options, message) => {
      await expect(account.requests.waitFor(match, options)).rejects.toThrow(message)
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
})
