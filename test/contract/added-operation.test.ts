import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { assumptionsOf } from '../../src/contract/assumptions.ts'
import { type Contract, loadContract } from '../../src/contract/contract.ts'
import { rulesOf } from '../../src/contract/document.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { isRefusedBy } from '../../src/contract/rules.ts'
import { valueAt } from '../../src/ground/json.ts'
import { createRouter } from '../../src/http/router.ts'

const EXAMPLE = { domains: ['example.com', 'mail.example.net'], depth: 0.25 }

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
    parameters: [
      {
        name: 'mode',
        in: 'query',
        required: true,
        schema: { enum: ['fast', 'full'], 'x-error': { required: 'missing_id', enum: 'not_found' } },
      },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            additionalProperties: false,
            required: ['domains'],
            'x-error': { type: 'invalid_request_body' },
            properties: {
              domains: {
                type: 'array',
                minItems: 1,
                maxItems: 3,
                items: { $ref: '#/components/schemas/Hostname' },
                'x-error': { minItems: 'missing_field', maxItems: 'request_too_large' },
                'x-assumption': { id: 'checks-per-request', spec: 'Not shown.', alternatives: [{ maxItems: 2 }] },
              },
              depth: { type: 'number', maximum: 1, 'x-error': { maximum: 'invalid_name' } },
            },
          },
          examples: { two: { value: EXAMPLE } },
        },
      },
    },
    responses: {
      '201': {
        description: 'The result.',
        headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
        content: {
          'application/json': {
            schema: {
              type: 'object',
              additionalProperties: false,
              required: ['success', 'data'],
              properties: {
                success: { type: 'boolean', const: true },
                data: {
                  type: 'object',
                  required: ['share', 'message'],
                  properties: {
                    share: { $ref: '#/components/schemas/Percentage' },
                    message: { type: 'string', default: 'Domains checked.' },
                  },
                },
              },
            },
          },
        },
      },
      '400': {
        description: 'The request is malformed.',
        headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
        'x-codes': ['invalid_request_body', 'invalid_json'],
      },
      '401': { $ref: '#/components/responses/Unauthorized' },
      '429': { $ref: '#/components/responses/RateLimited' },
    },
  },
}

async function load(...more: object[]): Promise<{ contract: Contract; operation: Operation }> {
  const actions = [{ target: '$.paths', update: { '/domains/checks': CHECKS } }, ...more]
  const contract = await loadContract({ overlays: [asOverlay({ overlay: '1.0.0', actions }, 'checks.yaml')] })
  const operation = contract.operations.find(({ id }) => id === 'checkDomains')
  if (operation === undefined) throw new Error('The contract does not have the operation.')
  return { contract, operation }
}

