import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { SCHEMA_EXTENSIONS } from '../../src/contract/extensions.ts'
import { ERROR_CODES } from '../../src/domain/errors.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { headerViolations } from '../support/header-check.ts'
import { objectAt, objectsIn, ownDocument } from '../support/own-document.ts'

const contract = await loadContract()
const source = ownDocument()
const { resolved, catalogue } = contract.document
const operations = contract.operations.map((operation) => [operation.id, operation] as const)
const refusals = contract.operations.flatMap((operation) =>
  [...operation.responses.values()]
    .filter(({ status }) => status >= 400)
    .map((response) => [operation.id, response.status, operation, response] as const),
)

/** What the document says of an operation, without references. */
function described({ path, method }: Operation): Json {
  return objectAt(resolved, `/paths/~1${path.slice(1)}/${method.toLowerCase()}`)
}

function examplesIn(holder: unknown): [name: string, value: unknown][] {
  const { example, examples = {} } = (valueAt(holder, '/content/application~1json') ?? {}) as Json
  const named = Object.entries(examples as Json).map(([name, each]): [string, unknown] => [
    name,
    valueAt(each, '/value'),
  ])
  return example === undefined ? named : [['without a name', example], ...named]
}

describe('examples in openapi.yaml', () => {
  const ajv = new Ajv2020({
    strictTypes: false,
    multipleOfPrecision: 9,
    formats: {
      hostname: (text: string) => contract.canonicalHostname(text) === text,
      'idn-hostname': (text: string) => contract.canonicalHostname(text) !== undefined,
      uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    },
  }).addVocabulary([...SCHEMA_EXTENSIONS, 'example'])
  /** A schema, or a header or a content that holds one. */
  const examples = [...objectsIn(source)].filter(({ value }) => Object.hasOwn(value, 'example'))

  it.each(examples)('obey their schema at $pointer', ({ pointer, value: { example } }) => {
    const holder = objectAt(resolved, pointer)
    const validate = ajv.compile((holder['schema'] ?? holder) as Json)
    validate(example)
    expect(validate.errors ?? []).toEqual([])
  })

  it.each(operations)('of responses of %s are what it may answer, headers included', (_, operation) => {
    for (const [status, response] of operation.responses) {
      const stated = objectAt(described(operation), `/responses/${status}`)
      const bodies = examplesIn(stated)
      expect(bodies.length, `${status} has an example`).toBeGreaterThan(0)
      for (const [name, body] of bodies) expect(response.check(body), `${status} ${name}`).toEqual([])
      const headers = Object.entries((stated['headers'] ?? {}) as Record<string, Json>).map(([name, header]) => [
        name.toLowerCase(),
        String(header['example']),
      ])
      expect(headerViolations(response, Object.fromEntries(headers)), `${status} headers`).toEqual([])
    }
  })
})

describe('schemas in openapi.yaml', () => {
  it('admit no field that they do not name', () => {
    // What stands below `not` describes what must not be, and narrows nothing by itself.
    const open = [...objectsIn(source)]
      .filter(({ pointer }) => !/\/(not|example|examples|x-[a-z-]+)(\/|$)/.test(pointer))
      .filter(({ value }) => value['type'] === 'object' || isObject(value['properties']))
    expect(open.length).toBeGreaterThan(20)
    const lenient = open.filter(({ value }) => value['type'] !== 'object' || value['additionalProperties'] !== false)
    expect(lenient.map(({ pointer }) => pointer)).toEqual([])
  })
})

describe('operations in openapi.yaml', () => {
  it('are the eight of the service, each with one status of success and explicit ones of refusals', () => {
    const stated = contract.operations.map(({ id, method, path, responses }) => {
      expect([...responses.keys()].filter((status) => status < 400 || status > 599)).toEqual([200])
      return `${method} ${path} ${id}`
    })
    expect(stated.toSorted()).toEqual([
      'DELETE /domaingroups deleteDomainGroup',
      'DELETE /domains deleteDomains',
      'GET /dmarc listDmarc',
      'GET /domaingroups listDomainGroups',
      'GET /domains listDomains',
      'PATCH /domaingroups updateDomainGroup',
      'POST /domaingroups createDomainGroup',
      'POST /domains addDomains',
    ])
  })
})

describe('error codes', () => {
  it('are the same in the catalogue, in the code and in the schema ErrorCode, in order of precedence', () => {
    const { 'x-assumption': _, ...entries } = objectAt(source, '/x-errors')
    expect(Object.keys(entries)).toEqual([...ERROR_CODES])
    expect(valueAt(source, '/components/schemas/ErrorCode/enum')).toEqual([...ERROR_CODES])
    expect(catalogue.codes).toEqual([...ERROR_CODES])
  })

  it('are all answered by an operation', () => {
    expect(new Set(refusals.flatMap(([, , , { codes }]) => [...codes]))).toEqual(new Set(ERROR_CODES))
  })

  it.each(refusals)('that %s does not declare are a violation of its %d', (_, __, ___, response) => {
    const stranger = ERROR_CODES.find((code) => !response.codes.has(code))
    expect(response.check({ success: false, error: { code: stranger, message: 'No.' } })).toEqual([
      {
        pointer: '/error/code',
        keyword: 'x-codes',
        reason: `is "${stranger}" but must be one of ${[...response.codes].join(', ')} with this status`,
        value: stranger,
      },
    ])
  })
})
