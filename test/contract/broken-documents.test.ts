import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { ASSERTIONS } from '../../src/contract/constraints.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { ContractError } from '../../src/contract/contract-error.ts'
import type { Json } from '../../src/ground/json.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { budget } from '../support/budget.ts'
import { ONE_SENTENCE, objectAt, ownDocument } from '../support/own-document.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Puts `fields` into the object at `pointer`; what is `undefined` is taken out. */
const change = (pointer: string, fields: Json) => (document: Json) => {
  const holder = objectAt(document, pointer)
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) delete holder[name]
    else holder[name] = value
  }
}

const KNOWN_EXTENSIONS =
  'x-assumption, x-codes, x-codes-by-setting, x-constraints, x-error, x-error-defaults, x-errors, x-quota, x-retry-after, x-rule, x-settings'
const SETTINGS = Object.keys(objectAt(ownDocument(), '/x-settings')).join(', ')
const CODES_OF_POST = ['invalid_request_body', 'no_such_code']

interface Breakage {
  how: string
  break: (document: Json) => void
  /** Where the error is said to be, and why; what follows the name of the file. */
  place: string
  reason: string
}

const GET = '/paths/~1domains/get'
const HOSTNAME = '/components/schemas/Hostname'
const CHANGES = '/components/schemas/DomainGroupChanges'
const ERRORS = '/components/x-errors'

