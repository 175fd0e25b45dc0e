import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Operation, ResponseContract } from '../../../src/contract/api.ts'
import { CORRUPTIONS, type Corruption } from '../../../src/faults/kinds.ts'
import { Replier } from '../../../src/http/reply.ts'
import { ACCEPTED, CASES, contract, operationOf, refuse, send } from '../../service/refusals.ts'
import { ACCOUNT } from '../../support/account.ts'
import { budget } from '../../support/budget.ts'
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
  refusalOf,
  SEEDS,
  successOf,
  values,
} from './outcomes.ts'

const SEED = 20260115

/** Of how many draws each outcome is held to what its kind promises, which takes longer than to make it. */
const PROOFS = SEEDS.slice(0, budget({ quick: 2, full: 80 }))

/** How many records a long answer has. */
const MANY = budget({ quick: 1_000, full: 10_000 })

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

  it.each(answers)('as each kind promises and the contract proves: %s %i', async (id, status, response) => {
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

  it.each(['demo', 'edge-cases', 'empty', 'agency'])('from the fixture %s', async (name) => {
    const fixture = name === 'demo' || name === 'empty' ? name : `fixtures/${name}.json`
    const service = await startService({ fixture })
    const listed = await service.get('/domaingroups')
    const paths = ['/dmarc', '/domains', '/domaingroups']
    if (listed.body.data.count > 0) paths.push(`/domaingroups?id=${listed.body.data.groups[0].id}`)
    for (const path of paths) {
      const { text } = await service.get(path)
      const response = contract.routes.get(path.split('?')[0] ?? '')?.get('GET')?.success
      if (response === undefined) throw new Error(`There is no GET ${path}.`)
      for (const kind of CORRUPTIONS) {
        for (const corrupted of outcomes(kind, text, response, PROOFS.slice(0, 30)))
          expectPromised(kind, text, response, corrupted)
      }
    }
  })

  it.each(CORRUPTIONS)('with %s the same way at the same draws, and in many ways at different ones', (kind) => {
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
    let checks = 0
    const lenient: ResponseContract = {
      ...response,
      check() {
        checks++
        return []
      },
    }
    expect(corrupt('missing-field', response.write({ success: true, data }), lenient, drawsOf(1))).toBeUndefined()
    expect(checks).toBe(3 * 10)
  })
})

describe('A contract that an overlay gave other forms', () => {
  it('of schemas and types is read all the same', async () => {
    const response = successOf(
      'createDomainGroup',
      await changed({
        target: '$.components.schemas.DomainGroup',
        update: {
          properties: { owner: { type: ['string', 'null'] }, kind: { anyOf: [{ enum: [1, 2] }, { const: 'x' }] } },
          allOf: [{ required: ['owner'] }, { required: ['kind'] }],
        },
      }),
    )
    const text = response.write({ success: true, data: { group: { ...GROUP, owner: null, kind: 2 } } })
    const made = (kind: Corruption) => {
      const all = outcomes(kind, text, response)
      return all.map(({ body, change }) => {
        expect(response.check(JSON.parse(body.toString()))).not.toEqual([])
        return change
      })
    }
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
      const counting = () => {
        draws++
        return draw()
      }
      const corrupted = corrupt(kind, text, response, counting)
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

describe('Whatever the answer', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    fc.constantFrom(
      '"',
      '\\',
      '\\\\"',
      '</script>',
      '\u0000',
      '\u2028',
      'é',
      '😀',
      '\ud800',
      '1e2',
      '{"a":1}',
      '__proto__',
    ),
  )
  const name = text.filter((each) => /\S/.test(each))
  const domain = fc.constantFrom('a.example', 'b.example', 'xn--mnchen-3ya.example', '1.2.3.4.example')
  const someGroup = fc.record({
    id: fc.constantFrom('00000000', '4fTq81Zb', '1e234567'),
    name,
    domains: fc.array(domain, { maxLength: 3 }),
  })
  const policy = fc.constantFrom('none', 'quarantine', 'reject')
  const share = fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 10)
  const record = fc.record({
    domain,
    p: policy,
    sp: policy,
    np: policy,
    pct: fc.nat(100),
    testing: fc.constantFrom('y', 'n'),
    dmarc: share,
    dkim: share,
    spf: share,
    count: fc.nat(),
  })
  const success = (data: unknown) => ({ success: true, data })
  const answer = fc.oneof(
    fc.array(record, { maxLength: 4 }).map((data) => [successOf('listDmarc'), success(data)] as const),
    fc.array(domain, { maxLength: 4 }).map((domains) => [successOf('listDomains'), success({ domains })] as const),
    fc
      .record({ message: text, domains: fc.array(domain, { maxLength: 4 }), count: fc.nat() })
      .map((data) => [successOf('addDomains'), success(data)] as const),
    fc
      .array(someGroup, { maxLength: 3 })
      .map((groups) => [successOf('listDomainGroups'), success({ groups, count: groups.length })] as const),
    someGroup.map((each) => [successOf('listDomainGroups'), success({ group: each })] as const),
    fc
      .record({ code: fc.constantFrom('invalid_domain', 'missing_field'), message: text })
      .map((error) => [refusalOf(400), { success: false, error }] as const),
  )

  it(`each kind keeps its promise, or there is nothing to change (seed ${SEED})`, () => {
    fc.assert(
      fc.property(answer, fc.constantFrom(...CORRUPTIONS), fc.nat(), ([response, body], kind, seed) => {
        const written = response.write(body)
        fc.pre(response.check(body).length === 0)
        const corrupted = corrupt(kind, written, response, drawsOf(seed))
        if (corrupted !== undefined) expectPromised(kind, written, response, corrupted)
        if (corrupted !== undefined && kind === 'compatible')
          expect(values(JSON.parse(corrupted.body.toString()))).toEqual(values(JSON.parse(written)))
        if (corrupted === undefined) expect(['missing-field', 'unknown-enum']).toContain(kind)
      }),
      { seed: SEED, numRuns: budget({ quick: 50, full: 3000 }) },
    )
  })
})
