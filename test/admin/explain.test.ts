import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import { Accounts } from '../../src/store/accounts.ts'
import { ACCOUNT } from '../support/account.ts'
import { addFault } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'

// Which rules, choices and corrections belong to a refusal is in test/corpus.

describe('an explanation', () => {
  const NOBODY = { authorization: null }

  it('says what happened, by which rules, and what would be accepted, with the address of the request in the page', async () => {
    const service = await startObserved({ fixture: ACCOUNT })
    await service.get('/domains')
    const own = await service.explain()
    expect(own).toMatchObject({ summary: 'listDomains succeeded.', rules: [{ id: 'all-domains-listed' }] })
    expect(own.page).toBe(`${service.adminUrl}/page/default/requests/${own.id}`)
    await service.send('GET', '/domains', undefined, NOBODY)
    const nobodys = await service.explain()
    expect(nobodys.page).toBe(`${service.adminUrl}/page/default/requests/${nobodys.id}?whose=none`)
    await service.send('POST', '/domains', { domains: ['no host', 'x', 'new.example'] })
    const refused = await service.explain()
    expect(refused.summary).toMatch(
      /^Refused with invalid_domain: .+\. One more problem would remain after this one\.$/,
    )
    const { curl, request } = refused.correction ?? {}
    expect(request).toEqual({ method: 'POST', path: '/api/v1/domains', body: '{"domains":["new.example"]}' })
    for (const part of Object.values(request ?? {})) expect(curl).toContain(part)
  })

  it('is that of the request which an address names, or none: also after a reset, and a start with the same seed', async () => {
    const [service, later] = [await startObserved({ seed: 7 }), await startObserved({ seed: 7 })]
    await service.get('/domains')
    const former = await service.explain()
    await service.ask('POST', '/accounts/default/reset')
    for (const each of [service, later]) {
      await each.get('/dmarc')
      const { id, request_id } = await each.latest()
      expect(request_id).toBe(former.request_id)
      expect((await each.ask('GET', `/explain/${request_id}`)).data.operation).toBe('listDmarc')
      expect((await each.ask('GET', `/explain/${id}`)).data.operation).toBe('listDmarc')
      expect((await each.ask('GET', `/explain/${former.id}`)).status).toBe(404)
      const rewind = await each.ask('POST', '/accounts/default/rewind', { request_id: former.id })
      expect(rewind.status).toBe(404)
    }
  })

  const LOST = 'addDomains succeeded, and what it changed stays changed. Then the fault rule fault_1'
  it.each<[what: string, rule: FaultRule, summary: string, monitored?: boolean]>([
    ['lost', { phase: 'after', connection: 'reset' }, `${LOST} dropped the response. The connection was reset`],
    ['empty', { connection: 'empty' }, 'The service did nothing, because the fault rule fault_1 acted before', false],
  ])('says what is done where an answer is %s by a fault', async (_, rule, summary, monitored = true) => {
    const service = await startObserved()
    await addFault(service, rule)
    await service.send('POST', '/domains', { domains: ['new.example'] }).catch(() => {})
    const explanation = await service.explain()
    expect(explanation).toMatchObject({ documented: false, rules: [], correction: null })
    expect(explanation.fault).toMatchObject({ source: 'rule', id: 'fault_1', rule })
    expect(explanation.summary.slice(0, summary.length)).toBe(summary)
    expect((await service.store.read('default')).state.domains.has('new.example')).toBe(monitored)
  })

  it('says that the stand-in failed, and how', async () => {
    const store = new Accounts()
    const service = await startObserved({ store })
    store.update = () => Promise.reject(new Error('the disk is full'))
    await service.send('POST', '/domains', { domains: ['new.example'] })
    expect(await service.explain()).toMatchObject({
      ...{ status: 500, summary: expect.stringMatching(/^The stand-in itself failed/), correction: null },
      failure: expect.stringContaining('the disk is full'),
    })
  })
})