const EXTENSIONS: Breakage[] = [
  {
    how: 'an unknown extension at the root',
    break: change('', { 'x-colour': 'blue' }),
    place: '#/x-colour',
    reason: `The extension x-colour is unknown; known are ${KNOWN_EXTENSIONS}.`,
  },
  {
    how: 'an unknown extension of an operation',
    break: change(GET, { 'x-codez': ['unauthorized'] }),
    place: '#/paths/~1domains/get/x-codez',
    reason: `The extension x-codez is unknown; known are ${KNOWN_EXTENSIONS}.`,
  },
  {
    how: 'an unknown extension of a schema',
    break: change(HOSTNAME, { 'x-errors-here': {} }),
    place: '#/components/schemas/Hostname/x-errors-here',
    reason: `The extension x-errors-here is unknown; known are ${KNOWN_EXTENSIONS}.`,
  },
  {
    how: 'an unknown extension of a schema below the name of a property',
    break: change('/components/schemas/DmarcRecord/properties/count', { 'x-unit': 'mails' }),
    place: '#/components/schemas/DmarcRecord/properties/count/x-unit',
    reason: `The extension x-unit is unknown; known are ${KNOWN_EXTENSIONS}.`,
  },
  {
    how: 'an unknown extension among the settings',
    break: change('/x-settings', { 'x-colour': { value: 'blue' } }),
    place: '#/x-settings/x-colour',
    reason: `The extension x-colour is unknown; known are ${KNOWN_EXTENSIONS}.`,
  },
  {
    how: 'an unknown extension of one setting',
    break: change('/x-settings/head', { 'x-colour': 'blue' }),
    place: '#/x-settings/head/x-colour',
    reason: 'The value is not allowed here; allowed fields are value, description, x-assumption.',
  },
  {
    how: 'an extension in an array of the document',
    break: change('/tags/0', { 'x-colour': 'blue' }),
    place: '#/tags/0/x-colour',
    reason: `The extension x-colour is unknown; known are ${KNOWN_EXTENSIONS}.`,
  },
  {
    how: 'an x-assumption without alternatives',
    break: change('/x-settings/head/x-assumption', { alternatives: undefined }),
    place: '#/x-settings/head/x-assumption/alternatives',
    reason: 'The value is missing.',
  },
  {
    how: 'an x-assumption with a field too many',
    break: change('/x-settings/head/x-assumption', { why: 'Because.' }),
    place: '#/x-settings/head/x-assumption/why',
    reason: 'The value is not allowed here; allowed fields are id, spec, alternatives, reason, unobservable.',
  },
  {
    how: 'an x-assumption that does not say why it has no alternative',
    break: change('/x-settings/head/x-assumption', { alternatives: [] }),
    place: '#/x-settings/head/x-assumption/reason',
    reason: 'The value is missing.',
  },
  {
    how: 'an x-assumption whose id is not in kebab-case',
    break: change('/x-settings/head/x-assumption', { id: 'Head Requests' }),
    place: '#/x-settings/head/x-assumption/id',
    reason: 'The value is "Head Requests" but must be lower-case words and digits, joined by hyphens.',
  },
  {
    how: 'an x-assumption with an alternative that changes nothing',
    break: change('/x-settings/head/x-assumption', { alternatives: [{}] }),
    place: '#/x-settings/head/x-assumption/alternatives/0',
    reason: 'The value is {} but must have at least 1 field.',
  },
  {
    how: 'an x-assumption with an alternative that is no patch',
    break: change('/x-settings/head/x-assumption', { alternatives: ['wrong-method'] }),
    place: '#/x-settings/head/x-assumption/alternatives/0',
    reason: 'The value is "wrong-method" but must be of type object.',
  },
  {
    how: 'an x-assumption that is text',
    break: change('/x-settings/head', { 'x-assumption': 'HEAD is not described.' }),
    place: '#/x-settings/head/x-assumption',
    reason: 'The value is "HEAD is not described." but must be of type object.',
  },
  {
    how: 'an x-quota without a limit',
    break: change('/paths/~1dmarc/x-quota', { limit: undefined }),
    place: '#/paths/~1dmarc/x-quota/limit',
    reason: 'The value is missing.',
  },
  {
    how: 'an x-quota of no request',
    break: change('/paths/~1dmarc/x-quota', { limit: 0 }),
    place: '#/paths/~1dmarc/x-quota/limit',
    reason: 'The value is 0 but must be at least 1.',
  },
  {
    how: 'an x-quota whose window is text',
    break: change('/paths/~1dmarc/x-quota', { window: '1h' }),
    place: '#/paths/~1dmarc/x-quota/window',
    reason: 'The value is "1h" but must be of type integer.',
  },
  {
    how: 'an x-quota that is lower in the grace period',
    break: change('/paths/~1dmarc/x-quota', { grace: 0.5 }),
    place: '#/paths/~1dmarc/x-quota/grace',
    reason: 'The value is 0.5 but must be at least 1.',
  },
  {
    how: 'x-codes that are no list',
    break: change('/components/responses/NotFound', { 'x-codes': 'not_found' }),
    place: '#/components/responses/NotFound/x-codes',
    reason: 'The value is "not_found" but must be of type array.',
  },
  {
    how: 'x-codes that are empty',
    break: change('/components/responses/NotFound', { 'x-codes': [] }),
    place: '#/components/responses/NotFound/x-codes',
    reason: 'The value is [] but must have at least 1 item.',
  },
  {
    how: 'x-codes that name a code twice',
    break: change('/components/responses/NotFound', { 'x-codes': ['not_found', 'not_found'] }),
    place: '#/components/responses/NotFound/x-codes',
    reason: 'The value is ["not_found","not_found"] but must not have the same item twice, as at 0 and 1.',
  },
  {
    how: 'an x-codes-by-setting that names no values',
    break: change('', { 'x-codes-by-setting': { head: 'not_found' } }),
    place: '#/x-codes-by-setting/head',
    reason: 'The value is "not_found" but must be of type object.',
  },
  {
    how: 'an x-codes-by-setting of a setting that there is not',
    break: change(GET, { 'x-codes-by-setting': { heads: { get: 'not_found' } } }),
    place: '#/paths/~1domains/get/x-codes-by-setting/heads',
    reason: 'There is no setting heads.',
  },
  {
    how: 'an x-codes-by-setting with a code that there is not',
    break: change(GET, { 'x-codes-by-setting': { head: { get: 'no_such_code' } } }),
    place: '#/paths/~1domains/get/x-codes-by-setting/head/get',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'an x-errors without a message',
    break: change(`${ERRORS}/not_found`, { message: undefined }),
    place: '#/components/x-errors/not_found/message',
    reason: 'The value is missing.',
  },
  {
    how: 'an x-errors with the status of a success',
    break: change(`${ERRORS}/not_found`, { status: 200 }),
    place: '#/components/x-errors/not_found/status',
    reason: 'The value is 200 but must be at least 400.',
  },
  {
    how: 'an x-errors with a misspelt field of a reason',
    break: change(`${ERRORS}/not_found/reasons/path`, { outsde: true }),
    place: '#/components/x-errors/not_found/reasons/path/outsde',
    reason: 'The value is not allowed here; allowed fields are status, code, as, message, outside, x-assumption.',
  },
  {
    how: 'an x-rule that is a list',
    break: change(GET, { 'x-rule': ['All domains.'] }),
    place: '#/paths/~1domains/get/x-rule',
    reason: 'The value is ["All domains."] but must be of type object.',
  },
  {
    how: 'an x-rule without words',
    break: change(`${GET}/x-rule`, { 'all-domains-listed': '' }),
    place: '#/paths/~1domains/get/x-rule/all-domains-listed',
    reason: 'The value is "" but must have at least 1 character.',
  },
  {
    how: 'an x-rule whose id is not in kebab-case',
    break: change(`${GET}/x-rule`, { All_Domains: 'All.' }),
    place: '#/paths/~1domains/get/x-rule',
    reason: 'The value has the field "All_Domains", whose name must be lower-case letters, digits and hyphens.',
  },
  {
    how: 'an x-rule that is an object without a sentence',
    break: change(`${GET}/x-rule`, { 'all-domains-listed': { refuses: ['unauthorized'] } }),
    place: '#/paths/~1domains/get/x-rule/all-domains-listed/says',
    reason: 'The value is missing.',
  },
  {
    how: 'an x-rule with a misspelt field',
    break: change(`${GET}/x-rule`, { 'all-domains-listed': { says: 'All.', refuse: ['unauthorized'] } }),
    place: '#/paths/~1domains/get/x-rule/all-domains-listed/refuse',
    reason: 'The value is not allowed here; allowed fields are says, refuses, when, unobservable.',
  },
  {
    how: 'an x-rule that is shown by what is no code',
    break: change(`${GET}/x-rule`, { 'all-domains-listed': { says: 'All.', refuses: [401] } }),
    place: '#/paths/~1domains/get/x-rule/all-domains-listed/refuses/0',
    reason: 'The value is 401 but must be of type string.',
  },
  {
    how: 'an x-error that names no code',
    break: change(HOSTNAME, { 'x-error': { format: 400 } }),
    place: '#/components/schemas/Hostname/x-error/format',
    reason: 'The value is 400 but must be of type string.',
  },
  {
    how: 'an x-retry-after that is no truth value',
    break: change('/components/responses/RateLimited', { 'x-retry-after': 'yes' }),
    place: '#/components/responses/RateLimited/x-retry-after',
    reason: 'The value is "yes" but must be of type boolean.',
  },
]

