import { describe, expect, it } from 'vitest'
import { addFault, askControl } from '../support/control-plane.ts'
import { START, startService } from '../support/service.ts'

describe('What was injected', () => {
  it('is counted apart in the coverage', async () => {
    const service = await startService()
    await addFault(service, { match: { operation: 'listDmarc' }, respond: { error: 'rate_limited' } })
    await service.get('/dmarc')
    await service.get('/domains')
    const { data } = await askControl(service, 'GET', '/accounts/default/coverage')
    const responsesOf = (id: string) =>
      data.operations.find((each: { operation: string }) => each.operation === id).responses
    expect(responsesOf('listDmarc')).toContainEqual(
      expect.objectContaining({ status: 429, code: 'rate_limited', genuine: 0, injected: 1 }),
    )
    expect(responsesOf('listDomains')).toContainEqual(expect.objectContaining({ status: 200, genuine: 1, injected: 0 }))
  })

  it('is explained by what became of the answer', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'rate_limited' } })
    const { headers } = await service.get('/dmarc')
    const { data } = await askControl(service, 'GET', `/explain/${headers['x-request-id']}`)
    expect(data).toMatchObject({
      summary:
        'The service did nothing, because the fault rule fault_1 acted before the request was read. ' +
        "The error rate_limited was answered in place of the service's own answer.",
      documented: false,
      correction: null,
      fault: { source: 'rule', id: 'fault_1' },
    })
  })
})

describe('The library', () => {
  it('keeps a rule as it was given, whatever becomes of the objects afterwards', async () => {
    const { startUnderstudy } = await import('../../src/start/server.ts')
    await using service = await startUnderstudy({ fixture: 'empty', clock: () => START })
    const rule = { respond: { status: 503, headers: { 'x-a': 'b' } } }
    const added = await service.account.faults.add(rule)
    rule.respond.status = 999
    Object.assign(added.rule, { delay_ms: 5000 })
    const [listed] = await service.account.faults.list()
    expect(listed?.rule).toEqual({ respond: { status: 503, headers: { 'x-a': 'b' } } })
    const [set] = await service.listFaultSets()
    Object.assign(set ?? {}, { name: 'mine' })
    expect((await service.listFaultSets())[0]?.name).not.toBe('mine')
  })
})
