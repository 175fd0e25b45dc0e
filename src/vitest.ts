import { test as base } from 'vitest'
import type { AccountOptions, AccountWithKey } from './library/account.ts'
import type { ServerOptions } from './start/options.ts'
import { startUnderstudy, type Understudy } from './start/server.ts'

/** What `test` gives to each test. */
export interface UnderstudyFixtures {
  /** The stand-in, started once in each worker and stopped at its end. */
  understudy: Understudy
  /** How the accounts of a test are to be; `test.override` and `test.extend` change it. */
  accountOptions: AccountOptions
  /** A fresh account for each test, deleted after it. */
  account: AccountWithKey
}

/**
 * A `test` whose `account` is a world of its own, on one stand-in that is shared. `options` are those of the
 * stand-in, whose accounts are empty unless they say otherwise:
 *
 * ```ts
 * const test = createTest({ now: '2026-01-15T09:00:00Z' })
 * test('adds a domain', async ({ account }) => { … })
 * ```
 */
export function createTest(options: ServerOptions = {}) {
  return base.extend<UnderstudyFixtures>({
    understudy: [
      // vitest reads from the pattern which fixtures are needed.
      // biome-ignore lint/correctness/noEmptyPattern: this one needs none
      async ({}, use) => {
        const understudy = await startUnderstudy({ ...options, fixture: options.fixture ?? 'empty' })
        await use(understudy)
        await understudy.stop()
      },
      { scope: 'worker' },
    ],
    accountOptions: {},
    account: async ({ understudy, accountOptions }, use) => {
      const account = await understudy.createAccount(accountOptions)
      await use(account)
      await account[Symbol.asyncDispose]()
    },
  })
}

/** The `test` of a stand-in whose accounts are empty. */
export const test = createTest()