const IDS: Breakage[] = [
  {
    how: 'an id that two assumptions share',
    break: change('/x-settings/refresh/x-assumption', { id: 'head' }),
    place: '#/x-settings/refresh/x-assumption',
    reason: 'The id head is taken by /x-settings/head/x-assumption.',
  },
  {
    how: 'an id that two rules share',
    break: change('/paths/~1domains/post/x-rule', { 'all-domains-listed': 'Once more.' }),
    place: '#/paths/~1domains/post/x-rule',
    reason: 'The id all-domains-listed is taken by /paths/~1domains/get/x-rule.',
  },
]

const CODES: Breakage[] = [
  {
    how: 'x-codes with a code that no catalogue has',
    break: change('/paths/~1domains/post/responses/400', { 'x-codes': CODES_OF_POST }),
    place: '#/paths/~1domains/post/responses/400/x-codes/1',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'an x-error with a code that no catalogue has',
    break: change(HOSTNAME, { 'x-error': { format: 'no_such_code' } }),
    place: '#/components/schemas/Hostname/x-error/format',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'an x-error-defaults with a code that no catalogue has',
    break: change('/x-error-defaults', { type: 'no_such_code' }),
    place: '#/x-error-defaults/type',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'an x-rule that is shown by a code that no catalogue has',
    break: change(`${GET}/x-rule`, { 'all-domains-listed': { says: 'All.', refuses: ['/plan', 'no_such_code/plan'] } }),
    place: '#/paths/~1domains/get/x-rule/all-domains-listed/refuses/1',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'a reason that is answered with a code that no catalogue has',
    break: change(`${ERRORS}/not_found/reasons/method`, { code: 'no_such_code' }),
    place: '#/components/x-errors/not_found/reasons/method/code',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'a reason within operations that is answered with another code',
    break: change(`${ERRORS}/invalid_request_body/reasons/absent`, { code: 'invalid_json' }),
    place: '#/components/x-errors/invalid_request_body/reasons/absent/code',
    reason: 'Only a reason that is outside of every operation can have another code.',
  },
  {
    how: 'a precedence of a code that no catalogue has',
    break: change('/x-settings/precedence', { value: ['missing_id', 'no_such_code'] }),
    place: '#/x-settings/precedence/value/1',
    reason: 'The code no_such_code is not in the catalogue /components/x-errors.',
  },
  {
    how: 'a catalogue with a code that behaviour does not know',
    break: change(ERRORS, { teapot: { status: 418, message: 'No.' } }),
    place: '#/components/x-errors/teapot',
    reason: 'No behaviour answers with the code teapot.',
  },
  {
    how: 'a catalogue that lacks a code',
    break: change(ERRORS, { not_monitored: undefined }),
    place: '#/components/x-errors',
    reason: 'The catalogue needs an entry for the code not_monitored.',
  },
  {
    how: 'no catalogue',
    break: change('/components', { 'x-errors': undefined }),
    place: '#/components/x-errors',
    reason: 'The catalogue needs an entry for the code unauthorized.',
  },
  {
    how: 'an assertion of a request schema that no code stands for',
    break: change(HOSTNAME, { enum: ['example.com'] }),
    place: '#/components/schemas/Hostname/enum',
    reason: 'No x-error gives a code to a violation of enum.',
  },
  {
    how: 'an assertion of an inline request schema that no code stands for',
    break: change(`${CHANGES}/properties/add_domains`, { uniqueItems: true }),
    place:
      '#/paths/~1domaingroups/patch/requestBody/content/application~1json/schema/properties/add_domains/uniqueItems',
    reason: 'No x-error gives a code to a violation of uniqueItems.',
  },
  {
    how: 'a constraint of a request schema that no code stands for',
    break: change(HOSTNAME, { 'x-constraints': { maxLength: 20 } }),
    place: '#/components/schemas/Hostname/x-constraints/maxLength',
    reason: 'No x-error gives a code to a violation of maxLength.',
  },
  {
    how: 'a constraint that stands in the schema as well',
    break: change('/components/schemas/Percentage', { multipleOf: 0.01 }),
    place: '#/components/schemas/Percentage/multipleOf',
    reason: 'The x-constraints of this schema have multipleOf already.',
  },
  {
    how: 'a constraint that JSON Schema does not know',
    break: change('/components/schemas/Percentage', { 'x-constraints': { multiplesOf: 0.1 } }),
    place: '#/components/schemas/Percentage/x-constraints',
    reason: `The value has the field "multiplesOf", whose name must be one of ${ASSERTIONS.map((each) => JSON.stringify(each)).join(', ')}.`,
  },
  {
    how: 'no precision of percentages',
    break: change('/components/schemas/Percentage', { 'x-constraints': undefined }),
    place: '#/components/schemas/Percentage',
    reason: 'Percentages need a multipleOf that divides 1, such as 0.1, in x-constraints.',
  },
  {
    how: 'an assertion of a query parameter that no code stands for',
    break: change('/paths/~1domaingroups/get/parameters/0/schema', { maxLength: 8 }),
    place: '#/paths/~1domaingroups/get/parameters/0/maxLength',
    reason: 'No x-error gives a code to a violation of maxLength.',
  },
  {
    how: 'an assertion of a combined request schema that no code stands for',
    break: change(`${CHANGES}/properties/remove_domains`, { allOf: [{ maxItems: 50 }] }),
    place:
      '#/paths/~1domaingroups/patch/requestBody/content/application~1json/schema/properties/remove_domains/allOf/0/maxItems',
    reason: 'No x-error gives a code to a violation of maxItems.',
  },
  {
    how: 'no x-error-defaults',
    break: change('', { 'x-error-defaults': undefined }),
    place: '#/components/schemas/DomainsToAdd/required',
    reason: 'No x-error gives a code to a violation of required.',
  },
]

