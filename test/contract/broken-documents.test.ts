import { describe, expect, it } from 'vitest'
import { compileApi } from '../../src/contract/api-compiler.ts'
import type { Assumption } from '../../src/contract/assumptions.ts'
import { compileContract } from '../../src/contract/contract.ts'
import { ADMIN_CODES } from '../../src/contract/control-api.ts'
import { checkSource, prepareDocument, readSource } from '../../src/contract/document.ts'
import { ASSERTIONS, extensionsOf } from '../../src/contract/extensions.ts'
import { createCompiler } from '../../src/contract/schema-compiler.ts'
import { expandShortForm } from '../../src/contract/short-form.ts'
import { type Json, pointTo, stepsOf, valueAt } from '../../src/ground/json.ts'
import { ONE_SENTENCE, objectAt, ownDocument } from '../support/own-document.ts'

/** Puts a value at a JSON pointer; what is `undefined` is taken out. */
function put(document: Json, pointer: string, value: unknown): void {
  const steps = stepsOf(pointer)
  const last = steps.pop() ?? ''
  const holder = objectAt(document, steps.reduce<string>(pointTo, ''))
  if (value === undefined) delete holder[last]
  else holder[last] = value
}

const GET = '/paths/~1domains/get'
const POST = '/paths/~1domains/post'
const PATCH_BODY = '/paths/~1domaingroups/patch/requestBody/content/application~1json/schema'
const REMOVED = `${PATCH_BODY}/properties/remove_domains`
const DOMAINS_LISTED = '/components/responses/DomainsListed'
const SCHEMAS = '/components/schemas'
const ERRORS = '/x-errors'
const ROUTING = '/x-settings/routing/x-assumption'
const LISTED = `${GET}/x-rule/all-domains-listed`
const CHANGES = `${SCHEMAS}/DomainGroupChanges/properties`

const KNOWN_EXTENSIONS =
  'x-assumption, x-codes, x-codes-by-setting, x-constraints, x-error, x-error-defaults, x-errors, x-quota, x-retry-after, x-rule, x-settings'
const SETTINGS = Object.keys(objectAt(ownDocument(), '/x-settings')).join(', ')
const MISSING = 'The value is missing.'
const ONE_SUCCESS = 'An operation has one successful response with an explicit status.'
const EXPLICIT = 'A response has an explicit status.'
const NO_SUCH_CODE = 'The catalogue has no entry for the code no_such_code.'
const IN_CATALOGUE = { at: '/x-errors' }
const NOWHERE = 'Missing $ref pointer "#/components/nowhere". Token "nowhere" does not exist.'
const CIRCULAR = 'The API contains circular references.'
const NO_STEP = 'Percentages need a multipleOf that divides 1, such as 0.1, in x-constraints.'
const TWICE = 'not have the same item twice, as at 0 and 1'
const KEYWORDS = ASSERTIONS.map((each) => JSON.stringify(each)).join(', ')
const only = (fields: string) => `The value is not allowed here; allowed fields are ${fields}.`

function strange(pointer: string): Breakage {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1)
  return [pointer, { value: 'blue' }, `The extension ${name} is unknown; known are ${KNOWN_EXTENSIONS}.`]
}

function mustBe(pointer: string, value: unknown, what: string, below = ''): Breakage {
  const wrong = below === '' ? value : valueAt(value, below)
  return [pointer, value, `The value is ${JSON.stringify(wrong)} but must ${what}.`, below]
}

function codeless(pointer: string, value: unknown, place = pointer): Breakage {
  const keyword = place.slice(place.lastIndexOf('/') + 1)
  return [pointer, value, `No x-error gives a code to a violation of ${keyword}.`, { at: place }]
}

function uncompilable(pointer: string, value: unknown, reason: string, place: string | { at: string }): Breakage {
  return [pointer, value, `The schema cannot be compiled: ${reason}.`, place]
}

/** What is put where, and why the document is refused: at that place, below it, or at another one. */
type Breakage = [pointer: string, value: unknown, reason: string, place?: string | { at: string }]

