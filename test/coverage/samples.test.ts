import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { sampleRequests } from '../../src/coverage/samples.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { contractWith } from '../support/alternatives.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'
import { sendPlanned } from '../support/planned-requests.ts'

async function reportOf(service: ObservedService): Promise<CoverageReport> {
  return (await service.ask('GET', '/accounts/default/coverage')).data
}

async function samplesOf({ store, contract }: ObservedService) {
  const { state } = await store.read('default')
  return sampleRequests(contract, state, state.createdAt)
}

describe('the sample requests', () => {
  it.each<[fixture: string, choices: string]>([
    ['empty', ''],
    ['agency', ''],
    ['edge-cases', 'already-monitored-1 repeated-domains-1 unmonitored-deletion-1 group-id-format-1'],
    ['demo', 'deletion-of-members-1 empty-lists-1 shared-domains-1 status-duplicate-name-1 create-group-status-1'],
  ])('have their responses from the account %s, with the choices %s', async (fixture, choices) => {
    const contract = choices === '' ? {} : { contract: await contractWith(...choices.split(' ')) }
    const service = await startObserved({ fixture }, OPERATIONS, contract)
    const failed: string[] = []
    for (const [name, requests] of await samplesOf(service)) {
      const last = await sendPlanned(service, requests)
      const [, status, code = ''] = name.split(' ')
      if (`${last?.status} ${last?.body?.error?.code ?? ''}` !== `${status} ${code}`) failed.push(name)
      await service.ask('POST', '/accounts/default/reset')
    }
    expect(failed).toEqual([])
  })

  it('leave no domain in use that they put in use', async () => {
    const service = await startObserved({ fixture: 'empty' })
    await sendPlanned(service, (await samplesOf(service)).get('deleteDomains 409 domain_delete_failed') ?? [])
    const { domains } = (await service.store.read('default')).state
    expect([...domains.values()].map(({ features }) => features)).toEqual([[]])
  })

  it('are a success of each operation, and the refusals by the contents of an account', async () => {
    const samples = await samplesOf(await startObserved({ fixture: 'demo' }))
    expect([...samples.keys()].map((name) => name.replace(' 200 ', ''))).toEqual([
      ...['listDmarc', 'listDomains', 'addDomains', 'addDomains 400 invalid_domain'],
      ...['deleteDomains', 'deleteDomains 409 domain_delete_failed', 'deleteDomains 400 invalid_domain'],
      ...['listDomainGroups', 'listDomainGroups 404 not_found'],
      ...['createDomainGroup', 'createDomainGroup 400 not_monitored', 'createDomainGroup 409 duplicate_name'],
      ...['deleteDomainGroup', 'deleteDomainGroup 404 not_found', 'updateDomainGroup'],
      ...['updateDomainGroup 404 not_found', 'updateDomainGroup 400 not_monitored'],
      'updateDomainGroup 409 duplicate_name',
    ])
  })
})

describe('a gap', () => {
  it('has the commands that show it, or those of an accepted request and what to do with them', async () => {
    const service = await startObserved({ fixture: 'empty' })
    const before = encodeAccount((await service.store.read('default')).state)
    const { operations, rules, edges } = await reportOf(service)
    const { responses = [] } = operations.find(({ operation }) => operation === 'createDomainGroup') ?? {}
    const [success, ...refusals] = responses
    expect(success).toMatchObject({
      curl: [expect.stringMatching(/^curl .*\/domains/), expect.stringMatching(/^curl .*\/domaingroups/)],
    })
    expect(success).not.toHaveProperty('hint')
    expect(refusals.find(({ code }) => code === 'duplicate_name')).not.toHaveProperty('hint')
    expect(refusals.find(({ code }) => code === 'missing_field')).toMatchObject({
      curl: success?.curl,
      hint: expect.stringMatching(ONE_SENTENCE),
    })
    for (const gap of [...operations.flatMap((each) => each.responses), ...rules, ...edges]) {
      expect(gap.curl?.length).toBeGreaterThan(0)
    }
    expect(encodeAccount((await service.store.read('default')).state)).toEqual(before)
  })

  it('has no command where it was shown, and none where no account is given', async () => {
    const service = await startObserved()
    await service.get('/domains')
    const { operations } = await reportOf(service)
    const { responses = [] } = operations.find(({ operation }) => operation === 'listDomains') ?? {}
    expect(responses[0]).toEqual({ status: 200, genuine: 1, injected: 0, documented: true })
    const all: CoverageReport = (await service.ask('GET', '/coverage')).data
    expect(all.edges.filter(({ curl }) => curl !== undefined)).toEqual([])
  })
})