const SETTING_VALUES: Breakage[] = [
  {
    how: 'an unknown setting',
    break: change('/x-settings', { colour: { value: 'blue' } }),
    place: '#/x-settings/colour',
    reason: `There is no setting colour; there are ${SETTINGS}.`,
  },
  {
    how: 'a missing setting',
    break: change('/x-settings', { head: undefined }),
    place: '#/x-settings/head',
    reason: 'The setting head needs a value.',
  },
  {
    how: 'no settings',
    break: change('', { 'x-settings': undefined }),
    place: '#/x-settings/body-limit',
    reason: 'The setting body-limit needs a value.',
  },
  {
    how: 'a setting without a value',
    break: change('/x-settings/head', { value: undefined }),
    place: '#/x-settings/head/value',
    reason: 'The value is missing.',
  },
  {
    how: 'a setting that is a bare value',
    break: change('/x-settings', { head: 'get' }),
    place: '#/x-settings/head',
    reason: 'The value is "get" but must be of type object.',
  },
  {
    how: 'a setting below its range',
    break: change('/x-settings/body-limit', { value: 0 }),
    place: '#/x-settings/body-limit/value',
    reason: 'The value is 0 but must be at least 1.',
  },
  {
    how: 'a setting above its range',
    break: change('/x-settings/count-period', { value: 367 }),
    place: '#/x-settings/count-period/value',
    reason: 'The value is 367 but must be at most 366.',
  },
  {
    how: 'a setting that is none of its choices',
    break: change('/x-settings/routing', { value: 'never' }),
    place: '#/x-settings/routing/value',
    reason: 'The value is "never" but must be one of "before-key", "after-key".',
  },
  {
    how: 'a setting that is an order of its own',
    break: change('/x-settings/gate-order', { value: ['quota', 'key', 'plan'] }),
    place: '#/x-settings/gate-order/value',
    reason: 'The value is ["quota","key","plan"] but must be one of ["key","plan","quota"], ["key","quota","plan"].',
  },
  {
    how: 'a time of day that no clock shows',
    break: change('/x-settings/refresh', { value: '24:00' }),
    place: '#/x-settings/refresh/value',
    reason: 'The value is "24:00" but must be a time of day such as 04:00.',
  },
  {
    how: 'a plan that stands twice in the order',
    break: change('/x-settings/plans/value', { order: ['stone', 'stone'] }),
    place: '#/x-settings/plans/value/order',
    reason: 'The value is ["stone","stone"] but must not have the same item twice, as at 0 and 1.',
  },
  {
    how: 'a lowest plan that is none of the order',
    break: change('/x-settings/plans/value', { lowest: 'sand' }),
    place: '#/x-settings/plans/value/lowest',
    reason: 'The lowest plan must be one of the order.',
  },
]

