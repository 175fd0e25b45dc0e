import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { createSetCheck } from '../../src/admin/fault-set-check.ts'
import { FaultSetError, loadFaultSets, readyMadeSets } from '../../src/admin/fault-sets.ts'
import type { FaultSetReport } from '../../src/admin/reports.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { contract } from '../service/refusals.ts'
import { addFault, askControl, controlApi, faultsOf, journalOf } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { AUTHORIZED, CLOSE, Connection, JSON_BODY, readResponses, requestBytes } from '../support/wire.ts'

const READY = await readyMadeSets()
const { faultsPerAccount } = readLimits(controlApi)
const SLOW_LINE = { description: 'A line', rules: [{ delay_ms: 1 }, { connection: 'reset', times: 1 }] }

/** A file with this content; its path. */
function fileOf(content: unknown): string {
  const path = join(temporaryFolder(), 'faults.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('The option faults', () => {
  it.each(READY.map(({ name }) => name))('takes the ready-made set %s, which every account then has', async (name) => {
    const service = await startService({ faults: [name] })
    const rules = READY.find((set) => set.name === name)?.rules
    await askControl(service, 'POST', '/accounts', { id: 'other' })
    for (const account of ['default', 'other']) {
      const faults = await faultsOf(service, account)
      expect(faults.map(({ rule }) => rule)).toEqual(rules)
      expect(faults.map(({ set }) => set)).toEqual(faults.map(() => name))
    }
  })

  it('takes all sets of a file, or one, and several in their order', async () => {
    const file = fileOf({ one: SLOW_LINE, two: { rules: [{ corrupt: 'compatible' }] }, empty: { rules: [] } })
    const setsWith = async (...faults: string[]) => {
      const service = await startService({ faults })
      return (await faultsOf(service)).map(({ set }) => set)
    }
    expect(await setsWith(file)).toEqual(['one', 'one', 'two'])
    expect(await setsWith(`${file}#two`)).toEqual(['two'])
    expect(await setsWith(`${file}#two`, 'quota-storm', `${file}#one`)).toEqual([
      'two',
      'quota-storm',
      'quota-storm',
      'one',
      'one',
    ])
  })

  it('takes a path that has a # in it', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'c#', 'faults.json')
    mkdirSync(join(folder, 'c#'))
    writeFileSync(path, JSON.stringify({ one: SLOW_LINE }))
    const sets = await loadFaultSets(`${path}#one`, await createSetCheck(contract))
    expect(sets).toEqual([{ name: 'one', ...SLOW_LINE }])
  })

  it.each([
    [
      'is not there',
      undefined,
      /^PATH: The fault sets cannot be read \(ENOENT\); give flaky, quota-storm, lossy-writes, slow or the path of a JSON file\.$/,
    ],
    ['is no JSON', '{"one":', /^PATH: This is not valid JSON: .+\.$/],
    ['is a list', [], /^PATH#: The value .+\.$/],
    ['is null', null, /^PATH#: The value .+\.$/],
    ['has a set without rules', { one: {} }, /^PATH#\/one(\/rules)?: The value .+\.$/],
    ['has a set with something else', { one: { rules: [], name: 'x' } }, /^PATH#\/one(\/name)?: The value .+\.$/],
    ['has a rule that is text', { one: { rules: ['x'] } }, /^PATH#\/one\/rules\/0: The value .+\.$/],
    [
      'has a rule that does nothing',
      { one: { rules: [{ delay_ms: 1 }, {}] } },
      /^PATH#\/one\/rules\/1: `one\.rules\[1\]` must have one of the fields respond, connection, corrupt, event, delay_ms, jitter_ms\.$/,
    ],
    [
      'has a rule with an unknown field',
      { 'a/b': { rules: [{ delay_ms: 1, match: { colour: 1 } }] } },
      /^PATH#\/a~1b\/rules\/0\/match\/colour: The field `a\/b\.rules\[0\]\.match\.colour` is unknown\.$/,
    ],
    [
      'has a rule that could never act',
      { one: { rules: [{ match: { operation: 'listDmarc' }, respond: { error: 'not_found' } }] } },
      /^PATH#\/one\/rules\/0\/respond\/error: `one\.rules\[0\]\.respond\.error` cannot be "not_found": listDmarc can have the codes unauthorized, rate_limited, internal_error\. Use respond\.status for a response outside of the contract\.$/,
    ],
    [
      'has more rules than an account',
      { one: { rules: Array.from({ length: faultsPerAccount + 1 }, () => ({ delay_ms: 1 })) } },
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

  it('says which sets a file has when it has not the one that is asked for', async () => {
    const path = fileOf({ one: SLOW_LINE, two: SLOW_LINE })
    await expect(startUnderstudy({ faults: [`${path}#three`] })).rejects.toThrow(
      `${path}: There is no fault set three; it has one, two.`,
    )
    const empty = fileOf({})
    await expect(startUnderstudy({ faults: [empty] })).rejects.toThrow(`${empty}: There is no fault set; it has none.`)
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
    expect(data.faults.map(({ id, set }: { id: string; set?: string }) => [id, set])).toEqual([
      ['fault_2', 'lossy-writes'],
      ['fault_3', 'lossy-writes'],
      ['fault_4', 'lossy-writes'],
    ])
    expect((await faultsOf(service)).slice(1)).toEqual(data.faults)
  })

  it.each([
    ['nonsense', '; there are flaky, quota-storm, lossy-writes, slow.'],
    ['constructor', '; there are flaky, quota-storm, lossy-writes, slow.'],
    ['__proto__', '; there are flaky, quota-storm, lossy-writes, slow.'],
    ['flaky2', '. Did you mean flaky?'],
  ])('knows no set %s', async (name, remedy) => {
    const service = await startService()
    const { status, error } = await askControl(service, 'POST', `/accounts/default/fault-sets/${name}`)
    expect([status, error.message]).toEqual([404, `There is no fault set "${name}"${remedy}`])
  })
})

describe('The ready-made set', () => {
  it('flaky fails about one request in ten: half with 503, the others without a whole answer', async () => {
    const service = await startService({ faults: ['flaky'], enforceQuotas: false, journal: 2000 })
    const outcomes = await outcomesOf(service, 1000)
    const [gateway, lost] = [outcomes.get('503') ?? 0, outcomes.get('lost') ?? 0]
    expect(gateway + lost + (outcomes.get('200') ?? 0)).toBe(1000)
    expect(gateway).toBeGreaterThan(30)
    expect(gateway).toBeLessThan(75)
    expect(lost).toBeGreaterThan(30)
    expect(lost).toBeLessThan(75)
    const effects = new Set((await journalOf(service)).map(({ fault }) => fault?.effect ?? 'none'))
    expect([...effects].filter((effect) => effect !== 'none')).toHaveLength(3)
  })

  it('flaky has the header of a gateway’s page, once', async () => {
    const service = await startService()
    const [rule] = READY.find(({ name }) => name === 'flaky')?.rules ?? []
    await addFault(service, { ...rule, probability: 1 })
    const bytes = await service.sendRaw(requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] }))
    expect(bytes.match(/content-type: .*/gi)).toEqual(['content-type: text/html'])
    expect(bytes).toContain('retry-after: 1\r\n')
  })

  it('quota-storm refuses four requests after six, and then about four in ten', async () => {
    const service = await startService({ faults: ['quota-storm'], enforceQuotas: false })
    const statuses: number[] = []
    for (let request = 0; request < 410; request++) statuses.push((await service.get('/domaingroups')).status)
    expect(statuses.slice(0, 10)).toEqual([200, 200, 200, 200, 200, 200, 429, 429, 429, 429])
    const refused = statuses.slice(10).filter((status) => status === 429).length
    expect(refused).toBeGreaterThan(110)
    expect(refused).toBeLessThan(210)
  })

  it('lossy-writes does every write, loses about every third answer, and leaves reads alone', async () => {
    const service = await startService({ faults: ['lossy-writes'], enforceQuotas: false })
    let lost = 0
    for (let index = 0; index < 90; index++) {
      const body = JSON.stringify({ domains: [`host-${index}.example`] })
      const bytes = requestBytes({
        method: 'POST',
        target: '/api/v1/domains',
        headers: [AUTHORIZED, JSON_BODY, CLOSE],
        body,
      })
      if ((await service.sendRaw(bytes)) === '') lost++
    }
    expect((await service.get('/domains')).body.data.domains).toHaveLength(90)
    expect(lost).toBeGreaterThan(15)
    expect(lost).toBeLessThan(45)
    const removed = new Map<number, number>()
    for (let index = 0; index < 90; index++) {
      const body = JSON.stringify({ domains: [`host-${index}.example`] })
      const bytes = requestBytes({
        method: 'DELETE',
        target: '/api/v1/domains',
        headers: [AUTHORIZED, JSON_BODY, CLOSE],
        body,
      })
      const [response] = readResponses(await service.sendRaw(bytes))
      removed.set(response?.status ?? 0, (removed.get(response?.status ?? 0) ?? 0) + 1)
    }
    expect((await service.get('/domains')).body.data.domains).toEqual([])
    expect([...removed.keys()].sort()).toEqual([200, 504])
    expect(removed.get(504)).toBeGreaterThan(15)
    expect(removed.get(504)).toBeLessThan(45)
  })

  it('slow holds every answer back for one to three seconds, and lets GET /dmarc drip', async () => {
    const service = await startService({ faults: ['slow'] })
    for (const [index, path] of ['/domains', '/domaingroups', '/dmarc'].entries()) {
      const connection = await Connection.open(service)
      await connection.write(requestBytes({ target: `/api/v1${path}` }))
      while ((await faultsOf(service)).reduce((sum, { hits }) => sum + hits, 0) <= index)
        await new Promise(setImmediate)
      // The journal says how long it would have taken.
      if (path !== '/dmarc') await connection.destroy()
      while ((await journalOf(service)).length <= index) await new Promise(setImmediate)
      await connection.destroy()
    }
    const effects = (await journalOf(service)).map(({ fault }) => fault?.effect ?? '')
    for (const effect of effects.slice(0, 2)) {
      const milliseconds = Number(/^The answer was held back for (\d+) ms\.$/.exec(effect)?.[1])
      expect(milliseconds).toBeGreaterThanOrEqual(1000)
      expect(milliseconds).toBeLessThanOrEqual(3000)
    }
    expect(effects[0]).not.toBe(effects[1])
    expect(effects[2]).toBe('The body was sent in small pieces, over 3000 ms.')
  })
})

/** How so many reads end: with a status, or `lost`. */
async function outcomesOf(service: TestService, count: number): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>()
  for (let request = 0; request < count; request++) {
    const bytes = await service.sendRaw(requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] }))
    const whole = bytes.endsWith('}') || bytes.endsWith('</html>\n')
    const outcome = whole ? bytes.slice(9, 12) : 'lost'
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  return outcomes
}
