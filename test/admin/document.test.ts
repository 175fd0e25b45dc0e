import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, it } from 'vitest'
import { type AdminCode, readLimits } from '../../src/contract/control-api.ts'
import { Accounts } from '../../src/store/accounts.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { controlApi, startControlPlane } from '../support/control-plane.ts'

const { bodyLimit } = readLimits(controlApi)

it('The document is valid OpenAPI 3.1 for a parser that knows none of its extensions, and is served as it is', async () => {
  const { get } = await startControlPlane()
  const { headers, body } = await get('/openapi.json')
  expect(headers['content-type']).toBe('application/json')
  expect(body).toEqual(JSON.parse(JSON.stringify(controlApi.document.source)))
  expect((await SwaggerParser.validate(body)).info.title).toBe('Control plane of dmarc-understudy')
})

/** Codes, and for each a request that is refused with it, to a server that has one account at most. */
const REFUSED: readonly [code: AdminCode, method: string, path: string, body?: unknown][] = [
  ['conflicting_fields', 'POST', '/accounts/default/faults', { connection: 'reset', corrupt: 'wrong-type' }],
  ['invalid_fixture', 'PUT', '/accounts/default/state', { domains: [''] }],
  ['request_too_large', 'POST', '/accounts', ' '.repeat(bodyLimit + 1)],
  ['protected', 'DELETE', '/accounts/default'],
  ['refused', 'DELETE', '/accounts/default/groups/none'],
  ['insufficient_storage', 'POST', '/accounts'],
  ['unavailable', 'GET', '/accounts'],
  ['internal_error', 'GET', '/accounts'],
]

it.each(REFUSED)('The code %s is answered as the document says', async (code, method, path, body) => {
  const store = new Accounts()
  const plane = await startControlPlane({ store, maxAccounts: 1 })
  if (code === 'unavailable') store.list = () => Promise.reject(new StoreError('unavailable', 'The store is away'))
  if (code === 'internal_error') store.list = () => Promise.reject(new Error('The store is lost.'))
  const refusal = await plane.send(method, path, body)
  expect(refusal.error.code).toBe(code)
  expect(controlApi.catalogue.statusesOf(code)).toContain(refusal.status)
  // What the service refuses has the codes of the service.
  const problem = code === 'refused' ? { code: 'not_found', field: 'id' } : { code, message: refusal.error.message }
  expect(refusal.error.problems[0]).toMatchObject(problem)
  expect(refusal.error.message).not.toMatch(/\{\w+\}|undefined|lost/)
})
