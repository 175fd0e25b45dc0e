import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Operation, ResponseContract } from '../../../src/contract/api.ts'
import { type Contract, loadContract } from '../../../src/contract/contract.ts'
import { asOverlay } from '../../../src/contract/overlay.ts'
import { type CorruptedBody, corruptBody } from '../../../src/faults/corruption/corruption.ts'
import { CORRUPTIONS, type Corruption, FAULT_KINDS } from '../../../src/faults/kinds.ts'
import { fraction, scramble } from '../../../src/ground/chance.ts'
import { isObject, type Json, pointTo, valueAt } from '../../../src/ground/json.ts'
import { Replier } from '../../../src/http/reply.ts'
import { ACCEPTED, CASES, contract, operationOf, refuse, send } from '../../service/refusals.ts'
import { ACCOUNT } from '../../support/account.ts'
import { budget } from '../../support/budget.ts'
import { startService } from '../../support/service.ts'

const SEED = 20260115
const SEEDS = Array.from({ length: 80 }, (_, seed) => seed)
/** Of how many draws each outcome is held to what its kind promises, which takes longer than to make it. */
const PROOFS = SEEDS.slice(0, budget({ quick: 16, full: 80 }))

function drawsOf(seed: number): () => number {
  let word = scramble(seed + 1)
  return () => fraction(scramble(word++ >>> 0))
}

const LOADED = new Map(
  await Promise.all(CORRUPTIONS.map(async (name) => [name, await FAULT_KINDS[name].action.load()] as const)),
)

function corrupt(
  name: Corruption,
  text: string,
  response: ResponseContract,
  draw: () => number,
): CorruptedBody | undefined {
  const kind = LOADED.get(name)
  if (kind === undefined) throw new Error(`There is no corruption ${name}.`)
  return corruptBody(kind, Buffer.from(text), response, draw)
}

/** What different draws make of one answer. */
function outcomes(kind: Corruption, text: string, response: ResponseContract, seeds = SEEDS): CorruptedBody[] {
  return seeds
    .map((seed) => corrupt(kind, text, response, drawsOf(seed)))
    .filter((corrupted) => corrupted !== undefined)
}

interface Difference {
  pointer: string
  /** `undefined` where there was nothing. */
  before: unknown
  /** `undefined` where nothing is left. */
  after: unknown
}

/** Where two values differ, as deep down as can be said. */
function differences(before: unknown, after: unknown, pointer = ''): Difference[] {
  const comparable = isObject(before) ? isObject(after) : Array.isArray(before) && Array.isArray(after)
  if (!comparable) return Object.is(before, after) ? [] : [{ pointer, before, after }]
  const [one, other] = [before as Json, after as Json]
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].flatMap((key) => differences(ownOf(one, key), ownOf(other, key), pointTo(pointer, key)))
}

