import SwaggerParser from '@apidevtools/swagger-parser'
import { describe, expect, it } from 'vitest'
import { type AdminCode, readLimits } from '../../src/contract/control-api.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { type ControlPlane, controlApi, startControlPlane } from '../support/control-plane.ts'

const { bodyLimit } = readLimits(controlApi)
const NOW = '2026-01-15T09:00:00Z'
const [KEY, LATER_KEY] = ['key-of-the-shop', 'another-key-of-the-shop']
const GROUP = 'aaaaaaaa'
const SCENE = { title: 'A bad day', text: 'The shop has lost its protection.', look_at: { tab: 'domains' } }
const STATE = {
  ...{ title: 'A shop', scenes: [SCENE], domains: ['shop.example', 'mail.example'] },
  groups: [{ id: GROUP, name: 'Shop', domains: ['shop.example'] }],
}
const ADDITION = { operation: 'addDomains' }

/** What fills the path and the query; what is in braces in a value stands for the id of something that was made before. */
type Call = [operation: string, parameters?: Record<string, string>, body?: object]

/** Each operation of the document once, in an order in which each finds what it needs. */
const CALLS: readonly Call[] = [
  ...(['getAbout', 'getHealth', 'getReadiness', 'getDocument', 'listFaultSets', 'listAllRequests'] as const).map(
    (operation): Call => [operation],
  ),
  ['createAccount', {}, { id: 'shop', fixture: 'empty', now: NOW, frozen: true, api_key: KEY }],
  ['createAccount', {}, { id: 'other' }],
  ['listAccounts'],
  ['getAccount'],
  ['updateAccount', {}, { plan: 'above-stone' }],
  ['importState', {}, STATE],
  ['exportState'],
  ['listScenes'],
  ['deleteAccount', { account: 'other' }],
  ['addMonitoredDomains', {}, { domains: ['spring.example', 'autumn.example'] }],
  ['listMonitoredDomains', { limit: '1' }],
  ['removeMonitoredDomains', {}, { domains: ['autumn.example'] }],
  ['createGroup', {}, { name: 'Seasons', domains: ['spring.example'] }],
  ['listGroups'],
  ['updateGroup', { group: GROUP }, { add_domains: ['mail.example'] }],
  ['deleteGroup', { group: GROUP }],
  ['setFeatures', { domain: 'shop.example' }, { features: ['mta-sts'] }],
  ['pinDmarc', { domain: 'shop.example' }, { p: 'reject', count: 7 }],
  ['unpinDmarc', { domain: 'shop.example' }],
  ['listDailyRecords', { from: '2026-01-14', to: '2026-01-15' }],
  ['getOverview', { days: '2' }],
  ['takeSnapshot', {}, { name: 'clean' }],
  ['listSnapshots'],
  ['createKey', {}, { label: 'CI', key: LATER_KEY }],
  ['listKeys'],
  ['updateKey', { key: '{key}' }, { disabled: true }],
  ['deleteKey', { key: '{key}' }],
  ['restoreSnapshot', { snapshot: 'clean' }],
  ['deleteSnapshot', { snapshot: 'clean' }],
  ['updateClock', {}, { advance: 'PT1H' }],
  ['getClock'],
  ['updateQuota', {}, { bucket: 'dmarc', remaining: 1 }],
  ['getQuotas'],
  ['addFault', {}, { match: ADDITION, delay_ms: 1 }],
  ['addFaultSet', { set: 'flaky' }],
  ['listFaults'],
  ['deleteFault', { fault: 'fault_1' }],
  ['clearFaults'],
  ['listRequests', { violation: 'true' }],
  ['verifyRequests', {}, { match: ADDITION, count: 1 }],
  ['explainRequest', { 'request-id': '{request}' }],
  ['rewindAccount', {}, { request_id: '{request}' }],
  ['getCoverage'],
  ['getOverallCoverage'],
  ['getVerdict'],
  ['clearVerdict'],
  ['clearRequests'],
  ['resetAccount', {}, {}],
]
/** Those that never end; test/admin/events.test.ts reads them. */
const STREAMS = ['streamAllEvents', 'streamEvents']

/** Sends each call. */
async function playAll(plane: ControlPlane) {
  const ids: Record<string, string> = {}
  for (const [id, parameters = {}, body] of CALLS) {
    const { method, path } = controlApi.operations.find((operation) => operation.id === id) ?? expect.fail(id)
    if (id === 'verifyRequests' && ids['request'] === undefined) {
      const { headers } = await plane.ask(KEY, 'POST', '/domains', { domain: 'wrong.example' })
      ids['request'] = headers['x-request-id'] ?? ''
    }
    const insert = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
    const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => insert(parameters[name] ?? 'shop'))
    const query = new URLSearchParams(Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`)))
    const sent = body === undefined ? undefined : insert(JSON.stringify(body))
    const { status, data, text } = await plane.send(method, `${filled}${query.size > 0 ? `?${query}` : ''}`, sent)
    expect([200, 201], `${id} → ${text.slice(0, 300)}`).toContain(status)
    if (id === 'createKey') ids['key'] = data.key.id
  }
}

describe('the document of the control plane', () => {
  it('is valid OpenAPI 3.1 for a parser that knows none of its extensions, and is served as it is', async () => {
    const { get } = await startControlPlane()
    const { headers, body } = await get('/openapi.json')
    expect(headers['content-type']).toBe('application/json')
    expect(body).toEqual(JSON.parse(JSON.stringify(controlApi.document.source)))
    expect((await SwaggerParser.validate(body)).info.title).toBe('Control plane of dmarc-understudy')
  })

  it('has every operation, each of which answers as it says', async () => {
    const played = [...CALLS.map(([operation]) => operation), ...STREAMS]
    expect([...new Set(played)].toSorted()).toEqual(controlApi.operations.map(({ id }) => id).toSorted())
    await playAll(await startControlPlane({ frozen: true }))
  })
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
  const store = openMemoryStore()
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
