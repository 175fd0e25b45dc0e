import { readFileSync } from 'node:fs'
import SwaggerParser from '@apidevtools/swagger-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { Catalogue } from '../../src/contract/catalogue.ts'
import { placeCodes } from '../../src/contract/codes.ts'
import { compileContract, loadContract } from '../../src/contract/contract.ts'
import { readDocument, rulesOf } from '../../src/contract/document.ts'
import { SCHEMA_EXTENSIONS } from '../../src/contract/extensions.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { ERROR_CODES, type ErrorCode, type Problem } from '../../src/domain/errors.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { actionsFor, alternatives } from '../support/alternatives.ts'
import { OWN_DOCUMENT, objectAt, objectsIn, ownDocument } from '../support/own-document.ts'

const contract = await loadContract()
const source = ownDocument()
const { resolved, catalogue } = contract.document
const operations = contract.operations.map((operation) => [operation.id, operation] as const)
const refusals = contract.operations.flatMap((operation) =>
  [...operation.responses.values()]
    .filter(({ status }) => status >= 400)
    .map((response) => [operation.id, response.status, operation, response] as const),
)

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const each of Object.values(Object.freeze(value))) freeze(each)
  return value
}

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

/** A copy in which each schema has its `x-constraints` as keywords of its own. */
function withAllConstraints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAllConstraints)
  if (!isObject(value)) return value
  const { 'x-constraints': constraints, ...rest } = value
  const all = { ...rest, ...(constraints as Json | undefined) }
  return Object.fromEntries(Object.entries(all).map(([name, each]) => [name, withAllConstraints(each)]))
}

describe('openapi.yaml for other tools', () => {
  it('is valid OpenAPI 3.1 for a parser that knows none of its extensions', async () => {
    const api = await SwaggerParser.validate(ownDocument() as never)
    expect(api.info.title).toBe('Domain Monitoring Service API')
  })

  it('has references that lead such a parser where they lead us', async () => {
    const { source } = contract.document
    const dereferenced = await SwaggerParser.dereference(structuredClone(source) as never)
    expect(withAllConstraints(dereferenced)).toEqual(resolved)
  })
})

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

  it.each(examples.map(({ pointer, value }) => [pointer, value['example']]))(
    'obey their schema at %s',
    (pointer, example) => {
      const holder = objectAt(resolved, String(pointer))
      const validate = ajv.compile((holder['schema'] ?? holder) as Json)
      validate(example)
      expect(validate.errors ?? []).toEqual([])
    },
  )

  it('stand at headers, schemas and responses', () => {
    const places = new Set(examples.map(({ pointer }) => pointer.split('/').slice(1, 3).join('/')))
    expect([...places].toSorted()).toEqual([
      'components/headers',
      'components/responses',
      'components/schemas',
      'paths/~1domaingroups',
    ])
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
      expect(response.checkHeaders(Object.fromEntries(headers)), `${status} headers`).toEqual([])
    }
  })

  it.each(refusals)('of %s with %d say what the catalogue says', (_, status, operation) => {
    for (const [name, body] of examplesIn(objectAt(described(operation), `/responses/${status}`))) {
      const { code, message } = objectAt(body, '/error') as { code: ErrorCode; message: string }
      const entry = objectAt(source, `/components/x-errors/${code}`)
      const templates = [entry, ...Object.values((entry['reasons'] ?? {}) as Record<string, Json>)]
      const fitting = templates.filter(({ message: template }) => madeFrom(String(template)).test(message))
      expect(fitting.length, `${name}: ${message}`).toBeGreaterThan(0)
    }
  })

  it.each(operations)('of the success of %s say the default of their message', (_, operation) => {
    const { status, defaults } = operation.success
    for (const [, body] of examplesIn(objectAt(described(operation), `/responses/${status}`))) {
      expect(valueAt(body, '/data/message')).toBe(defaults?.['message'])
    }
  })

  /** Matches what a message template may become. */
  function madeFrom(template: string): RegExp {
    const literal = template.replaceAll(/[.*+?^$()[\]\\|]/g, '\\$&')
    return new RegExp(`^${literal.replaceAll(/\{\w+\}/g, '.+')}$`)
  }
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

  it('name a property that they require', () => {
    const nameless = [...objectsIn(source)]
      .filter(
        ({ pointer, value }) => Array.isArray(value['required']) && !/\/x-(assumption|constraints)\//.test(pointer),
      )
      .flatMap(({ pointer, value }) =>
        (value['required'] as string[])
          .filter((name) => !Object.hasOwn((value['properties'] ?? {}) as Json, name))
          .map((name) => `${pointer} ${name}`),
      )
    expect(nameless).toEqual([])
  })
})

