import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { readOverlays } from '../../src/contract/overlay.ts'
import type { CoverageReport } from '../../src/coverage/report.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { ask } from '../contract/service-requests.ts'
import { sample } from '../support/budget.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { startService } from '../support/service.ts'
import { copyDomainGroup } from './copy-domain-group.ts'

const OVERLAY = fileURLToPath(new URL('ninth-operation.overlay.yaml', import.meta.url))
const contract = await loadContract({ overlays: await readOverlays([OVERLAY]) })

function start(options: ServerOptions = {}): Promise<ObservedService> {
  return startObserved({ fixture: 'demo', ...options }, { ...OPERATIONS, copyDomainGroup }, { contract })
}

async function firstGroup(service: ObservedService): Promise<{ id: string; domains: string[] }> {
  return (await service.get('/domaingroups')).body.data.groups[0]
}

describe('an operation that is added with an overlay and one module', () => {
  it('is served: it changes the account, and counts against a quota of its own', async () => {
    const service = await start()
    const { id, domains } = await firstGroup(service)
    const { status, body, headers } = await service.send('POST', `/groupcopies?id=${id}`, { name: 'A copy' })
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, data: { group: { id: expect.any(String), name: 'A copy', domains } } })
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '19' })
    expect((await service.get(`/domaingroups?id=${body.data.group.id}`)).body.data.group.domains).toEqual(domains)
  })

  it('has its answers held to the document: one that departs from it is not sent', async () => {
    const broken = { ...copyDomainGroup, decide: OPERATIONS['listDomains']?.decide ?? copyDomainGroup.decide }
    const behaviours = { ...OPERATIONS, copyDomainGroup: broken }
    const service = await startService({ fixture: 'demo' }, behaviours, { contract })
    const copy = ask('POST /groupcopies?id={group}', { name: 'A copy' })
    expect((await copy(service)).status).toBe(500)
  })

  it('is journalled, and explained with a request that is accepted', async () => {
    const service = await start()
    const { id } = await firstGroup(service)
    await service.send('POST', `/groupcopies?id=${id}`, { nam: 'A copy', leave_out: [5, 'not a hostname'] })
    expect(await service.latest()).toMatchObject({ operation: 'copyDomainGroup', code: 'unknown_field' })
    const { correction } = await service.explain()
    expect(correction?.requests.at(-1)).toMatchObject({ path: `/groupcopies?id=${id}`, body: { name: 'A copy' } })
    expect((await sendPlanned(service, (correction?.requests ?? []) as PlannedRequest[]))?.status).toBe(200)
  })

  it('is explained with a name and a group where the request has neither', async () => {
    const service = await start({ fixture: 'empty' })
    await service.send('POST', '/groupcopies', {})
    const { correction } = await service.explain()
    expect((await sendPlanned(service, (correction?.requests ?? []) as PlannedRequest[]))?.status).toBe(200)
  })

  it('is covered: for each status, code, rule and limit there are requests that show it', {}, async () => {
    const service = await start()
    const report = await coverageOf(service)
    const { responses } = partOf(report)
    expect(responses.map(({ status, code }) => `${status} ${code ?? ''}`.trim()).toSorted()).toEqual(
      [
        ...['200', '400 invalid_domain', '400 invalid_field_type', '400 invalid_json', '400 invalid_name'],
        ...['400 invalid_request_body', '400 missing_field', '400 missing_id', '400 unknown_field', '401 unauthorized'],
        ...['403 unauthorized', '404 not_found', '409 duplicate_name', '413 request_too_large', '429 rate_limited'],
      ].toSorted(),
    )
    for (const gap of sample([...responses, ...rulesAndEdges(report)], 5)) {
      const name = JSON.stringify({ ...gap, request: undefined, curl: undefined })
      expect(gap.request, name).toBeDefined()
      await service.ask('POST', '/accounts/default/reset')
      await sendPlanned(service, gap.request ?? [])
      const after = await coverageOf(service)
      expect(isShown(gap, after), name).toBe(true)
    }
  })

  it('stops the start where its module is missing, with its place in the document', async () => {
    await expect(startService({ overlays: [OVERLAY] })).rejects.toThrow(
      'openapi.yaml#/paths/~1groupcopies/post: No behaviour is written for the operation copyDomainGroup.',
    )
  })
})

async function coverageOf(service: ObservedService): Promise<CoverageReport> {
  return (await service.ask('GET', '/accounts/default/coverage')).body.data
}

function partOf({ operations }: CoverageReport): CoverageReport['operations'][number] {
  const found = operations.find(({ operation }) => operation === 'copyDomainGroup')
  if (found === undefined) throw new Error('The report does not have the operation.')
  return found
}

function rulesAndEdges({ rules, edges }: CoverageReport) {
  const own = rules.filter(({ id }) => id.startsWith('copy') || id.startsWith('copies'))
  return [...own, ...edges.filter(({ operation, path }) => operation === 'copyDomainGroup' || path === '/groupcopies')]
}

function isShown(gap: object, after: CoverageReport): boolean {
  if ('status' in gap) {
    const { status, code } = gap as { status: number; code?: string }
    return partOf(after).responses.some((each) => each.status === status && each.code === code && each.genuine > 0)
  }
  return rulesAndEdges(after).some((each) => each.id === (gap as { id: string }).id && each.seen)
}
