import { expectTypeOf, it } from 'vitest'
import {
  type AccountReport,
  type AccountWithKey,
  type ControlError,
  type DmarcRecord,
  type ErrorCode,
  type OperationId,
  type RequestReport,
  type ServerOptions,
  startUnderstudy,
  type Understudy,
  type UnderstudyWithKey,
} from '../../src/index.ts'
import type { SharedUnderstudy } from '../../src/node-test.ts'
import { createTest, type test as emptyTest } from '../../src/vitest.mts'

/** Compiled, but never run: what the compiler lets pass and what it does not. */
async function compile(shared: SharedUnderstudy): Promise<void> {
  await using service = await startUnderstudy({ fixture: 'demo', seed: 42, now: '2026-01-15T09:00:00Z' })
  await using account = await service.createAccount({ fixture: { domains: ['a.example'] } })
  expectTypeOf(service).toEqualTypeOf<UnderstudyWithKey>()
  expectTypeOf(service.fetch).toExtend<typeof fetch>()
  expectTypeOf(account.apiKey).toEqualTypeOf<string>()
  expectTypeOf(account.headers).toExtend<NonNullable<RequestInit['headers']>>()
  expectTypeOf(account.events()).toExtend<AsyncIterable<RequestReport>>()
  expectTypeOf((await account.domains.pin('a.example', { p: 'reject' })).record).toEqualTypeOf<DmarcRecord | null>()

  // Names of the contract are proposed, and an overlay can have others.
  expectTypeOf<OperationId>().toExtend<NonNullable<RequestReport['operation']>>()
  expectTypeOf<'an-operation-of-an-overlay'>().toExtend<NonNullable<RequestReport['operation']>>()
  expectTypeOf<ErrorCode>().toExtend<NonNullable<RequestReport['code']>>()
  expectTypeOf<'stone'>().toExtend<AccountReport['plan']>()
  await account.setPlan('a-plan-of-an-overlay')

  // Where accounts may be kept, the key is known if it is given.
  expectTypeOf((await startUnderstudy({ data: 'accounts' })).apiKey).toEqualTypeOf<string | undefined>()
  expectTypeOf((await startUnderstudy({ data: 'accounts', apiKey: 'mine' })).apiKey).toEqualTypeOf<string>()
  expectTypeOf((await startUnderstudy({} as ServerOptions)).apiKey).toEqualTypeOf<string | undefined>()
  expectTypeOf((await startUnderstudy()).apiKey).toEqualTypeOf<string>()

  // @ts-expect-error the control plane has no such code
  if ((undefined as unknown as ControlError).code === 'refusd') return
  // @ts-expect-error it is add_domains
  await account.groups.update('id', { addDomains: [] })
  // @ts-expect-error there is no such operation
  await account.requests.waitFor({ operation: 'addDomain' })
  // @ts-expect-error there is no such option
  await startUnderstudy({ fixtures: 'demo' })
  // @ts-expect-error there is no such unit
  await account.clock.advance({ hour: 1 })
  // @ts-expect-error there is no such bucket
  await account.quotas.set('groups', 1)
  // @ts-expect-error an answer needs an error or a status
  await account.faults.add({ respond: {} })
  // @ts-expect-error there is no such code
  await account.faults.add({ respond: { error: 'ratelimited' } })
  // @ts-expect-error a plan is not what a reset changes
  await account.reset({ plan: 'stone' })
  // @ts-expect-error it is chosen once
  account.id = 'another'

  const test = createTest({ now: '2026-01-15T09:00:00Z', failOnViolation: true })
  expectTypeOf(test).toEqualTypeOf<typeof emptyTest>()
  test.override({ failOnViolation: false, accountOptions: { fixture: 'demo', seed: 7 } })
  // @ts-expect-error it is failOnViolation
  createTest({ failOnViolations: true })
  // @ts-expect-error it is an option of tests
  startUnderstudy({ failOnViolation: true })
  // @ts-expect-error there is no such option of an account
  test.override({ accountOptions: { colour: 'red' } })
  createTest({ data: 'accounts' })('', ({ understudy }) => expectTypeOf(understudy).toEqualTypeOf<Understudy>())
  test('', ({ account, understudy }) => {
    expectTypeOf(account).toExtend<AccountWithKey>()
    expectTypeOf(understudy).toEqualTypeOf<UnderstudyWithKey>()
  })
  expectTypeOf(shared.understudy()).resolves.toEqualTypeOf<Understudy>()
  expectTypeOf(shared.account).parameter(1).toExtend<{ failOnViolation?: boolean; fixture?: unknown } | undefined>()
}

it('The types of the library compile as a user would write them', () => {
  expectTypeOf(compile).returns.toEqualTypeOf<Promise<void>>()
})