const OPENAPI: Breakage[] = [
  {
    how: 'no title',
    break: change('/info', { title: undefined }),
    place: '#/info/title',
    reason: 'The value is missing.',
  },
  {
    how: 'a field that OpenAPI does not know',
    break: change(GET, { responseCodes: {} }),
    place: '#/paths/~1domains/get/responseCodes',
    reason: 'The value is not allowed here.',
  },
  {
    how: 'a reference to nothing',
    break: change(`${GET}/responses`, { '401': { $ref: '#/components/responses/Nowhere' } }),
    place: '#/paths/~1domains/get/responses/401/$ref',
    reason: 'There is nothing at /components/responses/Nowhere.',
  },
  {
    how: 'a response that is nothing but a reference to itself',
    break: change('/components/responses', { NotFound: { $ref: '#/components/responses/NotFound' } }),
    place: '#/components/responses/NotFound/$ref',
    reason: 'The reference leads back to what it is part of.',
  },
  {
    how: 'a reference to another file',
    break: change(`${GET}/responses`, { '401': { $ref: 'errors.yaml#/Unauthorized' } }),
    place: '#/paths/~1domains/get/responses/401/$ref',
    reason: 'The reference errors.yaml#/Unauthorized leads out of the document; only #/… is followed.',
  },
  {
    how: 'a reference to another site',
    break: change(`${GET}/responses`, { '401': { $ref: 'https://errors.example/errors.yaml#/Unauthorized' } }),
    place: '#/paths/~1domains/get/responses/401/$ref',
    reason:
      'The reference https://errors.example/errors.yaml#/Unauthorized leads out of the document; only #/… is followed.',
  },
  {
    how: 'a reference to a reference to another file',
    break: (document) => {
      change(`${GET}/responses`, { '401': { $ref: '#/components/responses/Elsewhere' } })(document)
      change('/components/responses', { Elsewhere: { $ref: 'errors.yaml#/Unauthorized' } })(document)
    },
    place: '#/components/responses/Elsewhere/$ref',
    reason: 'The reference errors.yaml#/Unauthorized leads out of the document; only #/… is followed.',
  },
  {
    how: 'a reference to an anchor',
    break: change('/components/schemas', { Anchored: { $ref: '#hostname' } }),
    place: '#/components/schemas/Anchored/$ref',
    reason: 'The reference #hostname leads out of the document; only #/… is followed.',
  },
  {
    how: 'two schemas that are nothing but references to each other',
    break: change('/components/schemas', {
      One: { $ref: '#/components/schemas/Other' },
      Other: { $ref: '#/components/schemas/One' },
    }),
    place: '#/components/schemas/One/$ref',
    reason: 'The reference leads back to what it is part of.',
  },
  {
    how: 'a request schema with a property of its own kind',
    break: change(`${CHANGES}/properties`, { parent: { $ref: '#/components/schemas/DomainGroupChanges' } }),
    place: '#/components/schemas/DomainGroupChanges/properties/parent/$ref',
    reason: 'The reference leads back to what it is part of.',
  },
  {
    how: 'a request schema with a list of its own kind',
    break: change(`${CHANGES}/properties`, {
      children: { type: 'array', items: { $ref: '#/components/schemas/DomainGroupChanges' } },
    }),
    place: '#/components/schemas/DomainGroupChanges/properties/children/items/$ref',
    reason: 'The reference leads back to what it is part of.',
  },
  {
    how: 'a response schema with a property of its own kind',
    break: change('/components/schemas/DmarcRecord/properties', {
      parent: { $ref: '#/components/schemas/DmarcRecord' },
    }),
    place: '#/components/schemas/DmarcRecord/properties/parent/$ref',
    reason: 'The reference leads back to what it is part of.',
  },
  {
    how: 'an operationId that two operations of a path share',
    break: change('/paths/~1domains/post', { operationId: 'listDomains' }),
    place: '#/paths/~1domains/post/operationId',
    reason: 'The operationId listDomains is taken by GET /domains.',
  },
  {
    how: 'an operationId that operations of two paths share',
    break: change(GET, { operationId: 'listDmarc' }),
    place: '#/paths/~1domains/get/operationId',
    reason: 'The operationId listDmarc is taken by GET /dmarc.',
  },
  {
    how: 'an operation without an operationId',
    break: change(GET, { operationId: undefined }),
    place: '#/paths/~1domains/get',
    reason: 'The operation needs an operationId.',
  },
  {
    how: 'an operation with two successful responses',
    break: change('/paths/~1domains/post/responses', { '202': { $ref: '#/components/responses/DomainsAdded' } }),
    place: '#/paths/~1domains/post/responses',
    reason: 'An operation has one successful response with an explicit status.',
  },
  {
    how: 'an operation that never succeeds',
    break: change('/paths/~1domains/post/responses', { '200': undefined }),
    place: '#/paths/~1domains/post/responses',
    reason: 'An operation has one successful response with an explicit status.',
  },
  {
    how: 'a response for every other status',
    break: change(`${GET}/responses`, { default: { $ref: '#/components/responses/InternalError' } }),
    place: '#/paths/~1domains/get/responses/default',
    reason: 'A response has an explicit status.',
  },
  {
    how: 'a response for a range of statuses',
    break: change(`${GET}/responses`, { '4XX': { $ref: '#/components/responses/Unauthorized' } }),
    place: '#/paths/~1domains/get/responses/4XX',
    reason: 'A response has an explicit status.',
  },
  {
    how: 'a response without a schema',
    break: change('/components/responses/DomainsListed', { content: undefined }),
    place: '#/paths/~1domains/get/responses/200',
    reason: 'A response needs content.',
  },
]

