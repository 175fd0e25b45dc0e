import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ServerOptions, startUnderstudy } from '../../src/index.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The file of the account `default` of the fixture `demo`, as JSON. */
let untouched: string | undefined

async function writeUntouched(): Promise<string> {
  const data = temporaryFolder()
  await (await startUnderstudy({ fixture: 'demo', data })).stop()
  return readFileSync(join(data, 'account-default.json'), 'utf8')
}

/** A folder with that account, changed by hand: each pointer into it has another value. */
async function keptAccount(changes: Record<string, unknown> = {}): Promise<{ data: string; file: string }> {
  untouched ??= await writeUntouched()
  const content = JSON.parse(untouched)
  for (const [pointer, value] of Object.entries(changes)) {
    const steps = pointer.split('/').slice(1)
    const last = steps.pop() ?? ''
    steps.reduce((inside, step) => inside[step], content.account)[last] = value
  }
  const data = temporaryFolder()
  const file = join(data, 'account-default.json')
  writeFileSync(file, JSON.stringify(content))
  return { data, file }
}

async function refusalOf(options: ServerOptions): Promise<StoreError> {
  const error = await startUnderstudy(options)
    .then((service) => service.stop())
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  return error as StoreError
}

const POLICIES = 'but must be one of "none", "quarantine", "reject"'
const PERHAPS = { p: 'perhaps' }
const HOSTNAME = 'but must have the format hostname'
const deep = JSON.parse('['.repeat(999) + ']'.repeat(999))
const faulty = (rule: object) => ({ '/faults': [{ id: 'fault_1', createdAt: 0, rule }], '/faultsCreated': 1 })
const renamed = (name: string) => ({ '/groups': [], '/domains/0/name': name })

describe('a kept account that the contract does not admit is refused at the start', () => {
  it.each<[place: string, reason: string, changes: Record<string, unknown>]>([
    ['/domains/0/name', `is "no host" ${HOSTNAME}`, renamed('no host')],
    [
      '/groups/1/name',
      'is "SAME", which is the name of another group',
      { '/groups/0/name': 'same', '/groups/1/name': 'SAME' },
    ],
    ['/domains/0/policy/p', `is "perhaps" ${POLICIES}`, { '/domains/0/policy': PERHAPS }],
    ['/faults/0/rule/connection', 'is refused: ', faulty({ connection: 'melt' })],
    ['/faults/0/rule', 'is refused: ', faulty({ respond: { status: 200, body: deep } })],
    ['/origin/faults/0/rule/corrupt', 'is refused: ', { '/origin/faults': [{ rule: { corrupt: 'all' } }] }],
    [
      '/origin/fixture',
      '"dmeo" must be one of demo, empty, edge-cases, agency, or a fixture',
      { '/origin/fixture': 'dmeo' },
    ],
    ['/origin/fixture', 'is nested too deeply', { '/origin/fixture': { domains: [deep] } }],
    ['/origin/now', '"yesterday" is no instant', { '/origin/now': 'yesterday' }],
    ['/origin/story/scenes/0/text', 'is missing', { '/origin/story': { title: 'Story', scenes: [{ title: 'One' }] } }],
    ['/clock/offset', 'is 1e+300 but must be at most ', { '/clock': { offset: 1e300 } }],
  ])('at %s, which %s', async (place, reason, changes) => {
    const { data, file } = await keptAccount(changes)
    const before = readFileSync(file, 'utf8')
    const error = await refusalOf({ data })
    const beginning = `${file}: /account${place} ${reason}`
    expect(error.problem).toBe('damaged')
    expect(error.message.slice(0, beginning.length)).toBe(beginning)
    expect(error.message).toMatch(/; correct the file, or move it away$/)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })
})

it('A server that can read but not write its folder says what it refuses, until it can again', async () => {
  const data = join(temporaryFolder(), 'accounts')
  const service = await startService({ data, store: undefined })
  const ready = async () => (await askControl(service, 'GET', '/ready')).data
  const add = async () => (await service.send('POST', '/domains', { domains: ['one.example'] })).status
  expect(await ready()).toMatchObject({ status: 'ready', store: 'folder', limitation: null })
  rmSync(data, { recursive: true })
  expect(await add()).toBe(500)
  expect((await ready()).limitation).toMatch(/^Changes are refused, because /)
  mkdirSync(data)
  await expect.poll(add).toBe(200)
  expect((await ready()).limitation).toBeNull()
})
