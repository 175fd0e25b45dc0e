import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/contract/control-api.ts'
import type { FaultSetReport } from '../../src/contract/control-plane.ts'
import { FaultSetError, readyMadeSets } from '../../src/faults/fault-sets.ts'
import { startUnderstudy } from '../../src/server/understudy.ts'
import { addFault, askControl, controlApi, faultsOf } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const READY = readyMadeSets()
const { faultsPerAccount } = readLimits(controlApi)
const SLOW_LINE = { description: 'A line', rules: [{ delay_ms: 1 }, { connection: 'reset', times: 1 }] }

/** Writes a file with this content, and returns its path. */
function fileOf(content: unknown): string {
  const path = join(temporaryFolder(), 'faults.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('The option faults', () => {
  it('takes ready-made sets, which every account then has', async () => {
    const service = await startService({ faults: READY.map(({ name }) => name) })
    await askControl(service, 'POST', '/accounts', { id: 'other' })
    const expected = READY.flatMap(({ name: set, rules }) => rules.map((rule) => ({ set, rule })))
    for (const account of ['default', 'other']) expect(await faultsOf(service, account)).toMatchObject(expected)
  })

  it('takes all sets of a file, or one, and several in their order', async () => {
    const file = fileOf({ one: SLOW_LINE, two: { rules: [{ corrupt: 'compatible' }] }, empty: { rules: [] } })
    const setsWith = async (...faults: string[]) => {
      const service = await startService({ faults })
      return (await faultsOf(service)).map(({ set }) => set)
    }
    expect(await setsWith(file)).toEqual(['one', 'one', 'two'])
    expect(await setsWith(`${file}#two`)).toEqual(['two'])
    const most = Array(faultsPerAccount).fill({ delay_ms: 1 })
    expect(await setsWith(fileOf({ full: { rules: most } }))).toContain('full')
    const all = await setsWith(`${file}#two`, 'quota-storm', `${file}#one`)
    expect(all).toEqual(['two', 'quota-storm', 'quota-storm', 'one', 'one'])
  })

  it('takes a plan of `explore`, which is a list of rules', async () => {
    const plan = [
      { description: 'At the 1st addDomains.', match: { operation: 'addDomains' }, times: 1, event: 'name-taken' },
    ]
    const service = await startService({ faults: [fileOf(plan)] })
    expect(await faultsOf(service)).toMatchObject([{ set: 'plan', rule: plan[0] }])
    const wrong = fileOf([...plan, { event: 'explode' }])
    await expect(startUnderstudy({ port: 0, faults: [wrong] })).rejects.toThrow(`${wrong}#/1/event: `)
  })

  it.each([
    [
      'is not there',
      undefined,
      /^PATH: The fault sets cannot be read \(ENOENT\); give flaky, quota-storm, lossy-writes, slow or the path of a JSON file\.$/,
    ],
    [
      'has a misspelt field in a rule',
      { one: { rules: [{ delay_ms: 1 }, { delay_ms: 1, skipp: 2 }] } },
      /^PATH#\/one\/rules\/1\/skipp: .*\bskipp\b.+\.$/,
    ],
    [
      'has a rule that could never act',
      { one: { rules: [{ match: { operation: 'listDmarc' }, respond: { error: 'not_found' } }] } },
      /^PATH#\/one\/rules\/0\/respond\/error: `one\.rules\[0\]\.respond\.error` cannot be "not_found": listDmarc can have the codes unauthorized, rate_limited, internal_error\. Use respond\.status for a response outside of the contract\.$/,
    ],
    [
      'has more rules than an account',
      { one: { rules: Array(faultsPerAccount + 1).fill({ delay_ms: 1 }) } },
      new RegExp(
        `^PATH#/one/rules: There are ${faultsPerAccount + 1} rules; an account has at most ${faultsPerAccount}\\.$`,
      ),
    ],
  ])('says where a file is wrong that %s', async (_, content, message) => {
    const path = content === undefined ? join(temporaryFolder(), 'none.json') : fileOf(content)
    const error = await startUnderstudy({ faults: [path] }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(FaultSetError)
    expect((error as Error).message.replace(path, 'PATH')).toMatch(message)
  })
})

describe('The control plane', () => {
  it('lists the ready-made sets and those of the server, whose own come in the place of namesakes', async () => {
    const file = fileOf({ mine: SLOW_LINE, slow: { description: 'My own', rules: [{ delay_ms: 7 }] } })
    const service = await startService({ faults: [file] })
    const { sets } = (await askControl(service, 'GET', '/fault-sets')).data as { sets: FaultSetReport[] }
    expect(sets.map(({ name }) => name)).toEqual(['flaky', 'quota-storm', 'lossy-writes', 'mine', 'slow'])
    expect(sets.at(-1)).toMatchObject({ description: 'My own', rules: [{ delay_ms: 7 }] })
    for (const set of sets) expect(set.description).toMatch(/^[A-Z].+$/)
  })

  it('adds the rules of a set by its name, behind those that are there', async () => {
    const service = await startService()
    await addFault(service, { delay_ms: 0 })
    const { status, data } = await askControl(service, 'POST', '/accounts/default/fault-sets/lossy-writes')
    expect(status).toBe(201)
    expect(data.faults).toMatchObject(['fault_2', 'fault_3', 'fault_4'].map((id) => ({ id, set: 'lossy-writes' })))
    expect((await faultsOf(service)).slice(1)).toEqual(data.faults)
  })

  it.each([
    ['nonsense', '; there are flaky, quota-storm, lossy-writes, slow.'],
    ['flaky2', '. Did you mean flaky?'],
  ])('knows no set %s', async (name, remedy) => {
    const service = await startService()
    const { status, error } = await askControl(service, 'POST', `/accounts/default/fault-sets/${name}`)
    expect([status, error.message]).toEqual([404, `There is no fault set "${name}"${remedy}`])
  })
})
