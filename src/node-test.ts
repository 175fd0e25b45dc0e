import { after, type TestContext } from 'node:test'
import type { AccountOptions, AccountWithKey } from './library/account.ts'
import type { ServerOptions } from './start/options.ts'
import { startUnderstudy, type Understudy } from './start/server.ts'

/** A stand-in that is shared by the tests of a file. */
export interface SharedUnderstudy {
  /** Started when a test first asks. */
  understudy(): Promise<Understudy>
  /** A fresh account, deleted after the test. */
  account(context: TestContext, options?: AccountOptions): Promise<AccountWithKey>
}

/**
 * Shares one stand-in among the tests of a file and stops it after the last. Its accounts are empty unless `options`
 * say otherwise:
 *
 * ```ts
 * const shared = shareUnderstudy({ now: '2026-01-15T09:00:00Z' })
 * test('adds a domain', async (t) => {
 *   const account = await shared.account(t)
 * })
 * ```
 */
export function shareUnderstudy(options: ServerOptions = {}): SharedUnderstudy {
  let running: Promise<Understudy> | undefined
  const understudy = () => (running ??= startUnderstudy({ ...options, fixture: options.fixture ?? 'empty' }))
  // A start that failed has failed its tests already.
  after(async () => (await running?.catch(() => undefined))?.stop())
  return {
    understudy,
    async account(context, accountOptions) {
      const account = await (await understudy()).createAccount(accountOptions)
      context.after(() => account[Symbol.asyncDispose]())
      return account
    },
  }
}