const SCHEMAS: Breakage[] = [
  {
    how: 'a pattern that is no regular expression',
    break: change('/components/schemas/DomainGroupName', { pattern: '(' }),
    place: '#/paths/~1domaingroups/get/responses/200/content/application~1json/schema',
    reason: 'The schema cannot be compiled: Invalid regular expression: /(/u: Unterminated group.',
  },
  {
    how: 'a keyword that JSON Schema does not know',
    break: change(HOSTNAME, { minLenght: 1 }),
    place: '#/paths/~1domains/post/requestBody/content/application~1json/schema',
    reason: 'The schema cannot be compiled: strict mode: unknown keyword: "minLenght".',
  },
  {
    how: 'an x-rule with a schema that nobody can compile',
    break: change(`${GET}/x-rule`, { 'all-domains-listed': { says: 'All.', when: { requires: ['query'] } } }),
    place: '#/paths/~1domains/get/x-rule/all-domains-listed/when',
    reason: 'The schema cannot be compiled: strict mode: unknown keyword: "requires".',
  },
  {
    how: 'a format that nobody has defined',
    break: change('/components/headers/X-Request-Id/schema', { format: 'ulid' }),
    place: '#/paths/~1dmarc/get/responses/200/headers',
    reason:
      'The schema cannot be compiled: unknown format "ulid" ignored in schema at path "#/properties/x-request-id".',
  },
  {
    how: 'group ids of no pattern',
    break: change('/components/schemas/DomainGroupId', { pattern: undefined }),
    place: '#/components/schemas/DomainGroupId',
    reason: 'Ids are made from pattern and minLength, so the schema needs both.',
  },
  {
    how: 'group ids that soon run out',
    break: change('/components/schemas/DomainGroupId', { minLength: 5, maxLength: 5, pattern: '^[0-9]+$' }),
    place: '#/components/schemas/DomainGroupId',
    reason: 'The schema admits fewer than a million ids.',
  },
  {
    how: 'a policy that no domain has',
    break: change('/components/schemas/Policy', { enum: ['none', 'quarantine', 'reject', 'monitor'] }),
    place: '#/components/schemas/Policy/enum',
    reason: 'The DMARC figures have the values none, quarantine, reject, so the enum must list exactly these.',
  },
  {
    how: 'policies without one that domains have',
    break: change('/components/schemas/Policy', { enum: ['none', 'reject'] }),
    place: '#/components/schemas/Policy/enum',
    reason: 'The DMARC figures have the values none, quarantine, reject, so the enum must list exactly these.',
  },
  {
    how: 'test modes of other names',
    break: change('/components/schemas/TestMode', { enum: ['yes', 'no'] }),
    place: '#/components/schemas/TestMode/enum',
    reason: 'The DMARC figures have the values y, n, so the enum must list exactly these.',
  },
]

