import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { assumptionsOf } from '../../src/contract/assumptions.ts'
import { type Contract, compileContract, loadContract } from '../../src/contract/contract.ts'
import { rulesOf } from '../../src/contract/document.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { isRefusedBy } from '../../src/contract/rules.ts'
import { valueAt } from '../../src/ground/json.ts'
import { ownDocument } from '../support/own-document.ts'

const EXAMPLE = { domains: ['example.com', 'mail.example.net'], depth: 0.25 }

const json = (schema: object, more: object = {}) => ({ 'application/json': { schema, ...more } })
const object = (properties: object, ...required: string[]) => ({ ...CLOSED, required, properties })
const CLOSED = { type: 'object', additionalProperties: false }
const MESSAGE = { type: 'string', default: 'Domains checked.' }
const HEADERS = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
const DEPTH = { type: 'number', maximum: 1, 'x-error': { maximum: 'invalid_name' } }
const DOMAINS = {
  ...{ type: 'array', minItems: 1, maxItems: 3, items: { $ref: '#/components/schemas/Hostname' } },
  'x-error': { minItems: 'missing_field', maxItems: 'request_too_large' },
  'x-assumption': { id: 'checks-per-request', spec: 'Not shown.', alternatives: [{ maxItems: 2 }] },
}
const CHECK = { ...object({ domains: DOMAINS, depth: DEPTH }, 'domains'), 'x-error': { type: 'invalid_request_body' } }
const SHARE = { $ref: '#/components/schemas/Percentage' }
const RESULT = { type: 'object', required: ['share', 'message'], properties: { share: SHARE, message: MESSAGE } }
const MODE = { enum: ['fast', 'full'], 'x-error': { required: 'missing_id', enum: 'not_found' } }

/** Plain OpenAPI with our extensions: an operation that the service does not have. */
const CHECKS = {
  'x-quota': { limit: 5, window: 60, grace: 2 },
  'x-rule': { 'checks-limit': { says: 'Checks are limited to 5 requests per minute.', refuses: ['rate_limited'] } },
  post: {
    operationId: 'checkDomains',
    summary: 'Check whether domains could be monitored',
    'x-rule': {
      'check-names-domains': { says: 'A check names 1 to 3 domains.', refuses: ['/maxItems', 'missing_field'] },
      'deep-check': {
        says: 'A check with a depth looks deeper.',
        when: { properties: { body: { required: ['depth'], properties: { depth: true } } } },
      },
    },
    'x-codes-by-setting': { 'already-monitored': { invalid_domain: 'duplicate_name' } },
    parameters: [{ name: 'mode', in: 'query', required: true, schema: MODE }],
    requestBody: { required: true, content: json(CHECK, { examples: { two: { value: EXAMPLE } } }) },
    responses: {
      '201': {
        ...{ description: 'The result.', headers: HEADERS },
        content: json(object({ success: { type: 'boolean', const: true }, data: RESULT }, 'success', 'data')),
      },
      '400': {
        ...{ description: 'The request is malformed.', headers: HEADERS },
        content: json({ $ref: '#/components/schemas/Failure' }),
        'x-codes': ['invalid_request_body', 'invalid_json'],
      },
      '401': { $ref: '#/components/responses/Unauthorized' },
      '429': { $ref: '#/components/responses/RateLimited' },
    },
  },
}

const ADDITION = { target: '$.paths', update: { '/domains/checks': CHECKS } }
const overlayOf = (...actions: object[]) => asOverlay({ overlay: '1.0.0', actions }, 'checks.yaml')
const checkDomainsIn = ({ operations }: Contract) => operations.find(({ id }) => id === 'checkDomains') as Operation
const contract = await loadContract({ overlays: [overlayOf(ADDITION)] })
const operation = checkDomainsIn(contract)

/** The operation where another change follows. */
async function changedBy(change: object): Promise<Operation> {
  const overlays = [overlayOf(ADDITION, change)]
  return checkDomainsIn(await compileContract({ source: ownDocument(), overlays, validated: true }))
}

describe('An operation that an overlay adds', () => {
  it('answers with the codes that it declares, that its schemas name, and that settings decide about', () => {
    const answered = [...operation.responses.values()].map(({ status, codes }) => [status, [...codes].toSorted()])
    expect(Object.fromEntries(answered)).toEqual({
      201: [],
      400: [
        ...['invalid_domain', 'invalid_field_type', 'invalid_json', 'invalid_name', 'invalid_request_body'],
        ...['missing_field', 'missing_id', 'unknown_field'],
      ],
      401: ['unauthorized'],
      403: ['unauthorized'],
      404: ['not_found'],
      409: ['duplicate_name'],
      413: ['request_too_large'],
      429: ['rate_limited'],
    })
  })

  it('no longer answers with the code of a setting that has another value', async () => {
    const skipping = { target: "$['x-settings']['already-monitored']", update: { value: 'skipped' } }
    expect((await changedBy(skipping)).responses.has(409)).toBe(false)
  })

  it('follows the catalogue when another overlay changes a status', async () => {
    const { responses } = await changedBy({ target: "$.components['x-errors'].missing_id", update: { status: 422 } })
    expect([...(responses.get(422)?.codes ?? [])]).toEqual(['missing_id'])
  })

  it('checks and writes its responses', () => {
    const { success } = operation
    expect(success.defaults).toEqual({ message: 'Domains checked.' })
    const body = { success: true, data: { share: 50, message: 'Domains checked.' } }
    expect(success.check(body)).toEqual([])
    expect(success.write(body)).toBe('{"success":true,"data":{"share":50.0,"message":"Domains checked."}}')
    expect(success.check({ success: true, data: { share: 101 } })).toMatchObject([
      { pointer: '/data/message', reason: 'is missing' },
      { pointer: '/data/share', reason: 'is 101 but must be at most 100' },
    ])
    expect(success.checkHeaders({})).toMatchObject([{ pointer: '/x-request-id', reason: 'is missing' }])
  })

  it('has the rules of its security scheme, of its path and its own', () => {
    const ids = operation.rules.map(({ id }) => id)
    expect(ids).toEqual([...ids.slice(0, -3), 'checks-limit', 'check-names-domains', 'deep-check'])
    expect(ids).toContain('key-required')
    expect(rulesOf(contract.document).get('deep-check')).toBe('A check with a depth looks deeper.')
    const [names, deep] = operation.rules.slice(-2)
    expect(names && isRefusedBy(names, 'request_too_large', 'maxItems')).toBe(true)
    expect(deep?.matches({ body: EXAMPLE })).toBe(true)
    expect(deep?.matches({ body: { domains: ['a.example'] } })).toBe(false)
  })

  it('has its samples and its assumptions in the document', () => {
    const { source, extensions } = contract.document
    const pointer = '/paths/~1domains~1checks/post/requestBody/content/application~1json/examples/two/value'
    expect(operation.checkBody(valueAt(source, pointer))).toEqual([])
    expect(assumptionsOf(source, extensions).find(({ id }) => id === 'checks-per-request')).toMatchObject({
      choice: { maxItems: 3 },
      alternatives: [{ maxItems: 2 }],
    })
  })
})
