import { test as base, expect } from 'vitest'
import type { AccountOptions, AccountWithKey } from './library/account.ts'
import type { ViolationWatch } from './library/violations.ts'
import type { TestOptions } from './server/options.ts'
import { divideTestOptions, openTestService } from './server/test-service.ts'
import type { KeyedOptions, Understudy, UnderstudyWithKey } from './server/understudy.ts'

export { ViolationError } from './library/violations.ts'
export type { TestOptions } from './server/options.ts'

/** The fixtures that `test` gives to each test. */
export interface UnderstudyFixtures<Service extends Understudy = Understudy> {
  /** The stand-in, started once in each worker and stopped at its end. */
  understudy: Service
  /** The properties of the accounts of a test; `test.override` and `test.extend` change them. */
  accountOptions: AccountOptions
  /**
   * Whether a violation of the contract makes a test fail. `test.override({ failOnViolation: false })` permits
   * violations to the tests of a suite, and `test.extend({ failOnViolation: false })` makes a `test` that permits them.
   */
  failOnViolation: boolean
  /** Sees the violations that cannot be assigned to a test of the file. They make the file fail. */
  unassigned: ViolationWatch
  /** A fresh account for each test, deleted after it. */
  account: AccountWithKey
}

/**
 * A `test` whose `account` is a world of its own, on one shared stand-in. `options` are those of the stand-in, and
 * `failOnViolation`. The accounts are empty unless the options give other data:
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
        // The types of the options determine whether its key is known.
        const understudy = (await openTestService(server, nameFile)) as Service
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
      // With worker scope, a race would decide whether an error at the end is reported.
      { scope: 'file' },
    ],
    accountOptions: {},
    failOnViolation: fails,
    account: async ({ understudy, unassigned: _, accountOptions, failOnViolation, task, onTestFinished }, use) => {
      const account = await understudy.createAccount(accountOptions)
      const { fullTestName: name, concurrent } = task
      // During concurrent tests, a request without an account cannot be assigned to a test.
      const seesOthers = concurrent !== true
      const watch = understudy.watchViolations({ account, name, seesOthers, permits: !failOnViolation })
      // Not after `use`: an error there would be reported twice, and the cleanup of other fixtures would be skipped.
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

/** The file of the test that runs. */
function nameFile(): string {
  return expect.getState().testPath ?? 'vitest'
}

/** The `test` of a stand-in whose accounts are empty. */
export const test = createTest()