function ownOf(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Values alone, whatever the order of properties and items. */
function values(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(values).toSorted((one, other) => compare(one, other))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, values(item)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

function compare(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}

const ENVELOPE = ['/success', '/data', '/error']

/** Asserts everything that the kind promises of one changed answer. */
function prove(kind: Corruption, text: string, response: ResponseContract, { body, change }: CorruptedBody): void {
  const corrupted = body.toString()
  expect(Buffer.from(corrupted).equals(body), 'It is UTF-8.').toBe(true)
  expect(corrupted).not.toBe(text)
  expect(change).toMatch(/^(\/|The |All )[^\n]*[^.\s]\.$/)
  if (kind === 'malformed-json') {
    expect(isJson(corrupted), `${change} ${corrupted}`).toBe(false)
    return
  }
  const [before, after]: [unknown, unknown] = [JSON.parse(text), JSON.parse(corrupted)]
  const violations = response.check(after)
  if (kind === 'compatible') {
    expect(violations, change).toEqual([])
    return
  }
  expect(violations, `${change} ${corrupted.slice(0, 400)}`).not.toEqual([])
  if (kind === 'bad-envelope') return
  const [difference, ...more] = differences(before, after)
  // An array that became an object of the same items, and the like, differs as a whole.
  expect(more).toEqual([])
  expect(change.startsWith(`${difference?.pointer} `), `${change} is at ${difference?.pointer}`).toBe(true)
  if (kind === 'wrong-type') {
    expect(typeOf(difference?.after)).not.toBe(typeOf(difference?.before))
    expect(difference?.after).not.toBeUndefined()
    return
  }
  // The contract's own writer gives the untouched parts the bytes that they had.
  expect(corrupted).toBe(response.write(after))
  if (kind === 'missing-field') {
    expect(difference).toMatchObject({ before: expect.anything(), after: undefined })
    expect(ENVELOPE).not.toContain(difference?.pointer)
  } else if (kind === 'extra-field') {
    expect(difference?.before).toBeUndefined()
  } else {
    expect([typeOf(difference?.before), typeOf(difference?.after)]).toEqual(['string', 'string'])
  }
}

const GROUP = { id: '4fTq81Zb', name: 'Lamps "and" \\ Ünïcödé/😀', domains: ['a.example', 'b.example'] }
const RECORD = { domain: 'a.example', p: 'reject', sp: 'none', np: 'none', pct: 100, testing: 'n' }
const FIGURES = { dmarc: 100, dkim: 99.1, spf: 0, count: 48211 }

const records = { success: true, data: [1, 2, 3].map(() => ({ ...RECORD, ...FIGURES })) }
const group = { success: true, data: { group: GROUP } }
const unauthorized = { success: false, error: { code: 'unauthorized', message: 'A valid API key is required.' } }

function successOf(id: string, from: Contract = contract): ResponseContract {
  const operation = from.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation.success
}

function refusalOf(status: number, id = 'addDomains', from: Contract = contract): ResponseContract {
  const response = from.operations.find((each) => each.id === id)?.responses.get(status)
  if (response === undefined) throw new Error(`${id} has no response ${status}.`)
  return response
}

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
      for (const corrupted of made) prove(kind, text, response, corrupted)
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
          prove(kind, text, response, corrupted)
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

describe('Malformed JSON', () => {
  const response = successOf('listDmarc')
  const text = response.write(records)
  const made = outcomes('malformed-json', text, response)

  it.each<[how: string, change: RegExp, body: RegExp]>([
    ['cut off', /^The answer was cut off after \d+ of \d+ characters\.$/, /^\{/],
    ['with a trailing comma', /^(The answer|\/data(\/\d)?) got a trailing comma\.$/, /,[}\]]/],
    [
      'in single quotes',
      /^The strings of the answer were put in single quotes\.$/,
      /^\{'success':true,'data':\[\{'dom/,
    ],
    ['an error page', /^The answer became an error page in HTML\.$/, /^<html>/],
    ['with NaN', /^\/data\/\d\/(pct|dmarc|dkim|spf|count) became NaN\.$/, /:NaN[,}]/],
    ['with a raw line break', /^\/data\/\d\/\w+ got a line break that is not escaped\.$/, /\n"/],
    ['two documents', /^The answer was sent twice\.$/, /\}\n\{"success"/],
  ])('may be %s', (_, change, body) => {
    const found = made.find((corrupted) => change.test(corrupted.change))
    expect(found?.body.toString()).toMatch(body)
  })

  it('is never cut within a character', () => {
    const answer = response.write({ success: true, data: '😀'.repeat(200) })
    for (const { body } of outcomes('malformed-json', answer, { ...response, check: () => [] })) {
      expect(body.toString()).not.toContain('\ufffd')
    }
  })
})

describe('A bad envelope', () => {
  const texts = (answer: unknown, response: ResponseContract) =>
    new Set(outcomes('bad-envelope', response.write(answer), response).map(({ body }) => body.toString()))

  it('of a success is one of these', () => {
    const data = '{"group":{"id":"4fTq81Zb","name":"Lamps","domains":["a.example"]}}'
    const error = '{"code":"unknown","message":"Unknown error."}'
    expect(texts({ success: true, data: JSON.parse(data) }, successOf('createDomainGroup'))).toEqual(
      new Set([
        `{"data":${data}}`,
        `{"success":false,"data":${data}}`,
        `{"success":"true","data":${data}}`,
        `{"success":1,"data":${data}}`,
        '{"success":true}',
        `{"success":true,"data":${data},"error":null}`,
        `{"success":true,"data":${data},"error":${error}}`,
        data,
        `[{"success":true,"data":${data}}]`,
        '{}',
        '[]',
        'null',
      ]),
    )
  })

  it('of a refusal is one of these', () => {
    const error = '{"code":"unauthorized","message":"A valid API key is required."}'
    expect(texts(unauthorized, refusalOf(401))).toEqual(
      new Set([
        `{"error":${error}}`,
        `{"success":true,"error":${error}}`,
        `{"success":"false","error":${error}}`,
        `{"success":0,"error":${error}}`,
        '{"success":false}',
        `{"success":false,"error":${error},"data":null}`,
        `{"success":false,"error":${error},"data":{}}`,
        error,
        `[{"success":false,"error":${error}}]`,
        '{}',
        '[]',
        'null',
      ]),
    )
  })
})

describe('A value of the wrong type', () => {
  it.each<[text: string]>([
    ['"dmarc":"100.0"'],
    ['"dmarc":[100.0]'],
    ['"dmarc":null'],
    ['"domain":9,'],
    ['"domain":{"value":"a.example"}'],
    ['"data":{"0":{"domain"'],
    ['"data":null}'],
    ['"data":""}'],
    [':[[{"domain"'],
  ])('may be written %s', (part) => {
    const response = successOf('listDmarc')
    const one = { success: true, data: records.data.slice(0, 1) }
    const seeds = Array.from({ length: 600 }, (_, seed) => seed)
    const made = seeds.map((seed) =>
      corrupt('wrong-type', response.write(one), response, drawsOf(seed))?.body.toString(),
    )
    expect(made.some((text) => text?.includes(part))).toBe(true)
  })

  it('touches no other byte', () => {
    const response = successOf('listDmarc')
    const text = response.write(records)
    const scalars = outcomes('wrong-type', text, response).filter(({ change }) => /^\/data\/\d\/\w+ /.test(change))
    expect(scalars.length).toBeGreaterThan(20)
    for (const { body } of scalars) {
      const corrupted = body.toString()
      const [ahead, behind] = [commonStart(text, corrupted), commonStart(reversed(text), reversed(corrupted))]
      const [difference] = differences(JSON.parse(text), JSON.parse(corrupted))
      expect(text.length - ahead - behind).toBeLessThanOrEqual(JSON.stringify(difference?.before).length + '.0'.length)
    }
  })
})

function commonStart(one: string, other: string): number {
  let length = 0
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length++
  return length
}

function reversed(text: string): string {
  return [...text].toReversed().join('')
}

describe('An unknown value', () => {
  it('is in no list of the contract', () => {
    const response = successOf('listDmarc')
    const policies = valueAt(contract.document.resolved, '/components/schemas/Policy/enum') as string[]
    const made = outcomes('unknown-enum', response.write(records), response).map(({ body }) => JSON.parse(`${body}`))
    const policiesMade = new Set(made.flatMap(({ data }) => data.flatMap((each: Json) => [each['p'], each['np']])))
    expect(policiesMade.size).toBeGreaterThan(5)
    expect([...policiesMade].filter((policy) => !policies.includes(policy as string)).length).toBeGreaterThan(4)
  })

  it('of an error code is neither one of the response nor of another', () => {
    const codes = new Set(contract.catalogue.codes)
    for (const { body } of outcomes('unknown-enum', JSON.stringify(unauthorized), refusalOf(401))) {
      expect(codes.has(JSON.parse(body.toString()).error.code)).toBe(false)
    }
  })
})

/** The contract with actions of an overlay. */
function changed(...actions: Json[]): Promise<Contract> {
  const overlay = { overlay: '1.0.0', info: { title: 'A change', version: '1.0.0' }, actions }
  return loadContract({ overlays: [asOverlay(overlay, 'change.yaml')] })
}

const OPEN_POLICIES = { target: '$.components.schemas.Policy.enum', remove: true }
const OPTIONAL_PCT = { target: "$.components.schemas.DmarcRecord.required[?@ == 'pct']", remove: true }
const OPEN_RECORDS = { target: '$.components.schemas.DmarcRecord', update: { additionalProperties: true } }

describe('A compatible answer', () => {
  const response = successOf('listDmarc')
  const text = response.write(records)

  it.each<[answer: string, body: unknown, response: ResponseContract]>([
    ['records', records, response],
    ['a group', group, successOf('listDomainGroups')],
    [
      'groups',
      { success: true, data: { groups: [GROUP, { ...GROUP, domains: [] }], count: 2 } },
      successOf('listDomainGroups'),
    ],
    ['a refusal', unauthorized, refusalOf(401)],
  ])('says the same where the contract leaves no room: %s', (_, body, of) => {
    const made = outcomes('compatible', of.write(body), of)
    expect(made).toHaveLength(SEEDS.length)
    for (const { body: bytes } of made) expect(values(JSON.parse(bytes.toString()))).toEqual(values(body))
  })

  it.each<[how: string, change: RegExp, body: RegExp]>([
    ['with its properties in another order', /^The properties of the answer were written in another order\.$/, /^\{"/],
    [
      'with lines',
      /^The answer was written with a line for each value\.$/,
      /^\{\n {2}"success": true,\n {2}"data": \[\n/,
    ],
    ['with tabs', /^The answer was written with tabs and line breaks\.$/, /^\{\r\n\t"success": true,\r\n\t"data"/],
    [
      'with spaces',
      /^The answer was written with spaces after commas and colons\.$/,
      /^\{"success": true, "data": \[\{"/,
    ],
    ['with a line break at its end', /^The answer was ended with a line break\.$/, /\n$/],
    ['with escapes', /^The characters of \/data\/\d\/\w+ were written as their codes\.$/, /"(\\u00[0-9a-f]{2})+"/],
    ['with a number in other words', /^\/data\/\d\/\w+ was written as [\d.e+-]+ instead of [\d.]+\.$/i, /^\{"/],
    ['with an exponent', /^\/data\/\d\/\w+ was written as \d(\.\d+)?e\+?\d instead of /i, /:\d(\.\d+)?e\+?\d[,}]/i],
    [
      'without decimals',
      /^The numbers of the answer were written without zeros at their end\.$/,
      /"dmarc":100,.*"spf":0,/,
    ],
  ])('may be written %s', (_, change, body) => {
    const seeds = Array.from({ length: 300 }, (_, seed) => seed)
    const made = seeds.map((seed) => corrupt('compatible', text, response, drawsOf(seed)))
    expect(made.find((each) => each && change.test(each.change))?.body.toString()).toMatch(body)
  })

  it('may have its items in another order', () => {
    const data = records.data.map((record, index) => ({ ...record, domain: `${index}.example` }))
    const made = outcomes('compatible', response.write({ success: true, data }), response)
    const orders = made
      .filter(({ change }) => change === 'The items of /data were put in another order.')
      .map(({ body }) =>
        JSON.parse(body.toString())
          .data.map(({ domain }: Json) => domain)
          .join(),
      )
    expect(new Set(orders).size).toBeGreaterThan(1)
    expect(orders).not.toContain('0.example,1.example,2.example')
  })

  it('may escape all characters beyond ASCII, or all slashes', () => {
    const of = successOf('createDomainGroup')
    const made = outcomes('compatible', of.write(group), of).map(({ body }) => body.toString())
    expect(made.some((each) => each.includes('\\u00dcn\\u00efc\\u00f6d\\u00e9/\\ud83d\\ude00"'))).toBe(true)
    expect(made.some((each) => each.includes('Ünïcödé\\/😀"'))).toBe(true)
  })

  it('has a new value where an overlay took the list of values away, and no unknown value is left there', async () => {
    const open = successOf('listDmarc', await changed(OPEN_POLICIES))
    const made = outcomes('compatible', text, open)
    for (const corrupted of made) prove('compatible', text, open, corrupted)
    const fresh = made.filter(({ change }) => / became the new value /.test(change))
    expect(fresh.length).toBeGreaterThan(SEEDS.length / 2)
    expect(new Set(fresh.map(({ change }) => change.split(/[/ ]/)[3]))).toEqual(new Set(['p', 'sp', 'np']))
    for (const { body } of fresh) expect(response.check(JSON.parse(body.toString()))).not.toEqual([])
    for (const { change } of outcomes('unknown-enum', text, open)) expect(change).toMatch(/^\/data\/\d\/testing /)
  })

  it('has no new error code, which the response lists beside its schema', async () => {
    const open = await changed({ target: '$.components.schemas.ErrorCode.enum', remove: true })
    const [refusal, answer] = [refusalOf(401, 'addDomains', open), JSON.stringify(unauthorized)]
    for (const { change } of outcomes('compatible', answer, refusal)) expect(change).not.toContain('new value')
    const made = outcomes('unknown-enum', answer, refusal)
    expect(made).toHaveLength(SEEDS.length)
    for (const corrupted of made) prove('unknown-enum', answer, refusal, corrupted)
  })

  it('lacks a field that an overlay made optional, which no missing field is then', async () => {
    const open = successOf('listDmarc', await changed(OPTIONAL_PCT))
    const made = outcomes('compatible', text, open)
    for (const corrupted of made) prove('compatible', text, open, corrupted)
    const without = made.filter(({ change }) => /^\/data\/\d\/pct, which is not required, was left out\.$/.test(change))
    expect(without.length).toBeGreaterThan(SEEDS.length / 2)
    for (const { body } of without) expect(body.toString().match(/"pct"/g)).toHaveLength(2)
    const missing = outcomes('missing-field', text, open)
    expect(missing).toHaveLength(SEEDS.length)
    for (const { change } of missing) expect(change).not.toContain('/pct')
  })

  it.each([
    ['allows them', OPEN_RECORDS],
    ['does not mention them', { target: '$.components.schemas.DmarcRecord.additionalProperties', remove: true }],
  ])('has a further property where an overlay %s, which no extra field is then', async (_, action) => {
    const open = successOf('listDmarc', await changed(action))
    const made = outcomes('compatible', text, open)
    for (const corrupted of made) prove('compatible', text, open, corrupted)
    const added = made.filter(({ change }) => /^\/data\/\d\/\w+ was added\.$/.test(change))
    expect(added.length).toBeGreaterThan(SEEDS.length / 2)
    const extra = outcomes('extra-field', text, open)
    expect(extra).toHaveLength(SEEDS.length)
    for (const { change } of extra) expect(change).toMatch(/^\/\w+ was added\.$/)
  })

  it('uses every freedom of a contract that gives several', async () => {
    const open = successOf('listDmarc', await changed(OPEN_POLICIES, OPTIONAL_PCT, OPEN_RECORDS))
    const made = outcomes('compatible', text, open).map(({ change }) => change)
    for (const pattern of [
      / new value /,
      /pct, which is not required/,
      / was added/,
      / order\.$| codes\.$| written /,
    ]) {
      expect(made.filter((change) => pattern.test(change)).length).toBeGreaterThan(3)
    }
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
    const data = Array.from({ length: 10_000 }, () => ({ ...RECORD, ...FIGURES }))
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
    for (const corrupted of made) prove(kind, text, response, corrupted)
    if (kind === 'wrong-type') expect(made.some(({ change }) => change.includes('/__proto__ became'))).toBe(true)
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

describe('An answer of 10,000 records', () => {
  const response = successOf('listDmarc')
  const data = Array.from({ length: 10_000 }, (_, index) => ({ ...RECORD, ...FIGURES, domain: `${index}.example` }))
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
    expect([Math.min(...indexes) < 2500, Math.max(...indexes) > 7500]).toEqual([true, true])
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
        if (corrupted !== undefined) prove(kind, written, response, corrupted)
        if (corrupted !== undefined && kind === 'compatible')
          expect(values(JSON.parse(corrupted.body.toString()))).toEqual(values(JSON.parse(written)))
        if (corrupted === undefined) expect(['missing-field', 'unknown-enum']).toContain(kind)
      }),
      { seed: SEED, numRuns: budget({ quick: 500, full: 3000 }) },
    )
  })
})