async function loadBroken(text: string): Promise<{ path: string; error: unknown }> {
  const path = join(temporaryFolder(), 'openapi.yaml')
  writeFileSync(path, text)
  const error = await loadContract({ path }).then(
    () => 'The document was loaded.',
    (thrown: unknown) => thrown,
  )
  return { path, error }
}

/** The error is of its own kind and says `place` and `reason` in one sentence. */
function expectRefusal(error: unknown, path: string, place: string, reason: string): void {
  expect(reason).toMatch(ONE_SENTENCE)
  expect(String(error)).toBe(`ContractError: ${path}${place}: ${reason}`)
  expect(error).toBeInstanceOf(ContractError)
}

describe('a document is refused at the start with place and reason', () => {
  describe.each([
    ['extensions', EXTENSIONS],
    ['ids', IDS],
    ['codes', CODES],
    ['settings', SETTING_VALUES],
    ['OpenAPI', OPENAPI],
    ['schemas', SCHEMAS],
  ])('%s', (_, breakages) => {
    const every = budget({ quick: 3, full: 1 })
    const tried = breakages.filter((_, index) => index % every === 0)
    it.each(tried.map((breakage) => [breakage.how, breakage] as const))('for %s', async (_, breakage) => {
      const document = ownDocument()
      breakage.break(document)
      const { path, error } = await loadBroken(dump(document))
      expectRefusal(error, path, breakage.place, breakage.reason)
    })
  })

  it.each([
    [
      'a bracket that is never closed',
      'openapi: [3.1.1\ninfo: {}\n',
      ':2:1',
      'This is not valid YAML: deficient indentation.',
    ],
    [
      'a key that stands twice',
      'openapi: 3.1.1\ninfo: {}\ninfo: {}\n',
      ':3:1',
      'This is not valid YAML: duplicated mapping key.',
    ],
    [
      'a tab as indentation',
      'info:\n\ttitle: x\n',
      ':2:1',
      'This is not valid YAML: tab characters must not be used in indentation.',
    ],
    ['an alias to nothing', 'info: *nothing\n', ':1:8', 'This is not valid YAML: unidentified alias "nothing".'],
    ['text', 'openapi', '', 'An OpenAPI document must be an object.'],
    ['a list', '- openapi: 3.1.1\n', '', 'An OpenAPI document must be an object.'],
    ['nothing', '', '', 'This is not valid YAML: expected a document, but the input is empty.'],
    ['null', 'null\n', '', 'An OpenAPI document must be an object.'],
  ])('for %s', async (_, text, place, reason) => {
    const { path, error } = await loadBroken(text)
    expectRefusal(error, path, place, reason)
  })

  it('for a file that is not there', async () => {
    const path = join(temporaryFolder(), 'nowhere.yaml')
    const error = await loadContract({ path }).catch((thrown: unknown) => thrown)
    expectRefusal(error, path, '', 'The document cannot be read (ENOENT).')
  })

  it('for a folder', async () => {
    const path = temporaryFolder()
    const error = await loadContract({ path }).catch((thrown: unknown) => thrown)
    expectRefusal(error, path, '', 'The document cannot be read (EISDIR).')
  })

  it('for an operation that nobody has written a behaviour for', async () => {
    const path = join(temporaryFolder(), 'overlay.yaml')
    const operation = {
      operationId: 'readReport',
      description: 'One report.',
      responses: { '200': { $ref: '#/components/responses/DomainsListed' } },
    }
    const actions = [{ target: '$.paths', update: { '/reports/dmarc': { get: operation } } }]
    writeFileSync(path, JSON.stringify({ overlay: '1.0.0', info: { title: 'Reports', version: '1.0.0' }, actions }))
    const error = await startUnderstudy({ overlays: [path] }).catch((thrown: unknown) => thrown)
    expectRefusal(
      error,
      'openapi.yaml',
      '#/paths/~1reports~1dmarc/get',
      'No behaviour is written for the operation readReport.',
    )
  })
})

