import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { Catalogue } from '../../src/contract/catalogue.ts'
import { placeCodes } from '../../src/contract/codes.ts'
import { compileContract, loadContract } from '../../src/contract/contract.ts'
import { rulesOf } from '../../src/contract/document.ts'
import { SCHEMA_EXTENSIONS } from '../../src/contract/extensions.ts'
import type { Bucket, Plan } from '../../src/contract/names.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { ERROR_CODES } from '../../src/domain/errors.ts'
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

  it('stand at headers, schemas and responses', () => {
    const places = new Set(examples.map(({ pointer }) => pointer.split('/').slice(1, 3).join('/')))
    const components = ['components/headers', 'components/responses', 'components/schemas']
    expect([...places].toSorted()).toEqual([...components, 'paths/~1domaingroups'])
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
      .filter(({ pointer }) => !/\/x-(assumption|constraints)\//.test(pointer))
      .flatMap(({ pointer, value: { required, properties = {} } }) => {
        const names: string[] = Array.isArray(required) ? required : []
        return names.filter((name) => !Object.hasOwn(properties as Json, name)).map((name) => `${pointer} ${name}`)
      })
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

  it('carry rules with ids of their own and the words of the specification, each one sentence', () => {
    const rules = [...rulesOf(contract.document)]
    expect(rules.length).toBeGreaterThan(30)
    const declared = [...objectsIn(source)].flatMap(({ value }) => Object.keys((value['x-rule'] ?? {}) as Json))
    expect(rules.map(([id]) => id)).toEqual(declared)
    for (const [id, sentence] of rules) expect(sentence, id).toMatch(/^[^\n]*[^.\s]\.$/)
  })

  it('have plans and paths of the names that an editor proposes', () => {
    const plans: Record<Plan, true> = { 'below-stone': true, stone: true, 'above-stone': true }
    const buckets: Record<Bucket, true> = { dmarc: true, domains: true, domaingroups: true }
    expect(Object.keys(plans)).toEqual(contract.settings.plans.order)
    const paths = new Set(contract.operations.map(({ path }) => path.slice(1)))
    expect(Object.keys(buckets)).toEqual([...paths])
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

  const moving = alternatives.filter(([id]) => ['client-request-ids', 'quota-headers', 'status-not-found'].includes(id))
  it.each(moving)('and headers of %s/%d are placed in no part that documents share', async (id, number) => {
    const shared = freeze(ownDocument())
    const overlay = asOverlay({ overlay: '1.0.0', actions: actionsFor(`${id}-${number}`) }, 'alternative')
    // Who changes what is frozen throws.
    const { document } = await compileContract({ source: shared, overlays: [overlay], validated: true })
    expect(document.source).not.toEqual(shared)
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
