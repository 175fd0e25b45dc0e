import { describe, expect, it, vi } from 'vitest'
import type { Operation, ResponseContract } from '../../../src/contract/api.ts'
import type { Corruption } from '../../../src/faults/corruption/corruption.ts'
import { CORRUPTIONS } from '../../../src/faults/kinds.ts'
import { Replier } from '../../../src/http/reply.ts'
import { ACCEPTED, CASES, contract, operationOf, refuse, send } from '../../service/refusals.ts'
import { ACCOUNT } from '../../support/account.ts'
import { budget, sample } from '../../support/budget.ts'
import { startService } from '../../support/service.ts'
import {
  changed,
  corrupt,
  drawsOf,
  expectPromised,
  FIGURES,
  GROUP,
  group,
  outcomes,
  RECORD,
  records,
  SEEDS,
  successOf,
} from './outcomes.ts'

/** Of how many draws each outcome is held to what its kind promises, which takes longer than to make it. */
const PROOFS = SEEDS.slice(0, budget({ quick: 1, whole: 4, full: 80 }))

/** How many records a long answer has. */
const MANY = budget({ quick: 200, whole: 1_000, full: 10_000 })

/** A genuine answer of an operation with a status, as a service gives it. */
async function genuine(operation: Operation, status: number): Promise<string> {
  const refusal = CASES.find((each) => each.operation === operation.id && each.status === status)
  if (refusal !== undefined) return (await refuse(await startService({ fixture: ACCOUNT }), refusal)).text
  if (status === 500) {
    return new Replier(contract, 'error').refuse(operation, [{ code: 'internal_error' }]).body.held.toString()
  }
  const response = await send(await startService({ fixture: ACCOUNT }), operation.id, ACCEPTED[operation.id] ?? {})
  expect(response.status).toBe(status)
  return response.text
}

describe('An answer is changed', () => {
  const answers = contract.operations.flatMap((operation) =>
    [...operation.responses.values()].map((response) => [operation.id, response.status, response] as const),
  )

  it.each(sample(answers, 6))('as each kind promises and the contract proves: %s %i', async (id, status, response) => {
    const text = await genuine(operationOf(id), status)
    expect(response.check(JSON.parse(text))).toEqual([])
    for (const kind of CORRUPTIONS) {
      const made = outcomes(kind, text, response, PROOFS)
      // Of the successes only the DMARC records have values from a list.
      const impossible = kind === 'unknown-enum' && status < 300 && id !== 'listDmarc'
      expect([kind, made.length]).toEqual([kind, impossible ? 0 : PROOFS.length])
      for (const corrupted of made) expectPromised(kind, text, response, corrupted)
    }
  })

  it.each(CORRUPTIONS)('with %s alike at the same draws, in many ways at others', (kind) => {
    const text = successOf('listDmarc').write(records)
    const made = outcomes(kind, text, successOf('listDmarc'))
    expect(outcomes(kind, text, successOf('listDmarc'))).toEqual(made)
    expect(new Set(made.map(({ body }) => body.toString())).size).toBeGreaterThanOrEqual(10)
  })

  it('one group, which the contract gives as one of two forms, as well as the list of them', () => {
    const response = successOf('listDomainGroups')
    const pointers = (answer: unknown) =>
      new Set(outcomes('missing-field', response.write(answer), response).map(({ change }) => change.split(' ')[0]))
    expect(pointers(group)).toEqual(
      new Set(['/data/group', '/data/group/id', '/data/group/name', '/data/group/domains']),
    )
    expect(pointers({ success: true, data: { groups: [GROUP], count: 1 } })).toEqual(
      new Set(['/data/groups', '/data/count', '/data/groups/0/id', '/data/groups/0/name', '/data/groups/0/domains']),
    )
  })
})

