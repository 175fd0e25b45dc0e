import { describe, expectTypeOf, it } from 'vitest'
import {
  type Account,
  type AccountReport,
  type AccountWithKey,
  type ClockReport,
  type CoverageReport,
  type DmarcRecord,
  type ExplanationReport,
  type FaultReport,
  type Fixture,
  type RequestReport,
  type ServerOptions,
  startUnderstudy,
  type Understudy,
  type VerificationReport,
} from '../../src/index.ts'
import type { SharedUnderstudy } from '../../src/node-test.ts'
import { createTest, type test as emptyTest } from '../../src/vitest.ts'

/** Compiled, but never run: what the compiler lets pass and what it does not. */
async function compile(): Promise<void> {
  await using service = await startUnderstudy({ fixture: 'demo', seed: 42, now: '2026-01-15T09:00:00Z' })
  await using account = await service.createAccount({ fixture: { domains: ['a.example'] } })
  expectTypeOf(service).toEqualTypeOf<Understudy>()
  expectTypeOf(service.baseUrl).toEqualTypeOf<string>()
  expectTypeOf(service.apiKey).toEqualTypeOf<string | undefined>()
  expectTypeOf(service.requests.list({ status: 401 })).resolves.toEqualTypeOf<RequestReport[]>()
  expectTypeOf(service.listAccounts()).resolves.toEqualTypeOf<AccountReport[]>()
  expectTypeOf(account).toExtend<Account>()
  expectTypeOf(account.apiKey).toEqualTypeOf<string>()
  expectTypeOf(account.headers).toExtend<NonNullable<RequestInit['headers']>>()
  expectTypeOf(account.clock.advance({ hours: 1 })).resolves.toEqualTypeOf<ClockReport>()
  expectTypeOf(account.faults.add({ connection: 'reset', phase: 'after' })).resolves.toEqualTypeOf<FaultReport>()
  expectTypeOf(account.requests.verify({ body: { name: 'Shop' } })).resolves.toEqualTypeOf<VerificationReport>()
  expectTypeOf(account.coverage()).resolves.toEqualTypeOf<CoverageReport>()
  expectTypeOf(account.explain('id')).resolves.toEqualTypeOf<ExplanationReport>()
  expectTypeOf(account.export()).resolves.toEqualTypeOf<Fixture>()
  expectTypeOf((await account.domains.pin('a.example', { p: 'reject' })).record).toEqualTypeOf<DmarcRecord | null>()

  // @ts-expect-error there is no such option
  await startUnderstudy({ fixtures: 'demo' })
  // @ts-expect-error a port is a number
  await startUnderstudy({ port: '4010' })
  // @ts-expect-error there is no such unit
  await account.clock.advance({ hour: 1 })
  // @ts-expect-error there is no such bucket
  await account.quotas.set('groups', 1)
  // @ts-expect-error there is no such corruption
  await account.faults.add({ corrupt: 'everything' })
  // @ts-expect-error an answer needs an error or a status
  await account.faults.add({ respond: {} })
  // @ts-expect-error there is no such policy
  await account.domains.pin('a.example', { p: 'deny' })
  // @ts-expect-error there is no such filter
  await account.requests.list({ colour: 'red' })
  // @ts-expect-error there is no such operation
  await account.requests.list({ operation: 'addDomain' })
  // @ts-expect-error there is no such code
  await service.requests.list({ code: 'ratelimited' })
  // @ts-expect-error there is no such operation
  await account.requests.verify({ operation: 'nope' }, { count: 0 })
  // @ts-expect-error there is no such code
  await account.requests.verify({ code: 'notfound' })
  // @ts-expect-error there is no such operation
  await account.faults.add({ match: { operation: 'addDomain' }, delay_ms: 1 })
  // @ts-expect-error there is no such code
  await account.faults.add({ respond: { error: 'ratelimited' } })
  // @ts-expect-error a plan is not what a reset changes
  await account.reset({ plan: 'stone' })
  // @ts-expect-error it is chosen once
  account.id = 'another'
}

function compileTests(shared: SharedUnderstudy): void {
  const test = createTest({ now: '2026-01-15T09:00:00Z' })
  expectTypeOf(test).toEqualTypeOf<typeof emptyTest>()
  test.override({ accountOptions: { fixture: 'demo', seed: 7 } })
  test.override('accountOptions', { plan: 'below-stone' })
  // @ts-expect-error there is no such option of an account
  test.override({ accountOptions: { colour: 'red' } })
  test('', ({ account, understudy }) => {
    expectTypeOf(account).toExtend<AccountWithKey>()
    expectTypeOf(understudy).toEqualTypeOf<Understudy>()
  })
  expectTypeOf(shared.understudy()).resolves.toEqualTypeOf<Understudy>()
  expectTypeOf(shared.account).parameter(1).toExtend<{ fixture?: string | Fixture } | undefined>()
}

describe('the types of the library', () => {
  it('compile as a user would write it', () => {
    expectTypeOf(compile).returns.toEqualTypeOf<Promise<void>>()
    expectTypeOf(compileTests).returns.toEqualTypeOf<void>()
    expectTypeOf<ServerOptions>().toHaveProperty('seed')
  })
})
