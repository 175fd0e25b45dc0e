import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AccountWithKey, type Understudy, ViolationError, type ViolationWatch } from '../../src/index.ts'
import { DESCRIBED, FORMER } from '../../src/library/violations.ts'
import { IN_PROCESS, send, WAYS } from './stand-in.ts'

describe.each(WAYS)('$way', ({ way, start }) => {
  let understudy: Understudy
  let account: AccountWithKey

  beforeEach(async () => {
    // Over HTTP, the violations are those in the journal.
    understudy = await start({ enforceQuotas: false, ...(way === IN_PROCESS && { journal: 2 }) })
    account = await understudy.createAccount()
  })

  type Sender = Pick<AccountWithKey, 'baseUrl' | 'headers'>
  const violate = (sender: Sender = account) => send(understudy, sender, 'POST', '/domains', { domain: ['a.example'] })
  const misspell = (sender: Sender = account) => send(understudy, sender, 'GET', '/domain')
  const withKey = (key: string): Sender => ({ baseUrl: account.baseUrl, headers: { authorization: `Bearer ${key}` } })

  const pageOf = (id: string, request = '') => `${understudy.adminUrl}/accounts/${id}/requests/${request}`

  /** Sends something that is not HTTP, and waits until the server has ended the connection. */
  async function babble(): Promise<void> {
    const { hostname, port } = new URL(understudy.baseUrl)
    const socket = connect(Number(port), hostname)
    socket.end('NO\r\n\r\n').resume()
    await once(socket, 'close')
  }

  /** How many violations a watch has seen. */
  async function endOf(watch: ViolationWatch): Promise<number> {
    const error: unknown = await watch.end().catch((thrown: unknown) => thrown)
    if (error === undefined) return 0
    expect(error).toBeInstanceOf(ViolationError)
    return (error as ViolationError).count
  }

  describe('a watch of an account', () => {
    it('sees its violations, and says in a few lines what was wrong and what would be right', async () => {
      const watch = understudy.watchViolations({ account })
      await send(understudy, account, 'GET', '/domains')
      const { headers } = await violate()
      await violate()
      const error = (await watch.end().catch((thrown: unknown) => thrown)) as ViolationError
      expect(error).toMatchObject({ name: 'ViolationError', count: 2 })
      const { first } = (await understudy.verdict()).violations
      expect(error.violations).toEqual(first.slice(0, 1))
      expect(error.message.split('\n')).toEqual([
        '2 requests violate the contract.',
        '',
        'POST /api/v1/domains → 400 unknown_field, 2 times: The field `domain` is not supported.',
        `Correct: ${first[0]?.correction}`,
        `Read more: addDomains in dmarc-understudy/openapi.yaml, or understudy.explain('${headers['x-request-id']}') in the test.`,
        // The server in the process of the tests ends with them.
        ...(way === IN_PROCESS ? [] : [`See it: ${pageOf(account.id, headers['x-request-id'])}`]),
      ])
      expect(error.stack).toBe(`ViolationError: ${error.message}`)
    })

    if (way === IN_PROCESS)
      it('ends once, and sees nothing before and after', async () => {
        await violate()
        const watch = understudy.watchViolations({ account })
        const ended = watch.end()
        expect(watch.end()).toBe(ended)
        await ended
        await violate()
        expect(await endOf(watch)).toBe(0)
      })

    it('sees requests with each key of the account, created later, disabled or in a wrong place', async () => {
      const watch = understudy.watchViolations({ account })
      const other = understudy.watchViolations({ account: await understudy.createAccount() })
      const later = await account.keys.create()
      await misspell(withKey(later.api_key))
      await account.keys.disable(later.key.id)
      await misspell(withKey(later.api_key))
      expect([await endOf(watch), await endOf(other)]).toEqual([2, 0])
    })

    it('is not fooled by a reset, by the deletion of the account, or by more requests', async () => {
      const watch = understudy.watchViolations({ account })
      await violate()
      await account.requests.clear()
      await account.reset()
      for (let count = 0; count < 20; count++) await send(understudy, account, 'GET', '/domains')
      await account.delete()
      expect(await understudy.verdict()).toMatchObject({ passed: false, requests: 21 })
      await understudy.clearVerdict()
      expect(await understudy.verdict()).toMatchObject({ passed: false, requests: 0 })
      expect(await endOf(watch)).toBe(1)
    })

    it('describes few kinds, and counts all', async () => {
      const watch = understudy.watchViolations({ account })
      for (let count = 0; count < DESCRIBED + 4; count++) await send(understudy, account, 'GET', `/nothing-${count}`)
      const error = (await watch.end().catch((thrown: unknown) => thrown)) as ViolationError
      expect(error.violations.length).toBe(DESCRIBED)
      const lines = error.message.split('\n')
      expect(lines.filter((line) => /^GET .* → 404 not_found: /.test(line))).toHaveLength(DESCRIBED)
      expect(lines.slice(-2)).toEqual(['', '… and 4 more.'])
    })

    it('that permits violations sees none, and charges them to nobody', async () => {
      const rest = understudy.watchViolations()
      const watch = understudy.watchViolations({ account, permits: true })
      await violate()
      await misspell(withKey('nobody'))
      expect([await endOf(watch), await endOf(rest)]).toEqual([0, 0])
    })
  })

  describe('a violation of nobody', () => {
    const ALL: [what: string, violation: () => Promise<unknown>][] = [
      ['without a key', () => misspell({ baseUrl: account.baseUrl, headers: {} as Sender['headers'] })],
      ['with the key of no account', () => misspell(withKey('nobody'))],
      ['of an account without a watch', () => violate(understudy.account)],
      ['that is not HTTP', babble],
    ]
    // A server that others use, too, does not say who has sent a request without an account.
    const FOREIGN = way === IN_PROCESS ? ALL : ALL.filter(([what]) => what === 'of an account without a watch')

    it.each(FOREIGN)('%s is charged to the only watch of an account', async (_, violation) => {
      const rest = understudy.watchViolations()
      const watch = understudy.watchViolations({ account })
      await violation()
      expect([await endOf(watch), await endOf(rest)]).toEqual([1, 0])
    })

    it.each(FOREIGN)('%s is charged to the watch of the rest where there are several', async (_, violation) => {
      const rest = understudy.watchViolations()
      const watches = [account, await understudy.createAccount()].map((each) =>
        understudy.watchViolations({ account: each }),
      )
      await violation()
      expect(await Promise.all([...watches, rest].map(endOf))).toEqual([0, 0, 1])
    })

    if (way === IN_PROCESS)
      it('is charged to the watch of the rest where the only one of an account does not want it', async () => {
        const rest = understudy.watchViolations()
        const watch = understudy.watchViolations({ account, seesOthers: false })
        await misspell(withKey('nobody'))
        expect(await endOf(watch)).toBe(0)
        await expect(rest.end()).rejects.toThrow('\nIt is not known which test has sent it.\n')
      })
  })

  if (way === IN_PROCESS)
    describe('a violation that comes late', () => {
      it('is not charged to the test after it, and names the test that has sent it', async () => {
        const rest = understudy.watchViolations()
        const first = understudy.watchViolations({ account, name: 'adds a domain' })
        await account.faults.add({ delay_ms: 200, times: 1 })
        const late = violate()
        await account.requests.list()
        // The request has entered the account, and its violation is not known yet.
        await expect.poll(async () => (await account.faults.list())[0]?.hits).toBe(1)
        expect(await endOf(first)).toBe(0)
        const second = understudy.watchViolations({ account: await understudy.createAccount(), name: 'another' })
        await late
        await misspell()
        expect(await endOf(second)).toBe(0)
        await expect(rest.end()).rejects.toThrow('\nIt came after the end of the test: adds a domain\n')
      })

      if (way === IN_PROCESS)
        it('is one of nobody where the account was used long ago', async () => {
          const rest = understudy.watchViolations()
          await understudy.watchViolations({ account, name: 'long ago' }).end()
          const ends = Array.from({ length: 2 * FORMER }, (_, count) =>
            understudy.watchViolations({ account: { id: `former-${count}`, apiKey: undefined } }).end(),
          )
          await Promise.all(ends)
          await misspell()
          await expect(rest.end()).rejects.toThrow('\nIt is not known which test has sent it.\n')
        })
    })
})