describe('An answer that has nothing to change is left alone', () => {
  it.each<[kind: Corruption, operation: string, body: unknown]>([
    ['missing-field', 'listDmarc', { success: true, data: [] }],
    ['unknown-enum', 'listDmarc', { success: true, data: [] }],
    ['unknown-enum', 'listDomains', { success: true, data: { domains: ['a.example'] } }],
  ])('%s in %s %j', (kind, operation, body) => {
    const response = successOf(operation)
    expect(outcomes(kind, response.write(body), response)).toEqual([])
  })

  it('when the contract lets everything pass, after a few trials', () => {
    const response = successOf('listDmarc')
    const data = Array.from({ length: MANY }, () => ({ ...RECORD, ...FIGURES }))
    const check = vi.fn(() => [])
    const lenient: ResponseContract = { ...response, check }
    expect(corrupt('missing-field', response.write({ success: true, data }), lenient, drawsOf(1))).toBeUndefined()
    expect(check).toHaveBeenCalledTimes(3 * 10)
  })
})

describe('A contract that an overlay gave other forms', () => {
  it('of schemas and types is read all the same', async () => {
    const properties = { owner: { type: ['string', 'null'] }, kind: { anyOf: [{ enum: [1, 2] }, { const: 'x' }] } }
    const update = { properties, allOf: [{ required: ['owner'] }, { required: ['kind'] }] }
    const open = await changed({ target: '$.components.schemas.DomainGroup', update })
    const response = successOf('createDomainGroup', open)
    const text = response.write({ success: true, data: { group: { ...GROUP, owner: null, kind: 2 } } })
    const made = (kind: Corruption) =>
      outcomes(kind, text, response).map(({ body, change }) => {
        expect(response.check(JSON.parse(body.toString()))).not.toEqual([])
        return change
      })
    expect(made('missing-field')).toEqual(
      expect.arrayContaining(['/data/group/owner was left out.', '/data/group/kind was left out.']),
    )
    const owners = made('wrong-type').filter((change) => change.startsWith('/data/group/owner '))
    expect(new Set(owners.map((change) => change.split(' ')[3]))).toEqual(new Set(['array', 'object', 'number']))
    expect(new Set(made('unknown-enum'))).toEqual(new Set(['/data/group/kind became the new value 3 instead of 2.']))
  })
})

describe('Keys that objects inherit', () => {
  it.each(CORRUPTIONS)('are as any other, and nothing is polluted: %s', async (kind) => {
    const open = { target: '$.components.schemas.DomainGroup', update: { additionalProperties: { type: 'string' } } }
    const response = successOf('listDomainGroups', await changed(open))
    const odd = '"__proto__":"x","constructor":"y","toString":"z"'
    const text = `{"success":true,"data":{"group":{${odd},"id":"4fTq81Zb","name":"Lamps","domains":["a.example"]}}}`
    expect(response.check(JSON.parse(text))).toEqual([])
    const made = outcomes(kind, text, response)
    expect(made).toHaveLength(kind === 'unknown-enum' ? 0 : SEEDS.length)
    for (const corrupted of made) expectPromised(kind, text, response, corrupted)
    if (kind === 'wrong-type') expect(made.some(({ change }) => change.includes('/__proto__ became'))).toBe(true)
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

describe(`An answer of ${MANY} records`, () => {
  const response = successOf('listDmarc')
  const data = Array.from({ length: MANY }, (_, index) => ({ ...RECORD, ...FIGURES, domain: `${index}.example` }))
  const text = response.write({ success: true, data })

  it.each(CORRUPTIONS)('is changed with few draws, because the place is chosen first: %s', (kind) => {
    for (let seed = 0; seed < 6; seed++) {
      const draw = drawsOf(seed)
      let draws = 0
      const corrupted = corrupt(kind, text, response, () => {
        draws++
        return draw()
      })
      expect(corrupted?.body.toString()).not.toBe(text)
      expect(draws).toBeLessThan(100)
    }
  })

  it('is changed at places all over it', () => {
    const places = SEEDS.slice(0, 20).map(
      (seed) => corrupt('missing-field', text, response, drawsOf(seed))?.change.split('/')[2],
    )
    const indexes = places.map(Number)
    expect(new Set(places).size).toBeGreaterThan(15)
    expect([Math.min(...indexes) < MANY / 4, Math.max(...indexes) > (MANY * 3) / 4]).toEqual([true, true])
  })
})
