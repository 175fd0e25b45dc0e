import { describe, expect, it } from 'vitest'
import { correctRequest } from '../../src/explain/correction.ts'

import { ACCOUNT, changeAccount } from '../support/account.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { AUTHORIZED, codeOf, exchangeAsIs, type Header, JSON_BODY } from '../support/wire.ts'
import type { SentRequest } from './mutations.ts'

const BASE = '/api/v1'

function asSent(method: string, target: string, body: unknown, headers: Header[] = []): SentRequest {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const own = new Set(headers.map(([name]) => name.toLowerCase()))
  const usual = [AUTHORIZED, ...(body === undefined ? [] : [JSON_BODY])].filter(
    ([name]) => !own.has(name.toLowerCase()),
  )
  return { method, target, headers: [...usual, ...headers], ...(content !== undefined && { body: content }) }
}

const domains = (...names: unknown[]) => ({ domains: names })

/** The correction of a request of which no more is known than the code that it is refused with. */
async function correctionOf({ store, contract }: ObservedService, sent: SentRequest, code: string) {
  const { method, target, body } = sent
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const kept = bytes && { base64: bytes.toString('base64'), size: bytes.length }
  const received = { method, target, headers: sent.headers.flat(), body: kept }
  const { state } = await store.read('default')
  return correctRequest(received, [{ code }], state, contract) ?? expect.fail('There is no correction.')
}

/** Has a request refused, and sends its correction with all that comes before it. */
async function correctAndSend(service: ObservedService, sent: SentRequest) {
  const refusal = await exchangeAsIs(service, sent)
  expect(refusal.status).toBeGreaterThanOrEqual(400)
  // The answer to HEAD has but its status.
  const code = codeOf(refusal) ?? 'not_found'
  const correction = await correctionOf(service, sent, code)
  const response = await sendPlanned(service, [...correction.before, correction.request])
  expect(response?.status, `${JSON.stringify(correction).slice(0, 500)} → ${response?.text}`).toBeLessThan(300)
  return correction
}

// What a single corrected request is, the corpus says.
describe('what has to be sent before a correction', () => {
  const groupFirst = {
    plane: 'service',
    method: 'POST',
    path: '/domaingroups',
    key: 'valid',
    body: { name: 'Marketing' },
  }

  it('is a key where the account has none that is enabled', async () => {
    const service = await startObserved({ fixture: 'empty' })
    await changeAccount(service, (state) => ({ ...state, keys: state.keys.map((key) => ({ ...key, disabled: true })) }))
    const { before } = await correctionOf(service, asSent('GET', `${BASE}/domains`, undefined), 'unauthorized')
    expect(before).toEqual([{ plane: 'admin', method: 'POST', path: '/accounts/default/keys', body: {} }])
  })

  it('is quota where it is used up, for the request and for all that goes before it', async () => {
    const service = await startObserved({ fixture: 'empty' })
    for (let request = 0; request < 100; request++) await service.get('/domaingroups')
    const { before, request } = await correctAndSend(service, asSent('DELETE', `${BASE}/domaingroups?id=x`, undefined))
    const body = { bucket: 'domaingroups', remaining: 2 }
    expect(before).toEqual([{ plane: 'admin', method: 'PATCH', path: '/accounts/default/quotas', body }, groupFirst])
    expect(request.path).toMatch(/^\/domaingroups\?id=\w{8}$/)
  })

  it.each([
    ['DELETE without an id', 'DELETE', '/domaingroups', undefined],
    ['PATCH with the id of no group and nothing else', 'PATCH', '/domaingroups?id=00000000', {}],
    ['PURGE', 'PURGE', '/domaingroups', undefined],
    ['DELETE of nothing that can be removed', 'DELETE', '/domains', domains('*.two.example', 'x@two.example')],
    ['DELETE without a body', 'DELETE', '/domains', undefined],
  ])('is what it removes or changes, where the request does not name it: %s', async (_, method, path, body) => {
    const service = await startObserved({ fixture: ACCOUNT })
    const { state: before } = await service.store.read('default')
    const correction = await correctAndSend(service, asSent(method, BASE + path, body))
    expect(correction.before).toMatchObject([{ plane: 'service', method: 'POST', path: path.split('?')[0] }])
    const { state: after } = await service.store.read('default')
    for (const [name] of before.domains.entries()) expect(after.domains.has(name), name).toBe(true)
    for (const [id, group] of before.groups.entries()) expect(after.groups.get(id)).toEqual(group)
  })
})
