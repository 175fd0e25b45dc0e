import SwaggerParser from '@apidevtools/swagger-parser'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { FIXTURE_NAMES } from '../../src/accounts/fixture.ts'
import { ADMIN_CODES, type AdminCode } from '../../src/admin/codes.ts'
import { CONTROL_DOCUMENT, loadControlApi, readLimits } from '../../src/admin/document.ts'
import { HANDLERS } from '../../src/admin/handlers.ts'
import { METHODS } from '../../src/contract/codes.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { readPackageFile } from '../../src/ground/package-files.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { controlApi, startControlPlane } from '../support/control-plane.ts'
import { ONE_SENTENCE, objectsIn } from '../support/own-document.ts'

const source = load(readPackageFile(CONTROL_DOCUMENT).toString()) as Json
const contract = await loadContract()
const operations = controlApi.operations.map((operation) => [operation.id, operation] as const)
/** Operations that answer without the envelope, so that they have no handler. */
const WITHOUT_HANDLER = [
  ...['getDashboard', 'getHealth', 'getReadiness', 'getDocument', 'streamAllEvents', 'streamEvents'],
]

/** What the modules of the handlers export for each other. */
const HELPERS = [
  'KEPT_OVERVIEWS',
  'describeExample',
  'describeQuotas',
  'describeViolation',
  'openWindowEnds',
  'refuseLateInstant',
  'reportAccount',
  'reportVerdict',
]

function schema(name: string, pointer = ''): Json {
  const found = valueAt(source, `/components/schemas/${name}${pointer}`)
  if (!isObject(found)) throw new Error(`There is no schema ${name}${pointer}.`)
  return found
}

const { bodyLimit, keysPerAccount } = readLimits(controlApi)
const MANY_KEYS = Array.from({ length: keysPerAccount + 1 }, (_, index) => ({ key: `a-key-of-ours-${index}` }))

/** For each code a request that is refused with it, to a server with the token `token` and one account at most. */
const REFUSED: Record<AdminCode, [method: string, path: string, body?: unknown, token?: string]> = {
  unauthorized: ['GET', '/accounts', undefined, 'wrong'],
  forbidden: ['GET', '/accounts', undefined, 'none'],
  invalid_request_body: ['POST', '/accounts', '[]'],
  invalid_json: ['POST', '/accounts', '{'],
  unknown_field: ['GET', '/accounts?x=1'],
  missing_field: ['PATCH', '/accounts/default', {}],
  invalid_field_type: ['POST', '/accounts', { seed: 'x' }],
  conflicting_fields: ['POST', '/accounts/default/faults', { connection: 'reset', corrupt: 'wrong-type' }],
  invalid_value: ['POST', '/accounts', { seed: -1 }],
  invalid_fixture: ['PUT', '/accounts/default/state', { domains: [''] }],
  not_found: ['GET', '/accounts/nobody'],
  request_too_large: ['POST', '/accounts', ' '.repeat(bodyLimit + 1)],
  taken: ['POST', '/accounts', { id: 'default' }],
  too_many: ['PUT', '/accounts/default/state', { keys: MANY_KEYS }],
  protected: ['DELETE', '/accounts/default'],
  refused: ['DELETE', '/accounts/default/groups/none'],
  insufficient_storage: ['POST', '/accounts'],
  unavailable: ['GET', '/accounts'],
  internal_error: ['GET', '/accounts'],
}

describe('every code of the control plane is answered:', () => {
  it.each(ADMIN_CODES)('%s', async (code) => {
    const [method, path, body, token = 'token'] = REFUSED[code]
    const store = openMemoryStore()
    const plane = await startControlPlane({ store, maxAccounts: 1, ...(token !== 'none' && { adminToken: 'token' }) })
    if (code === 'unavailable') store.list = () => Promise.reject(new StoreError('unavailable', 'The store is away'))
    if (code === 'internal_error') store.list = () => Promise.reject(new Error('The store is lost.'))
    const headers = token === 'none' ? { origin: 'http://evil.example' } : { authorization: `Bearer ${token}` }
    const refusal = await plane.send(method, path, body, headers)
    expect(refusal.error.code).toBe(code)
    expect(controlApi.catalogue.statusesOf(code)).toContain(refusal.status)
    // What the service refuses has the codes of the service.
    const problem = code === 'refused' ? { code: 'not_found', field: 'id' } : { code, message: refusal.error.message }
    expect(refusal.error.problems[0]).toMatchObject(problem)
    if (code === 'internal_error') expect(refusal.error.message).toBe(controlApi.catalogue.answer({ code }).message)
    expect(refusal.error.message).not.toMatch(/\{\w+\}|undefined/)
  })
})

