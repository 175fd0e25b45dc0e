import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { actionsFor } from '../support/alternatives.ts'
import { failingStore } from '../support/failing-store.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { NO_QUOTA, quotaOf } from '../support/quota-headers.ts'
import { START, startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RESET = Date.parse('2026-01-15T10:00:00Z') / 1000
const untouched = { limit: 30, remaining: 30, reset: RESET }
const used = { limit: 30, remaining: 29, reset: RESET }

function startWith(alternatives: string, options: ServerOptions = {}): Promise<TestService> {
  const names = alternatives === '' ? [] : alternatives.split(' ')
  const overlays = names.map((name) => writeOverlay(temporaryFolder(), actionsFor(name), `${name}.yaml`))
  return startService({ ...options, overlays })
}

/** Where quotas are shown: as chosen, and with each alternative. */
const CHOICES = ['', 'quota-headers-1', 'quota-headers-2', 'quota-headers-3']

describe('The headers about the quota', () => {
  it.each([
    ['', NO_QUOTA],
    ['quota-headers-1', untouched],
    ['quota-headers-2', untouched],
    ['quota-headers-3', NO_QUOTA],
    ['gate-order-1', used],
    ['gate-order-1 quota-headers-1', used],
    ['gate-order-1 quota-headers-3', NO_QUOTA],
  ])('on 403, where the plan is too low, with the alternatives %j', async (alternatives, quota) => {
    const service = await startWith(alternatives, { plan: 'below-stone' })
    const { status, headers } = await service.get('/domains')
    expect([status, quotaOf(headers)]).toEqual([403, quota])
  })

  it.each([
    ['', used],
    ['quota-headers-1', used],
    ['quota-headers-2', used],
    ['quota-headers-3', NO_QUOTA],
  ])('on 500, where a change cannot be stored, with the alternative %j', async (alternative, quota) => {
    const { store, fail } = failingStore('update')
    const service = await startWith(alternative, { store })
    fail()
    const { status, headers } = await service.send('POST', '/domains', { domains: ['new.example'] })
    expect([status, quotaOf(headers)]).toEqual([500, quota])
  })

  it.each([
    ['', NO_QUOTA],
    ['quota-headers-1', NO_QUOTA],
    ['quota-headers-2', untouched],
    ['quota-headers-3', NO_QUOTA],
  ])('on 500, where nobody knows whose key it is, with the alternative %j', async (alternative, quota) => {
    const { store, fail } = failingStore('enter')
    const service = await startWith(alternative, { store })
    fail()
    const { status, headers } = await service.get('/domains')
    expect([status, quotaOf(headers)]).toEqual([500, quota])
  })

  it.each(CHOICES)(
    'on an injected response are as the contract declares them, with the alternative %j',
    async (each) => {
      const service = await startWith(each)
      for (const code of ['duplicate_name', 'rate_limited', 'unauthorized', 'internal_error']) {
        // The harness holds the header of each response to the contract.
        const sent = { prefer: `code=${code}` }
        const { body } = await service.send('POST', '/domaingroups', { name: 'New' }, sent)
        expect(body.error.code).toBe(code)
      }
    },
  )

  it('tell the seconds that are left where the contract says so, also without a valid key', async () => {
    const service = await startWith('quota-headers-2 rate-limit-reset-1')
    const { headers } = await service.send('GET', '/domains', undefined, { authorization: null })
    expect(quotaOf(headers)).toEqual({ ...untouched, reset: 1800 })
  })

  it('tell a window that begins now, where the contract lets the first request begin it', async () => {
    const service = await startWith('quota-headers-2 quota-window-1')
    const { headers } = await service.send('PUT', '/domains')
    expect(quotaOf(headers)).toEqual({ ...untouched, reset: START / 1000 + 3600 })
  })
})

describe('With charges for successes alone', () => {
  it('what is refused for lack of quota is not given back', async () => {
    const service = await startWith('charged-requests-1')
    for (let sent = 0; sent < 10; sent++) await service.get('/dmarc')
    for (let sent = 0; sent < 3; sent++) {
      const { status, headers } = await service.get('/dmarc')
      expect([status, quotaOf(headers).remaining]).toEqual([429, 0])
    }
  })

  it('a refusal after the end of the window gives nothing back to the next one', async () => {
    const service = await startWith('charged-requests-1')
    await service.get('/domains')
    service.advance(3_600_000)
    const refused = await service.send('POST', '/domains', {})
    expect([refused.status, quotaOf(refused.headers).remaining]).toEqual([400, 30])
    expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(29)
  })

  it('what a fault refuses in place of the service is charged', async () => {
    const service = await startWith('charged-requests-1')
    const refused = await service.send('GET', '/domains', undefined, { prefer: 'code=rate_limited' })
    expect([refused.status, quotaOf(refused.headers).remaining]).toEqual([429, 0])
    expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(28)
  })

  it('a failure of the service is not charged', async () => {
    const { store, fail } = failingStore('update')
    const service = await startWith('charged-requests-1', { store })
    fail()
    const { status, headers } = await service.send('POST', '/domains', { domains: ['new.example'] })
    expect([status, quotaOf(headers).remaining]).toEqual([500, 30])
  })
})
