import { describe, expect } from 'vitest'
import { DAY, stateOf } from '../support/account.ts'
import { journalOf } from '../support/control-plane.ts'
import { it } from '../support/example-service.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { contract, operationOf } from './accepted.ts'

const WRITES = ['addDomains', 'deleteDomains', 'createDomainGroup', 'updateDomainGroup']
const CODES = [...contract.catalogue.codes]

function nameFor(code: string): string {
  return `fail-${code.replaceAll('_', '-')}.understudy.test`
}

/** A write that names the domain, beside one that the account has, and is accepted otherwise. */
async function write(service: TestService, operation: string, name: string) {
  const { method, path } = operationOf(operation)
  const [group] = (await stateOf(service)).groups
  const bodies: Record<string, object> = {
    addDomains: { domains: ['new.example', name] },
    deleteDomains: { domains: ['one.example', name] },
    createDomainGroup: { name: 'New', domains: ['one.example', name] },
    updateDomainGroup: { name: 'Renamed', add_domains: ['one.example', name] },
  }
  return service.send(method, operation === 'updateDomainGroup' ? `${path}?id=${group?.id}` : path, bodies[operation])
}

/** An account whose writes to the domain would be accepted, but for its name. */
function holding(name: string, operation: string) {
  const domains = ['one.example', ...(operation === 'addDomains' ? [] : [name])]
  return { domains, groups: [{ name: 'Sales', domains: ['one.example'] }] }
}

describe('A write that names `fail-<code>.understudy.test`', () => {
  it.each(CODES.map((code, index) => [WRITES[index % 4] ?? '', code] as const))(
    '%s, `%s`, fails so if the operation ever does',
    async (operation, code) => {
      const name = nameFor(code)
      const service = await startService({ fixture: holding(name, operation) })
      const before = await stateOf(service)
      const response = await write(service, operation, name)
      const [entry] = await journalOf(service)
      const answers = [...operationOf(operation).responses.values()].some(({ codes }) => codes.has(code))
      if (!answers) {
        expect(response.status).toBe(200)
        expect(entry).toMatchObject({ injected: false, fault: null })
        return
      }
      expect(response.body.error.code).toBe(code)
      expect(response.body.error.message).not.toMatch(/undefined|\{|example\.com/)
      const after = await stateOf(service)
      expect([after.domains, after.groups]).toEqual([before.domains, before.groups])
      expect(entry).toMatchObject({ injected: true, code, fault: { source: 'simulator', id: null } })
      expect(entry?.fault?.effect).toContain(code)
      if (code === 'rate_limited') expect(quotaOf(response.headers).remaining).toBe(0)
    },
  )

  it.for([
    'FAIL-Rate-Limited.Understudy.TEST.',
    'eu.fail-rate-limited.shop.understudy.test',
    'fail-not-found.fail-rate-limited.understudy.test',
  ])('in another spelling, %s, fails as well', async (name, { empty }) => {
    expect((await empty.send('POST', '/domains', { domains: [name] })).body.error.code).toBe('rate_limited')
  })

  it.for([
    'fail-rate-limited.understudy.test.example',
    'fail-rate-limited-understudy.test',
    'fail-constructor.understudy.test',
  ])('%s is a domain like any other', async (name, { empty }) => {
    const response = await empty.send('POST', '/domains', { domains: [name] })
    expect([response.status, response.body.data?.domains]).toEqual([200, [name]])
  })

  it('in `remove_domains`, which takes any text, fails so too', async () => {
    const service = await startService({ fixture: { groups: [{ name: 'Sales' }] } })
    const [group] = (await stateOf(service)).groups
    const body = { remove_domains: ['_ no hostname.understudy.test', nameFor('internal_error')] }
    expect((await service.send('PATCH', `/domaingroups?id=${group?.id}`, body)).status).toBe(500)
  })
})

describe('A domain `locked.understudy.test`', () => {
  const LOCKED = ['locked.understudy.test', 'eu.locked.understudy.test', 'LOCKED.understudy.test.']
  it.for(LOCKED)('cannot be removed once it is added: %s', async (name, { empty }) => {
    expect((await empty.send('POST', '/domains', { domains: [name, 'other.example'] })).status).toBe(200)
    const canonical = name.toLowerCase().replace(/\.$/, '')
    const refused = await empty.send('DELETE', '/domains', { domains: ['other.example', name] })
    expect(refused.body.error).toEqual({
      code: 'domain_delete_failed',
      message: `\`domains[1]\`: ${canonical} is in use by simulator and cannot be removed.`,
    })
    expect((await empty.get('/domains')).body.data.domains).toEqual([canonical, 'other.example'])
    // It is a refusal of the service's own, for a state that the name brought about.
    expect((await journalOf(empty))[1]).toMatchObject({ injected: false, fault: null })
  })
})

describe('A domain whose labels shape its record', () => {
  it.for([
    ['p-reject.dkim-95x5.count-1200', { p: 'reject', sp: 'reject', np: 'reject', dkim: 95.5, count: 1200 }],
    ['dkim-33x333.count-10', { dkim: 33.3 }],
    ['p-block.pct-101.dkim-100x1.count-1x5.testing-maybe', { p: 'none', pct: 100, dkim: 0, count: 0, testing: 'n' }],
  ] as const)('%s has it at once, and keeps it', async ([labels, record], { empty }) => {
    const domain = `${labels}.understudy.test`
    await empty.send('POST', '/domains', { domains: [domain] })
    const row = async () => (await empty.get('/dmarc')).body.data[0]
    expect(await row()).toMatchObject({ domain, ...record })
    // What is not pinned gets figures of its own at the next refresh.
    empty.advance(2 * DAY)
    const { p, dkim } = record as { p?: string; dkim?: number }
    if (labels.startsWith('p-reject.dkim')) expect(await row()).toMatchObject({ p, dkim })
  })
})

describe('Simulated domains', () => {
  it('are domains like any other when the server is told so', async () => {
    const service = await startService({ simulator: false })
    const names = ['locked', 'p-reject', 'fail-rate-limited'].map((label) => `${label}.understudy.test`)
    expect((await service.send('POST', '/domains', { domains: names })).status).toBe(200)
    const records = (await service.get('/dmarc')).body.data
    expect(records.map(({ p }: { p: string }) => p)).toEqual(['none', 'none', 'none'])
    expect((await service.send('DELETE', '/domains', { domains: names })).status).toBe(200)
  })

  it('go with overlays that move a code to another status', async () => {
    const actions = [
      { target: "$['x-errors']['invalid_domain']", update: { status: 422 } },
      { target: '$.x-settings.already-monitored', update: { value: 'skipped' } },
    ]
    const service = await startService({ overlays: [writeOverlay(temporaryFolder(), actions)] })
    const failing = { domains: [nameFor('invalid_domain')] }
    expect((await service.send('POST', '/domains', failing)).status).toBe(422)
    const locked = { domains: ['locked.understudy.test'] }
    expect((await service.send('POST', '/domains', locked)).body.data.count).toBe(1)
    expect((await service.send('POST', '/domains', locked)).body.data.count).toBe(0)
  })
})
