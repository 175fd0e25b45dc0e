import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import { type ServerOptions, startUnderstudy } from '../../src/index.ts'
import type { AccountRecord } from '../../src/store/record.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { processorTime } from '../support/processor-time.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Writable<Type> = { -readonly [Field in keyof Type]: Writable<Type[Field]> }

/** A folder with the account `default`, made of the fixture `demo` and changed by hand. */
async function keptAccount(
  change: (account: Writable<AccountRecord>) => void,
): Promise<{ data: string; file: string }> {
  const data = temporaryFolder()
  await (await startUnderstudy({ fixture: 'demo', data })).stop()
  const file = join(data, 'account-default.json')
  const content = JSON.parse(readFileSync(file, 'utf8'))
  change(content.account)
  writeFileSync(file, JSON.stringify(content))
  return { data, file }
}

async function refusalOf(options: ServerOptions): Promise<StoreError> {
  const error = await startUnderstudy(options).then(
    (service) => service.stop(),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(StoreError)
  return error as StoreError
}

function overlay(actions: string): string {
  const file = join(temporaryFolder(), 'overlay.yaml')
  writeFileSync(file, `overlay: 1.0.0\ninfo: { title: t, version: '1' }\nactions:\n${actions}`)
  return file
}

function addFault(account: Writable<AccountRecord>, rule: FaultRule): void {
  Object.assign(account, { faults: [{ id: 'fault_1', createdAt: 0, rule }], faultsCreated: 1 })
}

function first<Item>([item]: Item[]): Item {
  if (item === undefined) throw new Error('There is none.')
  return item
}

describe('a kept account that the contract does not admit is refused at the start', () => {
  it.each<[what: string, change: (account: Writable<AccountRecord>) => void, place: RegExp]>([
    ['a hostname that is none', (account) => Object.assign(first(account.domains), { name: 'no host' }), /\/account\//],
    [
      'a hostname that is not canonical',
      (account) => {
        account.groups = []
        Object.assign(first(account.domains), { name: 'Example.COM' })
      },
      /: \/account\/domains\/0\/name is "Example\.COM" but must have the format hostname/,
    ],
    [
      'a group id of another form',
      (account) => Object.assign(first(account.groups), { id: 'x' }),
      /: \/account\/groups\/0\/id is "x" but must have at least 8 characters/,
    ],
    [
      'a group without a name',
      (account) => Object.assign(first(account.groups), { name: '' }),
      /: \/account\/groups\/0\/name is "" but must have at least 1 character/,
    ],
    [
      'two groups with one name',
      (account) => Object.assign(account.groups[1] ?? {}, { name: first(account.groups).name.toUpperCase() }),
      /: \/account\/groups\/1\/name ".+" is the name of another group \(setting name-comparison: unicode\)$/,
    ],
    [
      'a pinned policy that there is not',
      (account) => Object.assign(first(account.domains), { pin: { p: 'perhaps' } }),
      /: \/account\/domains\/0\/pin\/p is "perhaps" but must be one of/,
    ],
    [
      'a published policy that there is not',
      (account) => Object.assign(first(account.domains), { policy: { p: 'perhaps' } }),
      /: \/account\/domains\/0\/policy\/p is "perhaps" but must be one of/,
    ],
    [
      'a fault rule of a kind that there is not',
      (account) => addFault(account, { connection: 'melt' }),
      /: \/account\/faults\/0\/rule\/connection is refused: .*melt/,
    ],
    [
      'a fault rule for an operation that there is not',
      (account) => addFault(account, { delay_ms: 1, match: { operation: 'listDmarcs' } }),
      /: \/account\/faults\/0\/rule\/match\/operation is refused: .*listDmarc/,
    ],
    [
      'a fault rule whose body is nested deeply',
      (account) => addFault(account, { respond: { status: 200, body: JSON.parse('['.repeat(999) + ']'.repeat(999)) } }),
      /: \/account\/faults\/0\/rule is refused: .* is nested too deeply to be written\.$/,
    ],
    [
      'a first fault rule that there is not',
      (account) => Object.assign(account.origin, { faults: [{ rule: { corrupt: 'all' } }] }),
      /: \/account\/origin\/faults\/0\/rule\/corrupt is refused: /,
    ],
    [
      'a fixture that there is not',
      (account) => Object.assign(account.origin, { fixture: 'dmeo' }),
      /: \/account\/origin\/fixture "dmeo" must be one of demo, empty, edge-cases, agency, or a fixture$/,
    ],
    [
      'a fixture that is none',
      (account) => Object.assign(account.origin, { fixture: { domains: 'all' } }),
      /: \/account\/origin\/fixture\/domains is "all" but must be of type array$/,
    ],
    [
      'a beginning that is no time',
      (account) => Object.assign(account.origin, { now: 'yesterday' }),
      /: \/account\/origin\/now "yesterday" is no instant$/,
    ],
    [
      'a key whose hash is none',
      (account) => Object.assign(first(account.keys), { hash: 'abc' }),
      /: \/account\/keys\/0\/hash "abc" is no SHA-256 in hex$/,
    ],
    [
      'a removed domain that published a policy that there is not',
      (account) => {
        account.formerDomains = [{ name: 'old.example', nature: { policy: { p: 'perhaps' as 'none' } } }]
      },
      /: \/account\/formerDomains\/0\/nature\/policy\/p is "perhaps" but must be one of/,
    ],
    [
      'a removed domain that was none',
      (account) => {
        account.formerDomains = [{ name: 'NOT A DOMAIN', nature: {} }]
      },
      /: \/account\/formerDomains\/0\/name is "NOT A DOMAIN" but/,
    ],
    [
      'pinned shares that contradict each other',
      (account) => Object.assign(first(account.domains), { pin: { dmarc: 10, dkim: 90 } }),
      /: \/account\/domains\/0\/pin has less dmarc than dkim/,
    ],
    [
      'a plan that there is not',
      (account) => Object.assign(account, { plan: 'gold' }),
      /: \/account\/plan "gold" must be one of below-stone, stone, above-stone \(setting plans\)$/,
    ],
    [
      'a clock beyond all time',
      (account) => Object.assign(account, { clock: { offset: 1e300 } }),
      /: \/account\/clock shows a time that does not exist$/,
    ],
  ])('%s', async (_, change, place) => {
    const { data, file } = await keptAccount(change)
    const before = readFileSync(file, 'utf8')
    const error = await refusalOf({ data })
    expect(error.problem).toBe('damaged')
    expect(error.message).toContain(file)
    expect(error.message).toMatch(place)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it('group ids of a format that an overlay has changed since', async () => {
    const { data, file } = await keptAccount(() => {})
    const other = overlay(
      `  - { target: $.components.schemas.DomainGroupId, update: { pattern: '^[0-9a-f]+$', minLength: 24, maxLength: 24 } }\n`,
    )
    const error = await refusalOf({ data, overlays: [other] })
    expect(error.problem).toBe('damaged')
    expect(error.message).toMatch(/: \/account\/groups\/0\/id is "\w{8}" but must have at least 24 characters/)
    expect(error.message).toContain(file)
  })

  it('but one that nobody has touched is kept', async () => {
    const { data } = await keptAccount(() => {})
    const { understudy, get } = await startControlPlane({ data })
    expect(understudy.kept).toBe(true)
    expect((await get('/accounts/default')).data.account).toMatchObject({ fixture: 'demo' })
  })
})

it('takes in a kept account of 10,000 domains about as fast as without a look at it', async () => {
  const data = temporaryFolder()
  const domains = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`)
  await (await startUnderstudy({ fixture: { domains }, data })).stop()
  const started = processorTime()
  await (await startUnderstudy({ data })).stop()
  const milliseconds = processorTime() - started
  console.info(`Start with a kept account of 10,000 domains: ${milliseconds.toFixed(0)} ms`)
  expect(milliseconds).toBeLessThan(2000)
})
