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

/** How often each response was given since the account began anew, by the names of responses. */
async function shownIn(service: ObservedService): Promise<Map<string, number>> {
  const { operations } = await reportOf(service)
  return new Map(
    operations.flatMap(({ operation, responses }) =>
      responses.map(({ status, code = '', genuine }) => [`${operation} ${status} ${code}`, genuine] as const),
    ),
  )
}

/** The responses whose sample does not show them, each on an account that begins anew. */
async function failedSamples(service: ObservedService): Promise<string[]> {
  const { state: account } = await service.store.read('default')
  const samples = sampleRequests(service.contract, account, account.createdAt)
  const failed: string[] = []
  for (const [name, requests] of samples) {
    await sendPlanned(service, requests)
    if (((await shownIn(service)).get(name) ?? 0) === 0) failed.push(name)
    await service.ask('POST', '/accounts/default/reset')
  }
  return failed
}

describe('the sample requests', () => {
  it.each(['empty', 'demo', 'agency', 'edge-cases'])('show their responses of the account %s', async (fixture) => {
    expect(await failedSamples(await startObserved({ fixture }))).toEqual([])
  })

  it.each([
    ['already-monitored-1 repeated-domains-1 unmonitored-deletion-1'],
    ['deletion-of-members-1 empty-lists-1 shared-domains-1'],
    ['group-id-format-1 status-duplicate-name-1 create-group-status-1'],
  ])('show their responses under the alternatives %s', async (ids) => {
    const contract = await contractWith(...ids.split(' '))
    expect(await failedSamples(await startObserved({ fixture: 'demo' }, OPERATIONS, { contract }))).toEqual([])
  })

  it('leave no domain in use that they put in use', async () => {
    const service = await startObserved({ fixture: 'empty' })
    const { state: account } = await service.store.read('default')
    const samples = sampleRequests(service.contract, account, account.createdAt)
    await sendPlanned(service, samples.get('deleteDomains 409 domain_delete_failed') ?? [])
    const { domains } = (await service.store.read('default')).state
    expect([...domains.values()].map(({ features }) => features)).toEqual([[]])
  })

  it('are a success of each operation, and the refusals by the contents of an account', async () => {
    const service = await startObserved({ fixture: 'demo' })
    const { state: account } = await service.store.read('default')
    expect([...sampleRequests(service.contract, account, account.createdAt).keys()]).toMatchInlineSnapshot(`
      [
        "listDmarc 200 ",
        "listDomains 200 ",
        "addDomains 200 ",
        "addDomains 400 invalid_domain",
        "deleteDomains 200 ",
        "deleteDomains 409 domain_delete_failed",
        "deleteDomains 400 invalid_domain",
        "listDomainGroups 200 ",
        "listDomainGroups 404 not_found",
        "createDomainGroup 200 ",
        "createDomainGroup 400 not_monitored",
        "createDomainGroup 409 duplicate_name",
        "deleteDomainGroup 200 ",
        "deleteDomainGroup 404 not_found",
        "updateDomainGroup 200 ",
        "updateDomainGroup 404 not_found",
        "updateDomainGroup 400 not_monitored",
        "updateDomainGroup 409 duplicate_name",
      ]
    `)
  })
})

describe('a gap', () => {
  it('has the commands that show it, or those of an accepted request and what to do with them', async () => {
    const { operations, rules, edges } = await reportOf(await startObserved())
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

  it('is found without a change to the account', async () => {
    const service = await startObserved({ fixture: 'empty' })
    const before = encodeAccount((await service.store.read('default')).state)
    await reportOf(service)
    expect(encodeAccount((await service.store.read('default')).state)).toEqual(before)
  })
})
