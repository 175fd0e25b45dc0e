import { describe, expectTypeOf, it } from 'vitest'
import {
  type Account,
  type AccountReport,
  type AccountWithKey,
  type Bucket,
  type ClockReport,
  type ComparisonReport,
  type ControlError,
  type CoverageReport,
  type DmarcRecord,
  type ErrorCode,
  type ExplanationReport,
  type FaultReport,
  type Fixture,
  type GroupReport,
  type OperationId,
  type Plan,
  type QuotaReport,
  type RequestEvents,
  type RequestReport,
  type ServerOptions,
  startUnderstudy,
  type Understudy,
  type UnderstudyWithKey,
  type VerificationReport,
} from '../../src/index.ts'
import type { SharedUnderstudy, shareUnderstudy } from '../../src/node-test.ts'
import { createTest, type test as emptyTest } from '../../src/vitest.ts'

/** Compiled, but never run: what the compiler lets pass and what it does not. */
async function compile(): Promise<void> {
  await using service = await startUnderstudy({ fixture: 'demo', seed: 42, now: '2026-01-15T09:00:00Z' })
  await using account = await service.createAccount({ fixture: { domains: ['a.example'] } })
  expectTypeOf(service).toEqualTypeOf<UnderstudyWithKey>()
  expectTypeOf(service.baseUrl).toEqualTypeOf<string>()
  expectTypeOf(service.apiKey).toEqualTypeOf<string>()
  expectTypeOf(service.account.apiKey).toEqualTypeOf<string>()
  expectTypeOf(service.requests.list({ status: 401 })).resolves.toEqualTypeOf<RequestReport[]>()
  expectTypeOf(service.listAccounts()).resolves.toEqualTypeOf<AccountReport[]>()
  expectTypeOf(account).toExtend<Account>()
  expectTypeOf(account.apiKey).toEqualTypeOf<string>()
  expectTypeOf(account.headers).toExtend<NonNullable<RequestInit['headers']>>()
  expectTypeOf(account.clock.advance({ hours: 1 })).resolves.toEqualTypeOf<ClockReport>()
  expectTypeOf(account.faults.add({ connection: 'reset', phase: 'after' })).resolves.toEqualTypeOf<FaultReport>()
  expectTypeOf(account.requests.verify({ body: { name: 'Shop' } })).resolves.toEqualTypeOf<VerificationReport>()
  expectTypeOf(account.coverage()).resolves.toEqualTypeOf<CoverageReport>()
  expectTypeOf(account.compare(service.account)).resolves.toEqualTypeOf<ComparisonReport>()
  expectTypeOf(account.explain('id')).resolves.toEqualTypeOf<ExplanationReport>()
  expectTypeOf(account.export()).resolves.toEqualTypeOf<Fixture>()
  expectTypeOf((await account.domains.pin('a.example', { p: 'reject' })).record).toEqualTypeOf<DmarcRecord | null>()

  expectTypeOf(account.requests.waitFor({ operation: 'addDomains' })).resolves.toEqualTypeOf<RequestReport>()
  expectTypeOf(account.events()).toExtend<AsyncIterable<RequestReport>>()
  expectTypeOf(service.events({ signal: new AbortController().signal })).toEqualTypeOf<RequestEvents>()
  expectTypeOf(account.domains.add('a.example', 'b.example')).resolves.toEqualTypeOf<string[]>()
  expectTypeOf(account.domains.remove(['a.example'])).resolves.toEqualTypeOf<string[]>()
  expectTypeOf(account.groups.create({ name: 'Shop' })).resolves.toEqualTypeOf<GroupReport>()
  expectTypeOf(account.groups.update('id', { add_domains: [] })).resolves.toEqualTypeOf<GroupReport>()

  // Names of the contract are proposed, and an overlay can have others.
  const [request] = await account.requests.list({ operation: 'addDomains' })
  expectTypeOf<OperationId>().toExtend<NonNullable<RequestReport['operation']>>()
  expectTypeOf<ErrorCode>().toExtend<NonNullable<RequestReport['code']>>()
  expectTypeOf(request?.code).toExtend<string | null | undefined>()
  expectTypeOf<'an-operation-of-an-overlay'>().toExtend<NonNullable<RequestReport['operation']>>()
  await account.setPlan('a-plan-of-an-overlay')
  expectTypeOf<Plan>().toExtend<AccountReport['plan']>()
  expectTypeOf<Bucket>().toExtend<QuotaReport['bucket']>()
  expectTypeOf<'refused'>().toExtend<ControlError['code']>()

  // Where accounts may be kept, the key is known if it is given.
  expectTypeOf((await startUnderstudy({ data: 'accounts' })).apiKey).toEqualTypeOf<string | undefined>()
  expectTypeOf((await startUnderstudy({ data: 'accounts', apiKey: 'mine' })).apiKey).toEqualTypeOf<string>()
  expectTypeOf((await startUnderstudy({} as ServerOptions)).apiKey).toEqualTypeOf<string | undefined>()
  expectTypeOf((await startUnderstudy()).apiKey).toEqualTypeOf<string>()

  // @ts-expect-error the control plane has no such code
  if ((undefined as unknown as ControlError).code === 'refusd') return
  // @ts-expect-error a group has a name
  await account.groups.create({ domains: [] })
  // @ts-expect-error it is add_domains
  await account.groups.update('id', { addDomains: [] })
  // @ts-expect-error there is no such operation
  await account.requests.waitFor({ operation: 'addDomain' })
  // @ts-expect-error it is a number of milliseconds
  await account.requests.waitFor({}, { timeout: '1s' })
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
  createTest({ failOnViolation: true })
  test.override({ failOnViolation: false })
  test.extend({ failOnViolation: true })
  // @ts-expect-error it is failOnViolation
  createTest({ failOnViolations: true })
  // @ts-expect-error it is true or false
  test.override({ failOnViolation: 'no' })
  // @ts-expect-error it is an option of tests
  startUnderstudy({ failOnViolation: true })
  createTest({ data: 'accounts' })('', ({ understudy }) => {
    expectTypeOf(understudy).toEqualTypeOf<Understudy>()
  })
  test.override({ accountOptions: { fixture: 'demo', seed: 7 } })
  test.override('accountOptions', { plan: 'below-stone' })
  // @ts-expect-error there is no such option of an account
  test.override({ accountOptions: { colour: 'red' } })
  test('', ({ account, understudy }) => {
    expectTypeOf(account).toExtend<AccountWithKey>()
    expectTypeOf(understudy).toEqualTypeOf<UnderstudyWithKey>()
  })
  expectTypeOf(shared.understudy()).resolves.toEqualTypeOf<Understudy>()
  expectTypeOf<ReturnType<typeof shareUnderstudy>>().toExtend<SharedUnderstudy>()
  expectTypeOf(shared.account).parameter(1).toExtend<{ failOnViolation?: boolean } | undefined>()
  expectTypeOf(shared.account).parameter(1).toExtend<{ fixture?: string | Fixture } | undefined>()
}

describe('the types of the library', () => {
  it('compile as a user would write it', () => {
    expectTypeOf(compile).returns.toEqualTypeOf<Promise<void>>()
    expectTypeOf(compileTests).returns.toEqualTypeOf<void>()
    expectTypeOf<ServerOptions>().toHaveProperty('seed')
  })
})
