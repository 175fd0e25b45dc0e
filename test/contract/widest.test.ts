import { afterAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { nameOf } from '../../src/contract/choices.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { widestOf } from '../../src/contract/widest.ts'
import { KnownBody } from '../../src/exchanges/exchange.ts'
import { valueAt } from '../../src/ground/json.ts'
import { judgeSingle } from '../../src/judge/contract-check.ts'
import { isFailure, partyOf } from '../../src/judge/finding.ts'
import { type Made, readingOf } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'
import { headersOf } from '../support/exchanges.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, openService, type TestService } from '../support/service.ts'
import { widest } from '../support/widest.ts'

const operationOf = (id: string) => {
  const operation = widest.contract.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation
}

describe('the widest document permits', () => {
  it.each([
    ['addDomains', [200, 201, 202]],
    ['deleteDomains', [200, 202]],
    ['createDomainGroup', [200, 201]],
    ['listDomains', [200]],
  ])('to a success of %s every status of an alternative', (id, statuses) => {
    expect([...widest.of(operationOf(id)).statuses].toSorted()).toEqual(statuses)
  })

  it.each([
    ['unauthorized', [401, 402, 403]],
    ['invalid_domain', [400, 409, 422]],
    ['duplicate_name', [400, 409, 422]],
    ['no code', []],
  ])('to the code %s every status of an alternative', (code, statuses) => {
    expect([...widest.statusesOf(code)].toSorted()).toEqual(statuses)
  })

  it.each([
    ['deleteDomains', 'not_monitored', true],
    ['listDomains', 'unknown_field', true],
    ['updateDomainGroup', 'duplicate_name', true],
    ['listDomains', 'duplicate_name', false],
    ['addDomains', 'not_monitored', false],
  ])('to %s the code %s: %s', (id, code, isPermitted) => {
    expect(widest.of(operationOf(id)).codes.has(code)).toBe(isPermitted)
  })

  it.each([
    [404, 'not_found', true],
    [405, 'not_found', true],
    [405, 'invalid_request_body', true],
    [401, 'unauthorized', true],
    [404, 'duplicate_name', false],
  ])('that a path or a method that is none is refused with %d %s: %s', (status, code, isPermitted) => {
    expect(widest.isRefusedOutside(status, code)).toBe(isPermitted)
  })

  it.each<[schema: string, value: unknown, wrong: readonly string[]]>([
    ['DomainGroupId', '4fTq81Zb', []],
    ['DomainGroupId', 'a1b2c3d4e5', []],
    ['DomainGroupId', 'ff00ff', []],
    ['DomainGroupId', 'ff00f', ['minLength']],
    ['Percentage', 12.34, []],
    ['Percentage', 12.345, ['multipleOf']],
    ['Percentage', 101, ['maximum']],
    ['Percentage', '12', ['type']],
    ['Policy', '', []],
    ['Policy', 'monitor', ['enum']],
    ['Domain', 'MÜNCHEN.example.', []],
    ['Domain', '*._x.example', []],
    ['Domain', 'xn--zz.example', []],
    ['Domain', 'a b', ['format']],
    ['Domains', ['a.example', 'a.example'], ['uniqueItems']],
    ['UpdatedDomainGroup', {}, []],
    ['UpdatedDomainGroup', { message: 'Done.' }, []],
    ['DomainsToAdd', { domains: [] }, []],
    ['DomainsToAdd', { domains: Array(51).fill('a.example') }, ['maxItems']],
    ['DomainGroupToCreate', { name: ' ' }, []],
    ['DomainGroupToCreate', { name: '' }, ['minLength']],
    ['DomainGroupChanges', { add_domains: [] }, []],
    ['DomainGroupChanges', { domains: [], add_domains: [] }, ['not']],
    ['DmarcRecord', null, ['type']],
    ['DmarcRecord', Object.create(null), Array(10).fill('required')],
  ])('as %s %j, but for %j', (schema, value, wrong) => {
    const found = widest.checkAt(`/components/schemas/${schema}`)(value)
    expect(found.map(({ keyword }) => keyword)).toEqual(wrong)
    for (const { place } of found) expect(valueAt(widest.contract.document.source, place), place).toBeDefined()
  })

  it.each([
    ['/components/schemas/DomainGroupId/minLength', true],
    ['/components/schemas/Policy/enum', true],
    ['/components/schemas/Percentage/multipleOf', true],
    ['/components/schemas/UpdatedDomainGroup/required', true],
    [`${widest.errors}/invalid_domain`, true],
    ['/components/schemas/Percentage/maximum', false],
    ['/components/schemas/DomainGroup/required', false],
    ['/components/schemas/ErrorCode/enum', false],
  ])('what is open at %s as another choice: %s', (place, isOpen) => {
    expect(widest.isOpen(place)).toBe(isOpen)
  })

  it('what an overlay says beside the alternatives', async () => {
    const update = { status: 410, reasons: { unmonitored: { status: 404, message: 'No.' } } }
    const overlay = {
      name: 'own',
      actions: [{ target: `$${widest.errors.replaceAll('/', '.')}.domain_delete_failed`, update }],
    }
    const contract = await loadContract({ overlays: [overlay as never] })
    const own = widestOf(contract)
    expect([...own.statusesOf('domain_delete_failed')].toSorted()).toEqual([400, 404, 410, 422])
  })
})

const FIXTURE = {
  domains: ['a.example', 'b.example', { name: 'used.example', features: ['mta-sts'] }],
  groups: [{ name: 'Shop', domains: ['a.example'] }],
}

/** Requests of each operation, lawful ones and others; `{id}` is the id of the first group. */
const ASKED: readonly Pick<Made, 'method' | 'path' | 'sent' | 'fields'>[] = [
  { path: '/dmarc' },
  { path: '/domains?page=2' },
  { path: '/domaingroups' },
  { path: '/domaingroups?id={id}' },
  { path: '/domaingroups?id=none' },
  { path: '/domaingroups?id=' },
  { method: 'POST', path: '/domains', sent: { domains: ['New.example', 'bücher.example'] } },
  { method: 'POST', path: '/domains', sent: { domains: ['a.example'] } },
  { method: 'POST', path: '/domains', sent: { domains: [] } },
  { method: 'POST', path: '/domains', sent: { domains: ['c.example'] }, fields: { 'content-type': 'text/plain' } },
  { method: 'POST', path: '/domains', sent: '{' },
  { method: 'DELETE', path: '/domains', sent: { domains: ['b.example'] } },
  { method: 'DELETE', path: '/domains', sent: { domains: ['used.example'] } },
  { method: 'DELETE', path: '/domains', sent: { domains: ['other.example', 'no host'] } },
  { method: 'POST', path: '/domaingroups', sent: { name: ' Web ', domains: ['a.example'] } },
  { method: 'POST', path: '/domaingroups', sent: { name: 'shop' } },
  { method: 'POST', path: '/domaingroups', sent: { name: 'New', domains: null } },
  { method: 'PATCH', path: '/domaingroups?id={id}', sent: { name: 'Other', add_domains: ['a.example'] } },
  { method: 'PATCH', path: '/domaingroups?id={id}', sent: { remove_domains: [] } },
  { method: 'PATCH', path: '/domaingroups', sent: { name: 'Other' } },
  { method: 'PATCH', path: '/domaingroups?id={id}', sent: { domains: ['other.example'] } },
  { method: 'DELETE', path: '/domaingroups?id={id}' },
  { method: 'PUT', path: '/domains' },
  { path: '/Domains/' },
  { path: '/nothing' },
]

const TOGETHER = 4

describe('the widest document permits all that the stand-in answers', () => {
  const open: TestService[] = []
  afterAll(() => Promise.all(open.map((service) => service.stop())))

  /** Each alternative is chosen together with some of other assumptions, so that fewer services are started. */
  const byNumber = choices.alternatives.toSorted((one, other) => one.number - other.number)
  const together = Array.from({ length: Math.ceil(byNumber.length / TOGETHER) }, (_, index) =>
    byNumber.slice(index * TOGETHER, (index + 1) * TOGETHER),
  )

  it.for([[], ...together].map((chosen) => [chosen.map(nameOf).join(', ') || 'as chosen', chosen] as const))(
    '%s',
    async ([, chosen]) => {
      const contract = await choices.compile(chosen)
      const service = await openService({ fixture: FIXTURE as never }, OPERATIONS, { contract })
      open.push(service)
      const authorization = `Bearer ${API_KEY}`
      let id = ''
      for (const { method = 'GET', path, sent, fields = {} } of ASKED) {
        const target = path.replace('{id}', id)
        const received = await sendRequest(method, service.baseUrl + target, sent, { authorization, ...fields })
        const groups = received.body?.data?.groups as { id: string }[] | undefined
        id = groups?.[0]?.id ?? id
        const reading = readingOf({ method, path: target, sent, fields }, (exchange) => ({
          ...exchange,
          response: {
            status: received.status,
            headers: headersOf(Object.entries(received.headers).map(([name, value]) => [name, String(value)])),
            body: new KnownBody(received.text),
          },
        }))
        const wrong = judgeSingle(reading, widest).filter((finding) => {
          return partyOf(finding) === 'service' && (isFailure(finding) || finding.label === 'another choice')
        })
        expect(wrong, `${method} ${target}`).toEqual([])
      }
    },
  )
})
