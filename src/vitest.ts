import { test as base } from 'vitest'
import type { AccountOptions, AccountWithKey } from './library/account.ts'
import type { ViolationWatch } from './library/violations.ts'
import type { TestOptions } from './start/options.ts'
import { type KeyedOptions, startUnderstudy, type Understudy, type UnderstudyWithKey } from './start/server.ts'
import { divideTestOptions } from './start/test-options.ts'

export { ViolationError } from './library/violations.ts'
export type { TestOptions } from './start/options.ts'

/** What `test` gives to each test. */
export interface UnderstudyFixtures<Service extends Understudy = Understudy> {
  /** The stand-in, started once in each worker and stopped at its end. */
  understudy: Service
  /** How the accounts of a test are to be; `test.override` and `test.extend` change it. */
  accountOptions: AccountOptions
  /**
   * Whether a test fails that violates the contract. `test.override({ failOnViolation: false })` permits it to the tests
   * of a suite, and `test.extend({ failOnViolation: false })` makes a `test` that may.
   */
  failOnViolation: boolean
  /** Sees the violations of which nobody knows which test of the file has sent them. They fail the file. */
  unassigned: ViolationWatch
  /** A fresh account for each test, deleted after it. */
  account: AccountWithKey
}

/**
 * A `test` whose `account` is a world of its own, on one stand-in that is shared. `options` are those of the
 * stand-in, whose accounts are empty unless they say otherwise, and `failOnViolation`:
 *
 * ```ts
 * const test = createTest({ now: '2026-01-15T09:00:00Z', failOnViolation: true })
 * test('adds a domain', async ({ account }) => { … })
 * ```
 *
 * @throws OptionError for an option that does not exist
 */
export function createTest(options?: KeyedOptions & TestOptions): ReturnType<typeof extendTest<UnderstudyWithKey>>
export function createTest(options: TestOptions): ReturnType<typeof extendTest<Understudy>>
export function createTest(options: TestOptions = {}): unknown {
  return extendTest<Understudy>(options)
}

function extendTest<Service extends Understudy>(options: TestOptions) {
  const { server, failOnViolation: fails } = divideTestOptions(options)
  return base.extend<UnderstudyFixtures<Service>>({
    understudy: [
      // vitest reads from the pattern which fixtures are needed.
      // biome-ignore lint/correctness/noEmptyPattern: this one needs none
      async ({}, use) => {
        // The types of the options say whether its key is known.
        const understudy = (await startUnderstudy(server)) as Service
        await use(understudy)
        await understudy.stop()
      },
      { scope: 'worker' },
    ],
    unassigned: [
      async ({ understudy }, use) => {
        const watch = understudy.watchViolations({ permits: !fails })
        await use(watch)
        await watch.end()
      },
      // Whether an error of the end of a worker is reported depends on who is faster.
      { scope: 'file' },
    ],
    accountOptions: {},
    failOnViolation: fails,
    account: async ({ understudy, unassigned: _, accountOptions, failOnViolation, task, onTestFinished }, use) => {
      const account = await understudy.createAccount(accountOptions)
      const { fullTestName: name, concurrent } = task
      // While tests run at the same time, nobody knows whose a request without an account is.
      const seesOthers = concurrent !== true
      const watch = understudy.watchViolations({ account, name, seesOthers, permits: !failOnViolation })
      // Here, and not after `use`: an error would be reported twice, and what other fixtures clean up would be left.
      onTestFinished(async () => {
        try {
          await watch.end()
        } finally {
          await account[Symbol.asyncDispose]()
        }
      })
      await use(account)
    },
  })
}

/** The `test` of a stand-in whose accounts are empty. */
export const test = createTest()
