import { after, afterEach, type TestContext } from 'node:test'
import type { AccountOptions, AccountWithKey } from './library/account.ts'
import type { ViolationWatch } from './library/violations.ts'
import type { TestOptions } from './server/options.ts'
import { divideTestOptions, openTestService } from './server/test-service.ts'
import type { KeyedOptions, Understudy, UnderstudyWithKey } from './server/understudy.ts'

export { ViolationError } from './library/violations.ts'
export type { TestOptions } from './server/options.ts'

/** The properties of a test's account, and whether the test may violate the contract. */
export interface TestAccountOptions extends AccountOptions {
  /** Whether the test fails if it violates the contract, if this differs from the other tests. */
  failOnViolation?: boolean
}

/** A stand-in that is shared by the tests of a file. */
export interface SharedUnderstudy<Service extends Understudy = Understudy> {
  /** Started at the first call. */
  understudy(): Promise<Service>
  /** A fresh account, deleted after the test. */
  account(context: TestContext, options?: TestAccountOptions): Promise<AccountWithKey>
}

/**
 * Shares one stand-in among the tests of a file and stops it after the last test. Its accounts are empty unless
 * `options` give other data. With `failOnViolation`, a test that violates the contract fails:
 *
 * ```ts
 * const shared = shareUnderstudy({ now: '2026-01-15T09:00:00Z', failOnViolation: true })
 * test('adds a domain', async (t) => {
 *   const account = await shared.account(t)
 * })
 * ```
 *
 * @throws OptionError for an option that does not exist
 */
export function shareUnderstudy(options?: KeyedOptions & TestOptions): SharedUnderstudy<UnderstudyWithKey>
export function shareUnderstudy(options: TestOptions): SharedUnderstudy
export function shareUnderstudy(options: TestOptions = {}): SharedUnderstudy {
  const { server, failOnViolation: fails } = divideTestOptions(options)
  let running: Promise<{ understudy: Understudy; rest: ViolationWatch }> | undefined
  /** What must be ended after a test. */
  const used = new Map<TestContext, { account: AccountWithKey; watch: ViolationWatch }[]>()
  /** The tests whose cleanup runs after their own hooks. */
  const scheduled = new WeakSet<TestContext>()
  const start = async () => {
    const understudy = await openTestService(server, () => process.argv[1] ?? 'node')
    return { understudy, rest: understudy.watchViolations({ permits: !fails }) }
  }
  const run = () => (running ??= start())

  /** Ends what a test has used. A violation makes the test fail, or is reported if the test has failed already. */
  async function finish(context: TestContext): Promise<void> {
    const ended = used.get(context) ?? []
    used.delete(context)
    const endings = await Promise.allSettled(ended.map(({ watch }) => watch.end()))
    for (const { account } of ended) await account[Symbol.asyncDispose]()
    const [violation] = endings.flatMap((ending) => (ending.status === 'rejected' ? [ending.reason] : []))
    if (violation === undefined) return
    // The runner shows the error of the test itself.
    if ('error' in context && context.error instanceof Error) {
      for (const line of String(violation).split('\n')) if (line !== '') context.diagnostic(line)
    }
    throw violation
  }

  // This runs before the hooks of the test itself. If one of those hooks fails, the rest is skipped. So the hook that
  // may fail must be the last one.
  afterEach((context) => {
    const test = context as TestContext
    if (!used.has(test)) return
    scheduled.add(test)
    test.after(() => finish(test))
  })
  after(async () => {
    // A failed start has made its tests fail already.
    const { understudy, rest } = (await running?.catch(() => undefined)) ?? {}
    // Cleans up after tests whose own hooks have failed.
    const left = await Promise.allSettled([...used.keys()].map(finish))
    // After the stop, the journal with the violations cannot be read.
    const [ofRest] = await Promise.allSettled([rest?.end()])
    await understudy?.stop()
    for (const ending of [ofRest, ...left]) if (ending?.status === 'rejected') throw ending.reason
  })
  return {
    understudy: async () => (await run()).understudy,
    async account(context, { failOnViolation = fails, ...accountOptions } = {}) {
      const { understudy } = await run()
      const account = await understudy.createAccount(accountOptions)
      const watch = understudy.watchViolations({ account, name: context.name, permits: !failOnViolation })
      used.set(context, [...(used.get(context) ?? []), { account, watch }])
      context.after(async () => {
        if (!scheduled.has(context)) await finish(context)
      })
      return account
    },
  }
}
