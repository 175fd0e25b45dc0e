import { execFile, execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { Coverage } from '../../src/coverage/coverage.ts'
import { writeCurl } from '../../src/coverage/curl.ts'
import { type CoverageReport, type Gap, reportCoverage } from '../../src/coverage/report.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { actionsFor, contractWith } from '../support/alternatives.ts'
import { budget, sample } from '../support/budget.ts'
import { HAS_CURL } from '../support/curl.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { API_KEY } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Entry extends Gap {
  /** How often it was shown; of a rule and of an edge, once or never. */
  times: number
}

/** Everything of a report that may be a gap, by a name. */
function entriesOf({ operations, rules, edges }: CoverageReport): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  // Rules come first: what shows them without a key may show an operation's answer as well, which is counted.
  for (const entry of [...rules, ...edges]) entries.set(entry.id, { ...entry, times: entry.seen ? 1 : 0 })
  for (const { operation, responses } of operations) {
    for (const response of responses) {
      const { status, code = 'success', genuine } = response
      entries.set(`${operation} ${status} ${code}`, { ...response, times: genuine })
    }
  }
  return entries
}

/** How often everything was shown, by all requests of the account since it began anew. */
async function shownIn(service: ObservedService): Promise<Map<string, number>> {
  return new Map([...entriesOf(await reportOf(service))].map(([name, { times }]) => [name, times]))
}

async function begin(service: ObservedService): Promise<void> {
  expect((await service.ask('POST', '/accounts/default/reset')).status).toBe(200)
}

/** Of so many gaps, one is tried; which one of them differs from account to account. */
const EVERY = budget({ quick: 150, whole: 3, full: 1 })
const TRIED = EVERY === 1 ? 'each gap' : `one gap of ${EVERY}`

interface Trial {
  /** A name for what is tried, which decides on the first gap. */
  of: string
  every?: number
  fill?: (gap: Gap) => Promise<unknown>
}

/** The gaps that are not filled by what `fill` does with them, each tried on the account as it was when it was reported. */
async function unfilled(service: ObservedService, { of, every = EVERY, fill }: Trial): Promise<string[]> {
  const fillGap = fill ?? (({ request = [] }) => sendPlanned(service, request))
  const gaps = [...entriesOf(await reportOf(service))].filter(([, { request }]) => request !== undefined)
  expect(gaps.length).toBeGreaterThan(50)
  const tried = gaps.filter((_, index) => index % every === of.length % every)
  const failed: string[] = []
  for (const [name, gap] of tried) {
    await begin(service)
    const before = await shownIn(service)
    await fillGap(gap)
    const after = await shownIn(service)
    if ((after.get(name) ?? 0) <= (before.get(name) ?? 0)) failed.push(name)
  }
  return failed
}

/** Fails unless every gap has a request, and those that are tried are filled by theirs. */
async function expectFilled(service: ObservedService, of: string): Promise<void> {
  expect(hinted(await reportOf(service))).toEqual([])
  expect(await unfilled(service, { of })).toEqual([])
}

function hinted(report: CoverageReport): string[] {
  return [...entriesOf(report)].flatMap(([name, { hint }]) => (hint === undefined ? [] : [name]))
}

/** The path of a file with an overlay of these actions. */
function overlayFile(actions: readonly object[]): string {
  return writeOverlay(temporaryFolder(), actions)
}

async function reportOf(service: ObservedService): Promise<CoverageReport> {
  return (await service.ask('GET', '/accounts/default/coverage')).body.data
}

describe(`the requests that a report gives for ${TRIED} fill it`, () => {
  it.each<[account: string, options: ServerOptions]>([
    ['an empty account', { fixture: 'empty' }],
    ['the account of the demo', { fixture: 'demo' }],
    ["an agency's account", { fixture: 'agency' }],
    ['an account with names at their limits', { fixture: 'edge-cases' }],
    ['an account whose plan is too low', { fixture: 'demo', plan: 'below-stone' }],
    ['an empty account whose plan is too low', { fixture: 'empty', plan: 'below-stone' }],
  ])('of %s', async (of, options) => {
    await expectFilled(await startObserved(options), of)
  })

  // Alternatives that do not exclude each other are chosen together, because each start and each gap takes its time.
  const together: [ids: string][] = [
    ['gate-order-1 content-type-1 already-monitored-1 quota-scope-1 body-limit-2 create-group-status-1'],
    [
      'routing-1 null-fields-1 repeated-domains-1 repeated-deletions-1 unmonitored-deletion-1 quota-window-1 too-many-domains-1',
    ],
    ['ignored-body-1 repeated-id-2 duplicate-fields-1 empty-parameters-1 charged-requests-1 quota-headers-2'],
    ['precedence-2 not-http-1 cors-1 quota-headers-1 status-wrong-method-2 decimals-1 internal-error-1'],
    ['request-charset-2 byte-order-mark-1 repeated-id-1 quota-headers-3 client-request-ids-1 response-charset-1'],
    ['unknown-query-parameters-1 unmonitored-deletion-2 no-domains-2 empty-id-on-read-1'],
    ['deletion-of-members-1 deletions-per-request-1 no-deletions-2 repeated-members-1 empty-lists-1 removal-entries-1'],
    [
      'empty-id-on-write-1 group-id-format-1 blank-names-1 status-content-type-1 status-plan-too-low-1 status-duplicate-name-1',
    ],
    ['domain-cap-1 group-cap-1 member-cap-1 shared-domains-1 mixed-deletions-1 own-name-1 deletion-entries-1'],
    ['mixed-additions-1 mixed-members-1 space-around-names-1 canonical-form-2 empty-lists-2'],
  ]
  it.each(sample(together, 2))('of the alternatives %s', async (ids) => {
    const contract = await contractWith(...ids.split(' '))
    await expectFilled(await startObserved({ fixture: 'demo' }, OPERATIONS, { contract }), ids)
  })

  it('of deletions, which leave members alone where a member may not be deleted', async () => {
    const contract = await contractWith('deletion-of-members-1')
    const fixture = { domains: ['member.example'], groups: [{ name: 'X', domains: ['member.example'] }] }
    const service = await startObserved({ fixture }, OPERATIONS, { contract })
    const gaps = entriesOf(await reportOf(service))
    await sendPlanned(service, gaps.get('deleteDomains 200 success')?.request ?? [])
    expect((await shownIn(service)).get('deleteDomains 200 success')).toBe(1)
  })

  it('of caps that the account has reached', async () => {
    const caps = Object.entries({ 'domain-cap': 51, 'group-cap': 3, 'member-cap': 2 })
    const actions = caps.map(([name, value]) => ({ target: `$['x-settings']['${name}']`, update: { value } }))
    const fixture = {
      domains: Array.from({ length: 51 }, (_, index) => ({ name: `a${index}.example`, features: ['mta-sts'] })),
      groups: ['X', 'Y', 'Z'].map((name) => ({ name, domains: ['a0.example', 'a1.example'] })),
    }
    await expectFilled(await startObserved({ fixture, overlays: [overlayFile(actions)] }), 'caps')
  })

  it.each<[account: string, fixture: string | Fixture]>([
    ['an empty account', 'empty'],
    ['a small one', { domains: ['one.example', 'two.example'], groups: [{ name: 'Sales', domains: ['one.example'] }] }],
  ])('of other limits, in %s', async (of, fixture) => {
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
    await expectFilled(service, of)
  })
})

