import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { contractWith } from '../support/alternatives.ts'
import { startObserved } from '../support/observed-service.ts'
import { expectFilled, overlayFile, reportOf } from './gaps.ts'

describe('the requests that a report gives for each gap fill it', () => {
  it.each([
    { fixture: 'empty' },
    { fixture: 'demo' },
    { fixture: 'agency' },
    { fixture: 'edge-cases' },
    { fixture: 'demo', plan: 'below-stone' },
    { fixture: 'empty', plan: 'below-stone' },
  ])('of the account %j', async (options) => {
    await expectFilled(await startObserved(options))
  })

  const together: [ids: string][] = [
    ['content-type-1 already-monitored-1 quota-scope-1 body-limit-2 create-group-status-1'],
    ['routing-1 null-fields-1 repeated-domains-1 unmonitored-deletion-1 quota-window-1 too-many-domains-1'],
    ['charged-requests-1 quota-headers-2'],
    ['quota-headers-1 status-wrong-method-2 decimals-1'],
    ['quota-headers-3'],
    ['unknown-query-parameters-1 unmonitored-deletion-2'],
    ['deletion-of-members-1 empty-lists-1'],
    ['group-id-format-1 status-plan-too-low-1 status-duplicate-name-1'],
    ['shared-domains-1'],
    ['canonical-form-2 empty-lists-2'],
  ]
  it.each(together)('of the alternatives %s', async (ids) => {
    const contract = await contractWith(...ids.split(' '))
    await expectFilled(await startObserved({ fixture: 'demo' }, OPERATIONS, { contract }))
  })

  it('of other limits', async () => {
    const fixture = { domains: ['one.example', 'two.example'], groups: [{ name: 'Sales', domains: ['one.example'] }] }
    const schema = (name: string, update: object) => ({ target: `$.components.schemas.${name}`, update })
    const limits = [
      schema('DomainsToAdd.properties.domains', { minItems: 2, maxItems: 3 }),
      schema('DomainsToDelete.properties.domains', { minItems: 3, maxItems: 4 }),
      schema('Members', { maxItems: 7, 'x-error': { maxItems: 'conflicting_fields' } }),
      schema('DomainGroupName', { minLength: 3, maxLength: 8 }),
      { target: "$.paths['/domains']['x-quota']", update: { limit: 12 } },
      { target: "$['x-settings']['body-limit']", update: { value: 4096 } },
    ]
    const service = await startObserved({ fixture, overlays: [overlayFile(limits)] })
    const report = await reportOf(service)
    expect(report.edges.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'addDomains domains minItems 2 beyond',
        'deleteDomains domains maxItems 4 at',
        'createDomainGroup domains maxItems 7 at',
        'updateDomainGroup name minLength 3 beyond',
        'addDomains body-limit 4096 at',
        '/domains x-quota 12 beyond',
      ]),
    )
    await expectFilled(service)
  })
})
