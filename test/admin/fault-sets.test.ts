import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { FaultSetError, readyMadeSets } from '../../src/admin/fault-sets.ts'
import type { FaultSetReport } from '../../src/admin/reports.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { type FaultRule, type FaultTally, faultId, findMatchingRules, triggerRule } from '../../src/domain/faults.ts'
import { kindNameOf, phaseOf } from '../../src/faults/kinds.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { addFault, askControl, controlApi, faultsOf } from '../support/control-plane.ts'
import { createRandom } from '../support/random.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const contract = await loadContract()
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
    const all = await setsWith(`${file}#two`, 'quota-storm', `${file}#one`)
    expect(all).toEqual(['two', 'quota-storm', 'quota-storm', 'one', 'one'])
  })

  it.each([
    [
      'is not there',
      undefined,
      /^PATH: The fault sets cannot be read \(ENOENT\); give flaky, quota-storm, lossy-writes, slow or the path of a JSON file\.$/,
    ],
    ['is no JSON', '{"one":', /^PATH: This is not valid JSON: .+\.$/],
    ['has a set without rules', { one: {} }, /^PATH#\/one(\/rules)?: The value .+\.$/],
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

/** What the rules of a ready-made set do with so many requests to an operation, one after the other. */
function effectsOf(name: string, operation: string, count: number): string[] {
  const rules = READY.find((set) => set.name === name)?.rules ?? []
  const faults = rules.map((rule, index) => ({ id: faultId(index + 1), createdAt: 0, rule }))
  const { method, path } = contract.operations.find(({ id }) => id === operation) ?? { method: '', path: '' }
  const matching = findMatchingRules(faults, { operation, method, path, key: '', answersWith: () => true })
  const tallies = new Map<string, FaultTally>()
  const random = createRandom(7)
  return Array.from({ length: count }, () => {
    const { counted, triggered } = triggerRule(matching, tallies, 0, random)
    for (const [id, tally] of counted) tallies.set(id, tally)
    const rule = faults.find(({ id }) => id === triggered?.id)?.rule
    return rule === undefined ? 'nothing' : describeEffect(rule)
  })
}

function describeEffect(rule: FaultRule): string {
  const { respond, delay_ms, jitter_ms } = rule
  const answer = Object.values(respond ?? {})[0] ?? kindNameOf(rule)
  return [phaseOf(rule), answer, delay_ms, jitter_ms].filter((each) => each !== undefined).join(' ')
}

describe('The ready-made set', () => {
  const REQUESTS = 40_000
  const third = (lost: string) => ({ nothing: 0.67, [lost]: 0.33 })
  it.each<[name: string, operation: string, shares: Record<string, number>]>([
    ['flaky', 'listDomains', { nothing: 0.9, 'before 503': 0.05, 'before reset': 0.03, 'after truncate': 0.02 }],
    ['quota-storm', 'listDomainGroups', { nothing: 0.6, 'before rate_limited': 0.4 }],
    ['lossy-writes', 'listDomains', { nothing: 1 }],
    ['lossy-writes', 'addDomains', third('after reset')],
    ['slow', 'listDomains', { 'before delay 1000 2000': 1 }],
  ])('%s does to %s, in about these shares: %j', (name, operation, shares) => {
    const effects = effectsOf(name, operation, REQUESTS)
    expect(new Set(effects)).toEqual(new Set(Object.keys(shares)))
    for (const [effect, share] of Object.entries(shares)) {
      expect(effects.filter((each) => each === effect).length / REQUESTS, effect).toBeCloseTo(share, 2)
    }
  })
})
