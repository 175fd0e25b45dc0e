import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AccountWithKey, type Understudy, ViolationError, type ViolationWatch } from '../../src/index.ts'
import { DESCRIBED } from '../../src/library/violations.ts'
import { IN_PROCESS, send, untilTheEnd, WAYS } from './stand-in.ts'

describe.each(WAYS)('$way', ({ way, open }) => {
  let understudy: Understudy
  let account: AccountWithKey

  beforeEach(async () => {
    understudy = untilTheEnd(await open({ enforceQuotas: false }))
    account = await understudy.createAccount()
  })

  type Sender = Pick<AccountWithKey, 'baseUrl' | 'headers'>
  const violate = (sender: Sender = account) => send(understudy, sender, 'POST', '/domains', { domain: ['a.example'] })
  const misspell = (sender: Sender = account) => send(understudy, sender, 'GET', '/domain')
  const withKey = (key: string): Sender => ({ baseUrl: account.baseUrl, headers: { authorization: `Bearer ${key}` } })

  /** How many violations a watch has seen. */
  function endOf(watch: ViolationWatch): Promise<number> {
    return watch.end().then(
      () => 0,
      ({ count }: ViolationError) => count,
    )
  }

  describe('a watch of an account', () => {
    it('sees all violations, and says of a few kinds what was wrong and what would be right', async () => {
      const watch = understudy.watchViolations({ account })
      await send(understudy, account, 'GET', '/domains')
      const { headers } = await violate()
      await violate()
      for (let count = 0; count < DESCRIBED + 3; count++) await send(understudy, account, 'GET', `/nothing-${count}`)
      const error = (await watch.end().catch((thrown: unknown) => thrown)) as ViolationError
      expect(error).toBeInstanceOf(ViolationError)
      const { first } = (await understudy.verdict()).violations
      expect(error).toMatchObject({ name: 'ViolationError', count: DESCRIBED + 5 })
      expect(error.violations).toHaveLength(DESCRIBED)
      expect(error.violations[0]).toEqual(first[0])
      const id = headers['x-request-id']
      expect(error.message.split('\n').slice(0, way === IN_PROCESS ? 5 : 6)).toEqual([
        `${DESCRIBED + 5} requests violate the contract.`,
        '',
        'POST /api/v1/domains → 400 unknown_field, 2 times: The field `domain` is not supported.',
        `Correct: ${first[0]?.correction}`,
        `Read more: addDomains in dmarc-understudy/openapi.yaml, or understudy.explain('${id}') in the test.`,
        // The server in the process of the tests ends with them.
        ...(way === IN_PROCESS ? [] : [`See it: ${understudy.adminUrl}/page/${account.id}/requests/${first[0]?.id}`]),
      ])
      expect(error.message.match(/^GET .* → 404 not_found: /gm)).toHaveLength(DESCRIBED - 1)
      expect(error.message).toMatch(/\n\n… and 4 more\.$/)
      expect(error.stack).toBe(`ViolationError: ${error.message}`)
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
      for (let count = 0; count < 5; count++) await send(understudy, account, 'GET', '/domains')
      await account.delete()
      expect(await understudy.verdict()).toMatchObject({ passed: false, requests: 6 })
      await understudy.clearVerdict()
      expect(await understudy.verdict()).toMatchObject({ passed: false, requests: 0 })
      expect(await endOf(watch)).toBe(1)
    })

    it('that permits violations sees none, and charges them to nobody', async () => {
      const rest = understudy.watchViolations()
      const watch = understudy.watchViolations({ account, permits: true })
      await violate()
      await misspell(withKey('nobody'))
      expect([await endOf(watch), await endOf(rest)]).toEqual([0, 0])
    })
  })

  const OF_ANOTHER: readonly [what: string, violation: () => Promise<unknown>] = [
    'of an account without a watch',
    () => violate(understudy.account as AccountWithKey),
  ]
  // A server that others use, too, does not say who has sent a request without an account.
  const FOREIGN: readonly (typeof OF_ANOTHER)[] =
    way !== IN_PROCESS
      ? [OF_ANOTHER]
      : [
          OF_ANOTHER,
          ['without a key', () => misspell({ baseUrl: account.baseUrl, headers: {} as Sender['headers'] })],
          ['with the key of no account', () => misspell(withKey('nobody'))],
          [
            'that is not HTTP',
            async () => {
              const { hostname, port } = new URL(understudy.baseUrl)
              const socket = connect(Number(port), hostname)
              socket.end('NO\r\n\r\n').resume()
              await once(socket, 'close')
            },
          ],
        ]

  it.each(FOREIGN)(
    'a violation %s is charged to the only watch of an account, or to that of the rest',
    async (_, act) => {
      const rest = understudy.watchViolations()
      const only = understudy.watchViolations({ account })
      await act()
      expect([await endOf(only), await endOf(rest)]).toEqual([1, 0])
      const later = understudy.watchViolations()
      const watches = [account, await understudy.createAccount()].map((each) =>
        understudy.watchViolations({ account: each }),
      )
      await act()
      expect(await Promise.all([...watches, later].map(endOf))).toEqual([0, 0, 1])
    },
  )

  if (way !== IN_PROCESS) return

  it('a watch sees nothing before and after', async () => {
    await violate()
    const watch = understudy.watchViolations({ account })
    const ended = watch.end()
    await ended
    await violate()
    expect(watch.end()).toBe(ended)
  })

  it('a violation of nobody is charged to the rest where the only watch of an account does not want it', async () => {
    const rest = understudy.watchViolations()
    const watch = understudy.watchViolations({ account, seesOthers: false })
    await misspell(withKey('nobody'))
    expect(await endOf(watch)).toBe(0)
    await expect(rest.end()).rejects.toThrow('\nIt is not known which test has sent it.\n')
  })

  it('a violation that comes late is charged to the rest, and not to the test after it', async () => {
    const rest = understudy.watchViolations()
    const first = understudy.watchViolations({ account, name: 'adds a domain' })
    await account.faults.add({ delay_ms: 200, times: 1 })
    const late = violate()
    // The request has entered the account, and its violation is not known yet.
    await expect.poll(async () => (await account.faults.list())[0]?.hits).toBe(1)
    expect(await endOf(first)).toBe(0)
    const second = understudy.watchViolations({ account: await understudy.createAccount(), name: 'another' })
    await late
    expect(await endOf(second)).toBe(0)
    await expect(rest.end()).rejects.toThrow('\nIt is not known which test has sent it.\n')
  })

  it('a watch of an account with more requests than the journal keeps says that it may have missed some', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const few = untilTheEnd(await open({ journal: 2, enforceQuotas: false }))
    const busy = await few.createAccount()
    const watch = few.watchViolations({ account: busy, name: 'a busy test' })
    for (let count = 0; count < 3; count++) await send(few, busy, 'GET', '/domains')
    expect(await endOf(watch)).toBe(0)
    const told = 'The journal keeps 2 requests of an account, so it may have dropped violations of: a busy test.'
    expect(warn.mock.calls).toEqual([[told]])
  })
})