describe('the commands that a report gives for one gap of six fill it', () => {
  it.skipIf(!HAS_CURL)('run by a shell with curl', async () => {
    const shell = (command: string) =>
      new Promise<string>((resolve, reject) => {
        const env = { ...process.env, API_KEY }
        execFile('sh', ['-c', command], { env }, (error, out) => (error ? reject(error) : resolve(out)))
      })
    const service = await startObserved({ fixture: 'demo' })
    const fill = async ({ curl = [] }: Gap) => {
      for (const command of curl) await shell(command)
    }
    expect(await unfilled(service, { of: 'demo', every: 6, fill })).toEqual([])
  })
})

describe('a gap', () => {
  it('that no request can fill as the contract stands has a hint instead', async () => {
    const rule = { 'no-such-refusal': { says: 'Something else is refused.', refuses: ['/never'] } }
    const added = { target: "$.paths['/domains'].post['x-rule']", update: rule }
    const service = await startObserved({ fixture: 'demo', overlays: [overlayFile([added])] })
    const report = await reportOf(service)
    expect(hinted(report)).toEqual(['no-such-refusal'])
    expect(report.rules.find(({ id }) => id === 'no-such-refusal')).toMatchObject({
      seen: false,
      hint: expect.stringMatching(ONE_SENTENCE),
    })
  })

  it('has a hint as well where another code takes its place', async () => {
    const service = await startObserved({ fixture: 'demo', overlays: [overlayFile(actionsFor('member-entries-1'))] })
    expect(hinted(await reportOf(service))).toEqual([
      'createDomainGroup 400 invalid_domain',
      'updateDomainGroup 400 invalid_domain',
    ])
  })

  it('has neither request nor hint where no account is given', async () => {
    const report = reportCoverage(new Coverage(await loadContract()))
    expect([...entriesOf(report).values()].filter(({ request, hint }) => request ?? hint)).toEqual([])
  })

  it('has no request where a plan cap leaves no room for one', async () => {
    const small = { target: "$['x-settings']['domain-cap']", update: { value: 3 } }
    const overlays = [overlayFile([small, ...actionsFor('deletions-per-request-1')])]
    const service = await startObserved({ fixture: { domains: ['a.example', 'b.example', 'c.example'] }, overlays })
    expect(hinted(await reportOf(service))).toEqual([
      'addDomains domains maxItems 50 at',
      'deleteDomains domains maxItems 50 at',
    ])
  })

  it('is planned without a change to the account', async () => {
    const service = await startObserved({ fixture: 'empty' })
    const before = encodeAccount(await service.store.read('default'))
    await reportOf(service)
    expect(encodeAccount(await service.store.read('default'))).toEqual(before)
  })
})

const PLANES = { baseUrl: 'http://127.0.0.1:4010/api/v1', adminUrl: 'http://127.0.0.1:4010/__admin' }

it.each([100, 1_048_577])(
  'a padded body is written by a POSIX shell as so many bytes of the same JSON: %d',
  (padTo) => {
    const body = { name: "Tom's 100 % \\n -" }
    const request = { plane: 'service', method: 'POST', path: '/domaingroups', body, padTo } as const
    const command = writeCurl(request, PLANES, undefined)
    expect(command).toMatch(/^printf .* \| curl .* --data-binary @-$/)
    const bytes = execFileSync('sh', ['-c', command.replace(/ \| curl .*$/, '')], { maxBuffer: 2 * padTo })
    expect(bytes).toHaveLength(padTo)
    expect(JSON.parse(bytes.toString())).toEqual(body)
  },
)
