import { after, afterEach, type TestContext } from 'node:test'
import type { AccountOptions, AccountWithKey } from './library/account.ts'
import type { ViolationWatch } from './library/violations.ts'
import type { TestOptions } from './start/options.ts'
import { type KeyedOptions, startUnderstudy, type Understudy, type UnderstudyWithKey } from './start/server.ts'
import { divideTestOptions } from './start/test-options.ts'

export { ViolationError } from './library/violations.ts'
export type { TestOptions } from './start/options.ts'

/** How the account of a test is to be, and whether the test may violate the contract. */
export interface TestAccountOptions extends AccountOptions {
  /** Whether the test fails if it violates the contract, where that is not as for the other tests. */
  failOnViolation?: boolean
}

/** A stand-in that is shared by the tests of a file. */
export interface SharedUnderstudy<Service extends Understudy = Understudy> {
  /** Started when a test first asks. */
  understudy(): Promise<Service>
  /** A fresh account, deleted after the test. */
  account(context: TestContext, options?: TestAccountOptions): Promise<AccountWithKey>
}

/**
 * Shares one stand-in among the tests of a file and stops it after the last. Its accounts are empty unless `options`
 * say otherwise. With `failOnViolation`, a test fails that violates the contract:
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
  /** What has to be ended after a test. */
  const used = new Map<TestContext, { account: AccountWithKey; watch: ViolationWatch }[]>()
  /** The tests that end it after their own hooks. */
  const scheduled = new WeakSet<TestContext>()
  const start = async () => {
    const understudy = await startUnderstudy(server)
    return { understudy, rest: understudy.watchViolations({ permits: !fails }) }
  }
  const run = () => (running ??= start())

  /** Ends what a test has used. Lets it fail if there was a violation, and says so if it has failed for another reason. */
  async function finish(context: TestContext): Promise<void> {
    const ended = used.get(context) ?? []
    used.delete(context)
    const endings = await Promise.allSettled(ended.map(({ watch }) => watch.end()))
    for (const { account } of ended) await account[Symbol.asyncDispose]()
    const [violation] = endings.flatMap((ending) => (ending.status === 'rejected' ? [ending.reason] : []))
    if (violation === undefined) return
    // The error of the test itself is what the runner shows.
    if ('error' in context && context.error instanceof Error) {
      for (const line of String(violation).split('\n')) if (line !== '') context.diagnostic(line)
    }
    throw violation
  }

  // This comes before the hooks of the test itself. When one of those fails, the others are left out, so the one that
  // may fail has to be the last.
  afterEach((context) => {
    const test = context as TestContext
    if (!used.has(test)) return
    scheduled.add(test)
    test.after(() => finish(test))
  })
  after(async () => {
    // A start that failed has failed its tests already.
    const { understudy, rest } = (await running?.catch(() => undefined)) ?? {}
    // Those of tests whose own hooks have failed.
    const left = await Promise.allSettled([...used.keys()].map(finish))
    await understudy?.stop()
    await rest?.end()
    for (const ending of left) if (ending.status === 'rejected') throw ending.reason
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