const EXTENSIONS: Breakage[] = [
  strange('/x-colour'),
  ['/x-settings/routing/x-colour', 'blue', only('value, description, x-assumption')],
  [`${ROUTING}/alternatives`, undefined, MISSING],
  mustBe(`${ROUTING}/alternatives`, [{}], 'have at least 1 field', '/0'),
  ['/paths', undefined, 'The document has no paths.', { at: '' }],
  ['/paths/~1dmarc/x-quota/limit', undefined, MISSING],
  mustBe('/components/responses/NotFound/x-codes', ['not_found', 'not_found'], TWICE),
  [`${ERRORS}/not_found/message`, undefined, MISSING],
  [`${ERRORS}/not_found/reasons/path/outsde`, true, only('status, message, x-assumption, code, as, outside')],
  mustBe(`${GET}/x-rule`, ['All domains.'], 'be of type object'),
  [LISTED, { refuses: ['unauthorized'] }, MISSING, '/says'],
  mustBe('/components/responses/RateLimited/x-retry-after', 'yes', 'be of type boolean'),
]

const CODES: Breakage[] = [
  ['/components/responses/NotFound/x-codes', ['not_found', 'no_such_code'], NO_SUCH_CODE, IN_CATALOGUE],
  [`${GET}/x-codes-by-setting`, { routing: { 'before-key': 'no_such_code' } }, NO_SUCH_CODE, IN_CATALOGUE],
  [`${ERRORS}/teapot`, { status: 418, message: 'No.' }, 'No behaviour answers with the code teapot.'],
  [`${ERRORS}/not_monitored`, undefined, 'The catalogue needs an entry for the code not_monitored.', { at: ERRORS }],
  [ERRORS, undefined, 'The catalogue needs an entry for the code unauthorized.'],
  codeless(`${SCHEMAS}/Hostname/enum`, ['example.com']),
  codeless(`${CHANGES}/add_domains/uniqueItems`, true, `${PATCH_BODY}/properties/add_domains/uniqueItems`),
  codeless(`${SCHEMAS}/Hostname/x-constraints`, { maxLength: 20 }, `${SCHEMAS}/Hostname/maxLength`),
  codeless(`${CHANGES}/remove_domains/allOf`, [{ maxItems: 50 }], `${REMOVED}/allOf/0/maxItems`),
  [
    `${SCHEMAS}/Percentage/x-constraints`,
    { multiplesOf: 0.1 },
    `The value has the field "multiplesOf", whose name must be one of ${KEYWORDS}.`,
  ],
  [`${SCHEMAS}/Percentage/x-constraints`, undefined, NO_STEP, { at: `${SCHEMAS}/Percentage` }],
]

const SETTING_VALUES: Breakage[] = [
  ['/x-settings/colour', { value: 'blue' }, `There is no setting colour; there are ${SETTINGS}.`],
  ['/x-settings/routing', undefined, 'The setting routing needs a value.'],
  ['/x-settings/routing/value', undefined, MISSING],
  mustBe('/x-settings/body-limit/value', 0, 'be at least 1'),
  mustBe('/x-settings/routing/value', 'never', 'be one of "before-key", "after-key"'),
  mustBe('/x-settings/refresh/value', '24:00', 'be a time of day such as 04:00'),
  ['/x-settings/plans/value/lowest', 'sand', 'The lowest plan must be one of the order.'],
]

const OPENAPI: Breakage[] = [
  ['/info/title', undefined, MISSING],
  [`${GET}/responses/401`, { $ref: '#/components/nowhere' }, NOWHERE, { at: '' }],
  ['/components/responses/NotFound', { $ref: '#/components/responses/NotFound' }, CIRCULAR, { at: '' }],
  [
    `${GET}/responses/401`,
    { $ref: 'errors.yaml#/401' },
    'The reference errors.yaml#/401 leads nowhere in it.',
    { at: '' },
  ],
  [`${GET}/operationId`, undefined, 'The operation needs an operationId.', { at: GET }],
  [`${POST}/responses/202`, { $ref: '#/components/responses/DomainsAdded' }, ONE_SUCCESS, { at: `${POST}/responses` }],
  [`${GET}/responses/default`, { $ref: '#/components/responses/InternalError' }, EXPLICIT],
  [`${DOMAINS_LISTED}/content`, undefined, 'A response needs content.', { at: `${GET}/responses/200` }],
]

