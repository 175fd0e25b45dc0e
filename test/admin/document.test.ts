import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { describe, expect, it } from 'vitest'
import { ADMIN_CODES, type AdminCode, readLimits } from '../../src/contract/control-api.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { type ControlPlane, controlApi, startControlPlane } from '../support/control-plane.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { bodyLimit, keysPerAccount } = readLimits(controlApi)
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

/** Those that change nothing which outlives the process. */
const OF_THE_PROCESS = ['takeSnapshot', 'deleteSnapshot', 'verifyRequests', 'clearRequests', 'clearVerdict']

/** Sends each call, and calls `after` with what was asked and whether it writes. */
async function playAll(plane: ControlPlane, after: (operation: string, writes: boolean) => unknown = () => {}) {
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
    await after(id, method !== 'GET')
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

  it('declares for every operation that a query parameter which it does not have is refused', async () => {
    const { send } = await startControlPlane()
    for (const { id, method, path, readsBody } of controlApi.operations) {
      const target = `${path.replaceAll(/\{[^}]+\}/g, 'default')}?nonsense=1`
      const { status, error } = await send(method, target, readsBody ? {} : undefined)
      expect([id, status, error?.code]).toEqual([id, 400, 'unknown_field'])
    }
  })
})

it('What the control plane has answered is on the disk, where a kill leaves it', async () => {
  const data = temporaryFolder()
  const kept = () => readdirSync(data).map((name) => [name, readFileSync(join(data, name), 'utf8')].join())
  let before = kept()
  const plane = await startControlPlane({ data, frozen: true })
  await playAll(plane, (operation, writes) => {
    if (!writes || OF_THE_PROCESS.includes(operation)) return
    expect(kept(), operation).not.toEqual(before)
    before = kept()
  })
  /** All that outlives the process. */
  const shownBy = async ({ get }: ControlPlane) => {
    const parts = ['', '/state', '/keys', '/clock', '/quotas', '/faults'].map((part) => get(`/accounts/shop${part}`))
    return (await Promise.all(parts)).map(({ body }) => body)
  }
  await plane.patch('/accounts/shop/quotas', { bucket: 'dmarc', remaining: 1 })
  await plane.post('/accounts/shop/faults', { delay_ms: 1, times: 3 })
  const left = join(temporaryFolder(), 'left')
  cpSync(data, left, { recursive: true })
  rmSync(join(left, '.lock'))
  expect(await shownBy(await startControlPlane({ data: left, frozen: true }))).toEqual(await shownBy(plane))
})

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
  too_many: [
    ...(['PUT', '/accounts/default/state'] as const),
    { keys: Array.from({ length: keysPerAccount + 1 }, (_, index) => ({ key: `a-key-of-ours-${index}` })) },
  ],
  protected: ['DELETE', '/accounts/default'],
  refused: ['DELETE', '/accounts/default/groups/none'],
  insufficient_storage: ['POST', '/accounts'],
  unavailable: ['GET', '/accounts'],
  internal_error: ['GET', '/accounts'],
}

it.each(ADMIN_CODES)('The code %s is answered as the document says', async (code) => {
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
  expect(refusal.error.message).not.toMatch(/\{\w+\}|undefined|lost/)
})
