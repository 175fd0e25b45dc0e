import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assumptionsOf, overlayFor } from '../../src/contract/assumptions.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { recordAccount } from '../../src/domain/account.ts'
import { accept } from '../../src/domain/errors.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { Coverage } from '../../src/journal/coverage/coverage.ts'
import { type CoverageReport, type Gap, reportCoverage } from '../../src/journal/coverage/report.ts'
import type { ServerOptions } from '../../src/options.ts'
import { ONE_SENTENCE } from '../contract/own-document.ts'
import { startService, type TestService } from '../service.ts'
import { temporaryFolder } from '../store/temporary-folder.ts'
import { runnerFor } from './planned.ts'

const { document } = await loadContract()
const assumptions = assumptionsOf(document.source, document.extensions)

interface Entry extends Gap {
  shown: boolean
}

/** Everything of a report that may be a gap, by a name. */
function entriesOf({ operations, rules, edges }: CoverageReport): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const { operation, responses } of operations) {
    for (const response of responses) {
      const { status, code = 'success', genuine } = response
      entries.set(`${operation} ${status} ${code}`, { ...response, shown: genuine > 0 })
    }
  }
  for (const entry of [...rules, ...edges]) entries.set(entry.id, { ...entry, shown: entry.seen })
  return entries
}

/** The gaps that their requests do not fill, each tried on the account as it was when it was reported. */
async function unfilled(service: TestService): Promise<string[]> {
  const { store, contract } = service
  const coverage = new Coverage(contract)
  const initial = await store.read('default')
  const runner = runnerFor(service)
  const failed: string[] = []
  for (const [name, { request }] of entriesOf(reportCoverage(coverage, initial))) {
    if (request === undefined) continue
    await store.update('default', () => accept(initial, undefined))
    runner.refill()
    coverage.clear()
    for (const observation of await runner.run(request)) coverage.observe(observation)
    if (entriesOf(reportCoverage(coverage)).get(name)?.shown !== true) failed.push(name)
  }
  return failed
}

function hinted(report: CoverageReport): string[] {
  return [...entriesOf(report)].flatMap(([name, { hint }]) => (hint === undefined ? [] : [name]))
}

/** The path of a file with an overlay of these actions. */
function overlayFile(actions: readonly object[]): string {
  const path = join(temporaryFolder(), 'overlay.yaml')
  writeFileSync(path, JSON.stringify({ overlay: '1.0.0', info: { title: 'A change', version: '1.0.0' }, actions }))
  return path
}

function alternative(id: string, number: number): readonly object[] {
  const assumption = assumptions.find((each) => each.id === id)
  const patch = assumption?.alternatives[number - 1]
  if (assumption === undefined || patch === undefined) throw new Error(`${id} has no alternative ${number}.`)
  return overlayFor(assumption, patch, document.source).actions
}

async function reportOf({ contract, store }: TestService): Promise<CoverageReport> {
  return reportCoverage(new Coverage(contract), await store.read('default'))
}

describe('the requests that a report gives for each gap fill it', () => {
  it.each<[account: string, options: ServerOptions]>([
    ['an empty account', { fixture: 'empty' }],
    ['the account of the demo', { fixture: 'demo' }],
    ["an agency's account", { fixture: 'agency' }],
    ['an account with names at their limits', { fixture: 'edge-cases' }],
    ['an account whose plan is too low', { fixture: 'demo', plan: 'below-stone' }],
    ['an empty account whose plan is too low', { fixture: 'empty', plan: 'below-stone' }],
  ])('of %s', async (_, options) => {
    const service = await startService(options)
    expect(hinted(await reportOf(service))).toEqual([])
    expect(await unfilled(service)).toEqual([])
  })

  it.each<[id: string, number: number]>([
    ['gate-order', 1],
    ['routing', 1],
    ['content-type', 1],
    ['null-fields', 1],
    ['unknown-query-parameters', 1],
    ['already-monitored', 1],
    ['repeated-domains', 1],
    ['unmonitored-deletion', 1],
    ['unmonitored-deletion', 2],
    ['deletion-of-members', 1],
    ['repeated-members', 1],
    ['quota-scope', 1],
    ['quota-window', 1],
    ['body-limit', 2],
    ['too-many-or-no-domains', 1],
    ['too-many-or-no-domains', 4],
    ['deletions-per-request', 1],
    ['empty-additions', 1],
    ['removal-entries', 1],
    ['empty-id-on-read', 1],
    ['empty-id-on-write', 1],
    ['group-id-format', 1],
    ['blank-names', 1],
    ['create-group-status', 1],
    ['status-content-type', 1],
    ['status-plan-too-low', 1],
    ['status-duplicate-name', 1],
  ])('of the alternative %s %d', async (id, number) => {
    const service = await startService({ fixture: 'demo', overlays: [overlayFile(alternative(id, number))] })
    expect(hinted(await reportOf(service))).toEqual([])
    expect(await unfilled(service)).toEqual([])
  })

  it.each<[account: string, fixture: string | Fixture]>([
    ['an empty account', 'empty'],
    ['a small one', { domains: ['one.example', 'two.example'], groups: [{ name: 'Sales', domains: ['one.example'] }] }],
  ])('of other limits, in %s', async (_, fixture) => {
    const limits = [
      { target: '$.components.schemas.DomainsToAdd.properties.domains', update: { minItems: 2, maxItems: 3 } },
      { target: '$.components.schemas.DomainsToDelete.properties.domains', update: { minItems: 3, maxItems: 4 } },
      {
        target: '$.components.schemas.Members',
        update: { maxItems: 7, 'x-error': { maxItems: 'conflicting_fields' } },
      },
      { target: '$.components.schemas.DomainGroupName', update: { minLength: 3, maxLength: 8 } },
      { target: "$.paths['/domains']['x-quota']", update: { limit: 12 } },
      { target: "$['x-settings']['body-limit']", update: { value: 4096 } },
    ]
    const service = await startService({ fixture, overlays: [overlayFile(limits)] })
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
    expect(hinted(report)).toEqual([])
    expect(await unfilled(service)).toEqual([])
  })
})

describe('a gap', () => {
  it('that no request can fill as the contract stands has a hint instead', async () => {
    const actions = [...alternative('already-monitored', 1), ...alternative('repeated-domains', 1)]
    const service = await startService({ fixture: 'demo', overlays: [overlayFile(actions)] })
    const report = await reportOf(service)
    expect(hinted(report)).toEqual(['no-duplicates'])
    expect(report.rules.find(({ id }) => id === 'no-duplicates')).toMatchObject({
      seen: false,
      hint: expect.stringMatching(ONE_SENTENCE),
    })
  })

  it('has neither request nor hint where no account is given', async () => {
    const report = reportCoverage(new Coverage(await loadContract()))
    expect([...entriesOf(report).values()].filter(({ request, hint }) => request ?? hint)).toEqual([])
  })

  it('is planned without a change to the account', async () => {
    const service = await startService({ fixture: 'empty' })
    const before = recordAccount(await service.store.read('default'))
    await reportOf(service)
    expect(recordAccount(await service.store.read('default'))).toEqual(before)
  })
})