describe('An operation that an overlay adds', () => {
  it('stands beside the others, with its route and its quota', async () => {
    const { contract, operation } = await load()
    expect(contract.operations).toHaveLength(9)
    expect(operation).toMatchObject({ method: 'POST', path: '/domains/checks', quota: CHECKS['x-quota'] })
    const route = createRouter(contract, contract.settings)
    expect(route('POST', '/api/v1/domains/checks')).toMatchObject({ ok: true, operation: { id: 'checkDomains' } })
    expect(route('GET', '/api/v1/domains/checks')).toMatchObject({ ok: false, allow: 'POST' })
  })

  it.each<[mode: string | undefined, codes: string[]]>([
    ['fast', []],
    [undefined, ['missing_id']],
    ['slow', ['not_found']],
  ])('checks its query: mode %s has the problems %j', async (mode, codes) => {
    const { operation } = await load()
    expect(operation.checkQuery(mode === undefined ? {} : { mode }).map(({ code }) => code)).toEqual(codes)
  })

  it.each<[body: unknown, codes: string[]]>([
    [EXAMPLE, []],
    [[], ['invalid_request_body']],
    [{}, ['missing_field']],
    [{ domains: [] }, ['missing_field']],
    [{ domains: ['a.example', 'b.example', 'c.example', 'd.example'] }, ['request_too_large']],
    [{ domains: ['no host', 5] }, ['invalid_domain', 'invalid_field_type']],
    [{ domains: ['a.example'], depth: 2, colour: 'blue' }, ['unknown_field', 'invalid_name']],
  ])('checks its body: %j has the problems %j', async (body, codes) => {
    const { operation } = await load()
    expect(operation.checkBody(body).map(({ code }) => code)).toEqual(codes)
  })

  it('answers with the codes that it declares, that its schemas name, and that settings decide about', async () => {
    const { operation } = await load()
    const codes = [...operation.responses.values()].map(({ status, codes }) => [status, [...codes].toSorted()])
    expect(new Map(codes as [number, string[]][])).toEqual(
      new Map([
        [201, []],
        [
          400,
          [
            ...['invalid_domain', 'invalid_field_type', 'invalid_json', 'invalid_name', 'invalid_request_body'],
            ...['missing_field', 'missing_id', 'unknown_field'],
          ],
        ],
        [401, ['unauthorized']],
        [403, ['unauthorized']],
        [404, ['not_found']],
        [409, ['duplicate_name']],
        [413, ['request_too_large']],
        [429, ['rate_limited']],
      ]),
    )
  })

  it('no longer answers with the code of a setting that has another value', async () => {
    const { operation } = await load({ target: "$['x-settings']['already-monitored']", update: { value: 'skipped' } })
    expect(operation.responses.has(409)).toBe(false)
  })

  it('follows the catalogue when another overlay changes a status', async () => {
    const { operation } = await load({ target: "$.components['x-errors'].missing_id", update: { status: 422 } })
    expect([...(operation.responses.get(422)?.codes ?? [])]).toEqual(['missing_id'])
  })

  it('checks and writes its responses', async () => {
    const { operation } = await load()
    const { success, responses } = operation
    expect(success.defaults).toEqual({ message: 'Domains checked.' })
    const body = { success: true, data: { share: 50, message: 'Domains checked.' } }
    expect(success.check(body)).toEqual([])
    expect(success.write(body)).toBe('{"success":true,"data":{"share":50.0,"message":"Domains checked."}}')
    expect(success.check({ success: true, data: { share: 101 } })).toMatchObject([
      { pointer: '/data/message', reason: 'is missing' },
      { pointer: '/data/share', reason: 'is 101 but must be at most 100' },
    ])
    expect(success.checkHeaders({})).toMatchObject([{ pointer: '/x-request-id', reason: 'is missing' }])
    const conflict = { success: false, error: { code: 'duplicate_name', message: 'No.' } }
    expect(responses.get(409)?.check(conflict)).toEqual([])
    expect(responses.get(400)?.check(conflict)).toMatchObject([{ pointer: '/error/code', keyword: 'x-codes' }])
  })

  it('has the rules of its security scheme, of its path and its own', async () => {
    const { contract, operation } = await load()
    const ids = operation.rules.map(({ id }) => id)
    expect(ids).toEqual([...ids.slice(0, -3), 'checks-limit', 'check-names-domains', 'deep-check'])
    expect(ids).toContain('key-required')
    expect(rulesOf(contract.document).get('deep-check')).toBe('A check with a depth looks deeper.')
    const [names, deep] = operation.rules.slice(-2)
    expect(names && isRefusedBy(names, 'request_too_large', 'maxItems')).toBe(true)
    expect(deep?.matches({ body: EXAMPLE })).toBe(true)
    expect(deep?.matches({ body: { domains: ['a.example'] } })).toBe(false)
  })

  it('has its samples and its assumptions in the document', async () => {
    const { contract, operation } = await load()
    const { source, extensions } = contract.document
    const pointer = '/paths/~1domains~1checks/post/requestBody/content/application~1json/examples/two/value'
    expect(operation.checkBody(valueAt(source, pointer))).toEqual([])
    expect(assumptionsOf(source, extensions).find(({ id }) => id === 'checks-per-request')).toMatchObject({
      choice: { maxItems: 3 },
      alternatives: [{ maxItems: 2 }],
    })
  })
})