const IDS = `${SCHEMAS}/DomainGroupId`
const UNCOMPILABLE: Breakage[] = [
  uncompilable(`${SCHEMAS}/DomainGroupName/pattern`, '(', 'Invalid regular expression: /(/u: Unterminated group', {
    at: '/paths/~1domaingroups/get/responses/200/content/application~1json/schema',
  }),
  uncompilable(`${SCHEMAS}/Hostname/minLenght`, 1, 'strict mode: unknown keyword: "minLenght"', {
    at: `${POST}/requestBody/content/application~1json/schema`,
  }),
  uncompilable(LISTED, { says: 'All.', when: { requires: [] } }, 'strict mode: unknown keyword: "requires"', '/when'),
  [
    '/components/headers/X-Request-Id/schema/format',
    'ulid',
    'Request ids are made as format uuid or as pattern ^[0-9a-f]{32}$.',
    { at: '/components/headers/X-Request-Id/schema' },
  ],
  [`${IDS}/pattern`, undefined, 'Ids are made from pattern and minLength, so the schema needs both.', { at: IDS }],
  [IDS, { type: 'string', minLength: 5, pattern: '^[0-9]+$' }, 'The schema admits fewer than a million ids.'],
]

/** Reads a document as one that a user has changed. */
async function load(source: Json) {
  await checkSource(source)
  return compileContract(source, { atOnce: true })
}

describe('a document is refused at the start with place and reason', () => {
  describe.each([
    ['extensions', EXTENSIONS],
    ['codes', CODES],
    ['settings', SETTING_VALUES],
    ['OpenAPI', OPENAPI],
    ['schemas', UNCOMPILABLE],
  ])('%s', (_, breakages) => {
    it.each(breakages)('for %s as %j: %s', async (pointer, value, reason, place = '') => {
      const source = ownDocument()
      put(source, pointer, value)
      const error = await load(source).catch((thrown: unknown) => thrown)
      const at = typeof place === 'string' ? pointer + place : place.at
      expect(reason).toMatch(ONE_SENTENCE)
      expect(String(error)).toBe(`ContractError: openapi.yaml${at === '' ? '' : `#${at}`}: ${reason}`)
    })
  })
})

describe('a document is taken', () => {
  const EXAMPLE = `${DOMAINS_LISTED}/content/application~1json/example`
  const HEADER = { description: 'Who.', schema: { type: 'string' } }

  it.each<[how: string, pointer: string, value: unknown]>([
    ['of a property of a schema', `${SCHEMAS}/DmarcRecord/properties/x-colour`, { type: 'string' }],
    ['of a field of an example', `${EXAMPLE}/data/x-colour`, 'blue'],
    ['of the header of a response', `${DOMAINS_LISTED}/headers/x-served-by`, HEADER],
    ['in an alternative, which is not chosen', `${ROUTING}/alternatives`, [{ 'x-colour': 'blue' }]],
  ])('with what looks like an extension as the name %s', async (_, pointer, value) => {
    const source = ownDocument()
    put(source, pointer, value)
    expect((await load(source)).operations).toHaveLength(8)
  })

  it('of the package, with every schema compiled', async () => {
    expect((await load(ownDocument())).operations).toHaveLength(8)
    const file = 'src/admin/openapi.yaml'
    const control = expandShortForm(await readSource([], file))
    await checkSource(control, file)
    const document = prepareDocument(control, { file, codes: ADMIN_CODES })
    const compile = createCompiler({ 'date-time': true, duration: true }, { validateSchema: true })
    expect(compileApi(document, { compile, atOnce: true }).operations.length).toBeGreaterThan(40)
  })
})

describe('ids of assumptions and rules', () => {
  it('are words with hyphens, and each is there once', () => {
    const ids = extensionsOf(ownDocument()).flatMap(({ key, value }) =>
      key === 'x-assumption' ? [(value as Assumption).id] : key === 'x-rule' ? Object.keys(value as Json) : [],
    )
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })
})