describe('the document of the control plane', () => {
  it('is valid OpenAPI 3.1 for a parser that knows none of its extensions', async () => {
    const api = await SwaggerParser.validate(structuredClone(source) as never)
    expect(api.info.title).toBe('Control plane of dmarc-understudy')
  })

  it('has references that lead such a parser where they lead us', async () => {
    const { source, resolved } = controlApi.document
    expect(await SwaggerParser.dereference(structuredClone(source) as never)).toEqual(resolved)
  })

  it('has no two names that differ only in case, which some generators would write to one file', () => {
    const { 'x-errors': _, ...components } = source['components'] as Json
    const names = Object.values(components).flatMap((part) => Object.keys(part as Json))
    for (const each of [names, operations.map(([id]) => id)]) {
      const lower = each.map((name) => name.toLowerCase())
      expect(each.filter((name, index) => lower.indexOf(name.toLowerCase()) !== index)).toEqual([])
    }
  })

  it('has a handler for every operation, and an operation for every handler', () => {
    const handled = [...Object.keys(HANDLERS).filter((name) => !HELPERS.includes(name)), ...WITHOUT_HANDLER]
    expect(handled.toSorted()).toEqual(operations.map(([id]) => id).toSorted())
  })

  it('has the parameter `account` exactly where an operation is about one account', () => {
    for (const [, { path }] of operations) {
      expect(path.includes('{account}')).toBe(/^\/accounts\/./.test(path))
    }
  })

  it('has the codes of the catalogue, in its order', () => {
    expect(Object.keys(valueAt(source, '/components/x-errors') as Json)).toEqual([...ADMIN_CODES])
  })

  it.each(operations)('declares of %s whatever any request can be refused with', (id, operation) => {
    const statuses = [...operation.responses.keys()]
    const codes = [...(operation.responses.get(400)?.codes ?? [])]
    expect(codes).toContain('unknown_field')
    expect(statuses).toContain(500)
    // Everybody may ask whether the server is up, and a browser that opens the page can send no token.
    const isProbe = id === 'getHealth' || id === 'getReadiness'
    if (!isProbe) expect(statuses).toContain(403)
    if (!isProbe && id !== 'getDashboard') expect(statuses).toContain(401)
    if (operation.readsBody) {
      expect(codes).toEqual(expect.arrayContaining(['invalid_request_body', 'invalid_json']))
      expect(statuses).toContain(413)
    }
    expect(statuses.includes(404), 'an account may be missing').toBe(operation.path.includes('{'))
  })

  it('says of every operation what it does, and gives it a tag', () => {
    for (const { path, method } of controlApi.operations) {
      const described = valueAt(source, `/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}`) as Json
      expect(described['summary'], path).toMatch(/^[A-Z][^\n]{5,80}[^.]$/)
      expect((source['tags'] as Json[]).map(({ name }) => name)).toContain((described['tags'] as string[])[0])
    }
    const known = new Set<string>([...METHODS, 'parameters'])
    for (const item of Object.values(source['paths'] as Json)) {
      expect(Object.keys(item as Json).filter((key) => !known.has(key))).toEqual([])
    }
  })

  it('has messages that are one sentence each, or one and a question', () => {
    const messages = [...objectsIn(valueAt(source, '/components/x-errors'))].flatMap(({ value }) =>
      typeof value['message'] === 'string' ? [value['message']] : [],
    )
    expect(messages.length).toBeGreaterThan(ADMIN_CODES.length)
    for (const message of messages) {
      // Those that end with a sentence of somebody else's.
      if (!/\{expected\}$/.test(message))
        expect(message.replace(/ Did you mean \{nearest\}\?$/, '').replace(/\{\w+\}\.$/, 'x.')).toMatch(ONE_SENTENCE)
    }
  })

  it('names the same profiles and fixtures as the program', () => {
    expect(schema('Pin', '/properties/profile')['enum']).toEqual([...PROFILE_NAMES])
    expect(FIXTURE_NAMES).toContain('empty')
  })

  it('pins no field of a record beyond what the service may answer', () => {
    const service = valueAt(contract.document.resolved, '/components/schemas/DmarcRecord/properties') as Json
    const { domain: _, ...answered } = service
    expect(Object.keys(schema('Pin', '/properties')).toSorted()).toEqual(
      ['profile', ...Object.keys(answered)].toSorted(),
    )
  })

  it('has the limits that the program reads', async () => {
    const settings = Object.keys(source['x-settings'] as Json)
    expect(Object.keys(readLimits(await loadControlApi()))).toHaveLength(settings.length)
  })

  it('is served as it is', async () => {
    const { get } = await startControlPlane()
    const { status, headers, body } = await get('/openapi.json')
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' })
    expect(body).toEqual(JSON.parse(JSON.stringify(controlApi.document.source)))
    expect(Object.keys(body.paths)).toEqual(Object.keys(source['paths'] as Json))
    await expect(SwaggerParser.validate(body)).resolves.toBeDefined()
  })
})