describe('a document is taken', () => {
  const harmless: { how: string; change: (document: Json) => void }[] = [
    {
      how: 'whose schema has a property that looks like an extension',
      change: (document) => {
        const { properties } = objectAt(document, '/components/schemas/DmarcRecord')
        Object.assign(properties as Json, { 'x-colour': { type: 'string' } })
      },
    },
    {
      how: 'whose example has a field that looks like an extension',
      change: (document) => {
        const example = '/components/responses/DomainsListed/content/application~1json/example'
        Object.assign(objectAt(document, `${example}/data`), { 'x-colour': 'blue' })
      },
    },
    {
      how: 'with a response header that looks like an extension',
      change: (document) => {
        const headers = objectAt(document, '/components/responses/DomainsListed/headers')
        headers['x-served-by'] = { description: 'Who.', schema: { type: 'string' } }
      },
    },
    {
      how: 'with an alternative that an unknown extension is part of, because it is not chosen',
      change: change('/x-settings/head/x-assumption', { alternatives: [{ 'x-colour': 'blue' }] }),
    },
    { how: 'that is JSON', change: () => undefined },
  ]

  it.each(harmless.map((each) => [each.how, each] as const))('%s', async (_, each) => {
    const document = ownDocument()
    each.change(document)
    const path = join(temporaryFolder(), 'openapi.json')
    writeFileSync(path, JSON.stringify(document))
    expect((await loadContract({ path })).operations).toHaveLength(8)
  })

  it('that is our own but for its place', async () => {
    const path = join(temporaryFolder(), 'openapi.yaml')
    writeFileSync(path, dump(ownDocument()))
    expect((await loadContract({ path })).document.source).toEqual((await loadContract()).document.source)
  })
})