describe('what generators make something else of', () => {
  /** All but what our extensions hold, with which other tools do nothing. */
  const plain = [...objectsIn(source)].filter(({ pointer }) => !/\/(x-[a-z-]+|example|value)(\/|$)/.test(pointer))

  it('is in no schema: sets, negations, steps of numbers, boolean schemas, and formats that few tools know', () => {
    const words = ['uniqueItems', 'not', 'multipleOf', 'anyOf', 'allOf', 'if', 'propertyNames', 'patternProperties']
    const odd = plain.flatMap(({ pointer, value }) =>
      words.filter((word) => Object.hasOwn(value, word)).map((word) => `${pointer}/${word}`),
    )
    expect(odd).toEqual([])
    // Not even in an extension: some generators visit everything that a schema has.
    const booleans = [...objectsIn(valueAt(source, '/components/schemas'))].filter(({ value: { properties } }) =>
      Object.values(isObject(properties) ? properties : {}).some((schema) => typeof schema === 'boolean'),
    )
    expect(booleans.map(({ pointer }) => pointer)).toEqual([])
    const formats = plain.flatMap(({ value }) => (typeof value['format'] === 'string' ? [value['format']] : []))
    expect(new Set(formats)).toEqual(new Set(['hostname', 'uuid']))
  })

  it('is no name of a component that another component has, or that a generator gives to a part of an operation', () => {
    const { schemas, responses, headers } = source['components'] as Record<string, Json>
    const parts = ['', 'Request', 'RequestBody', 'Response', 'Params', 'Parameters', 'Body', 'Data', 'Result']
    const given = contract.operations.flatMap(({ id }) => parts.map((part) => `${id}${part}`))
    const names = [schemas, responses, headers].flatMap((components) => Object.keys(components ?? {}))
    const all = [...names, ...given].map((name) => name.toLowerCase())
    expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([])
    expect(Object.keys(source['components'] as Json)).not.toContain('parameters')
  })

  it('is no anonymous object: each is a component', () => {
    const places = plain.filter(({ value }) => value['type'] === 'object').map(({ pointer }) => pointer)
    expect(places.filter((pointer) => !/^\/components\/schemas\/\w+$/.test(pointer))).toEqual([])
  })

  it('is no extension beside the statuses of responses', () => {
    const responses = plain.filter(({ pointer }) => pointer.endsWith('/responses'))
    expect(responses.length).toBeGreaterThan(8)
    expect(responses.flatMap(({ value }) => Object.keys(value).filter((key) => key.startsWith('x-')))).toEqual([])
  })

  it('is no text without quotes that YAML 1.1 takes for a boolean, a time or a number of base 60', () => {
    const odd = /(?:^|[:[,{-] )(?:y|n|yes|no|on|off|\d+(?::[0-5]?\d)+|\d{4}-\d\d-\d\d\S*|0\d+)(?=\s*(?:[,}\]#]|$))/gim
    const lines = readFileSync(OWN_DOCUMENT, 'utf8').split('\n')
    expect(lines.filter((line) => line.replaceAll(/'[^']*'|"[^"]*"/g, '').match(odd))).toEqual([])
    expect('testing: n, dmarc: 99.2'.match(odd)).not.toBeNull()
  })

  it('is no term that only this program has, in a description', () => {
    const settings = Object.keys(source['x-settings'] as Json).filter((name) => name.includes('-'))
    const terms = [/\bx-(?!request|ratelimit)[a-z]/i, /\bsettings? `/, /\boverlay/, /\bassumption/, /\bcatalogue/]
    const odd = plain.filter(({ value: { description = '', summary = '' } }) => {
      const text = `${summary} ${typeof description === 'string' ? description : ''}`
      return terms.some((term) => term.test(text)) || settings.some((name) => text.includes(`\`${name}\``))
    })
    expect(odd.map(({ pointer }) => pointer)).toEqual([])
  })
})

describe('operations in openapi.yaml', () => {
  it('are the eight of the service', () => {
    expect(contract.operations.map(({ id, method, path }) => `${method} ${path} ${id}`).toSorted()).toEqual([
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

  it.each(operations)('%s has an operationId of its own and succeeds with one explicit status', (id, operation) => {
    expect(described(operation)['operationId']).toBe(id)
    expect(contract.operations.filter((other) => other.id === id)).toHaveLength(1)
    const statuses = Object.keys(objectAt(described(operation), '/responses')).filter((key) => !key.startsWith('x-'))
    expect(statuses.filter((status) => /^2[0-9]{2}$/.test(status))).toEqual(['200'])
    expect(statuses.filter((status) => !/^[245][0-9]{2}$/.test(status))).toEqual([])
  })

  it.each(refusals)('%s says with which codes it answers %d', (_, status, operation) => {
    const codes = valueAt(described(operation), `/responses/${status}/x-codes`)
    expect(codes).toEqual(expect.arrayContaining([expect.any(String)]))
  })

  it('carry rules with ids of their own and the words of the specification, each one sentence', () => {
    const rules = [...rulesOf(contract.document)]
    expect(rules.length).toBeGreaterThan(30)
    const declared = [...objectsIn(source)].flatMap(({ value }) => Object.keys((value['x-rule'] ?? {}) as Json))
    expect(rules.map(([id]) => id)).toEqual(declared)
    for (const [id, sentence] of rules) expect(sentence, id).toMatch(/^[^\n]*[^.\s]\.$/)
  })

  it.each(['/dmarc', '/domains', '/domaingroups'])('share the quota of the path %s', (path) => {
    const quotas = contract.operations.filter((operation) => operation.path === path).map(({ quota }) => quota)
    const stated = objectAt(source, `/paths/~1${path.slice(1)}/x-quota`)
    for (const quota of quotas) expect(quota).toEqual(stated)
  })
})

describe('error codes', () => {
  it('are the same in the catalogue, in the code and in the schema ErrorCode, in order of precedence', () => {
    const { 'x-assumption': _, ...entries } = objectAt(source, '/components/x-errors')
    expect(Object.keys(entries)).toEqual([...ERROR_CODES])
    expect(valueAt(source, '/components/schemas/ErrorCode/enum')).toEqual([...ERROR_CODES])
    expect(catalogue.codes).toEqual([...ERROR_CODES])
  })

  it('stand in the document under the status of the catalogue already, so that placing them changes nothing', () => {
    expect(placeCodes(source, Catalogue.read(source, ERROR_CODES, 'openapi.yaml'), 'openapi.yaml')).toEqual(source)
  })

  it('leave the document as it is when it is loaded', async () => {
    expect((await readDocument()).source).toEqual(ownDocument())
  })

  it('are not placed in the document that is given but in a copy', () => {
    const document = ownDocument()
    Object.assign(objectAt(document, '/components/x-errors/not_found'), { status: 400 })
    const before = structuredClone(document)
    const placed = placeCodes(document, Catalogue.read(document, ERROR_CODES, 'openapi.yaml'), 'openapi.yaml')
    expect(document).toEqual(before)
    expect(placed).not.toEqual(before)
  })

  const moving = alternatives.filter(([id]) => ['client-request-ids', 'quota-headers', 'status-not-found'].includes(id))
  it.each(moving)(
    'and headers of %s/%d are placed in no part that is shared with another document',
    async (id, number) => {
      const shared = freeze(ownDocument())
      const overlay = asOverlay({ overlay: '1.0.0', actions: actionsFor(`${id}-${number}`) }, 'alternative')
      // Who changes what is frozen throws.
      const { document } = await compileContract({ source: shared, overlays: [overlay], validated: true })
      expect(document.source).not.toEqual(shared)
    },
  )

  it.each(refusals)('of %s with %d make bodies that the response accepts', (_, status, __, response) => {
    expect(response.codes.size).toBeGreaterThan(0)
    for (const code of response.codes) {
      const answers = waysTo(code as ErrorCode).map((problem) => catalogue.answer(problem))
      const here = answers.filter((answer) => answer.status === status)
      expect(here.length, code).toBeGreaterThan(0)
      for (const { message } of here) {
        expect(response.check({ success: false, error: { code, message } })).toEqual([])
      }
    }
  })

  it('are all answered by an operation', () => {
    const answered = new Set(refusals.flatMap(([, , , { codes }]) => [...codes]))
    expect(ERROR_CODES.filter((code) => !answered.has(code))).toEqual([])
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

  /** The problems that lead to a code within an operation: without a reason, and with each that it has. */
  function waysTo(code: ErrorCode): Problem[] {
    const reasons = Object.entries((valueAt(source, `/components/x-errors/${code}/reasons`) ?? {}) as Json)
    const inside = reasons.filter(([, reason]) => valueAt(reason, '/outside') !== true)
    return [undefined, ...inside.map(([reason]) => reason)].map((reason) => ({
      code,
      ...(reason !== undefined && { reason }),
      field: '/domains/0',
      value: 'example.com',
    }))
  }
})
