import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../../src/server/options.ts'
import { faultsAt } from '../../../src/trials/explore/faults.ts'
import { ruleOf } from '../../../src/trials/explore/plan.ts'
import { pointsOf } from '../../../src/trials/explore/points.ts'
import { FaultSearch } from '../../../src/trials/explore/search.ts'
import { CONTRACT } from '../../support/observed-run.ts'
import type { TestService } from '../../support/service.ts'
import { openSession } from '../client-in-process.ts'

interface Group {
  id: string
  name: string
  domains: string[]
}

/** Sends a request, and resolves to `data`. Rejects with the code of an error. */
type Send = (method: string, path: string, body?: unknown) => Promise<Record<string, never>>
type Client = (send: Send) => Promise<unknown>

const sendTo =
  (service: TestService): Send =>
  async (...request) => {
    const { body } = await service.send(...request)
    if (body?.error !== undefined) throw new Error(body.error.code)
    return body?.data
  }

const groupsOf = async (send: Send): Promise<Group[]> => (await send('GET', '/domaingroups'))['groups'] ?? []
const find = async (send: Send, name = 'Retail') => (await groupsOf(send)).find((each) => each.name === name)
const create = (send: Send, name: string, domains: string[] = []) => send('POST', '/domaingroups', { name, domains })
const patch = (send: Send, id: string | undefined, body: object) => send('PATCH', `/domaingroups?id=${id}`, body)
/** Reads the members, and writes them all with one more. */
const append =
  (member: string): Client =>
  async (send) => {
    const group = await find(send)
    await patch(send, group?.id, { domains: [...(group?.domains ?? []), member] })
  }

const CLIENTS = {
  append: append('b.example'),
  async add(send: Send) {
    await patch(send, (await find(send))?.id, { add_domains: ['b.example'] })
  },
  async ensure(send: Send) {
    if ((await find(send, 'New')) === undefined) await create(send, 'New')
  },
  async recreate(send: Send) {
    const group = await find(send)
    await send('DELETE', `/domaingroups?id=${group?.id}`)
    await create(send, 'Retail', group?.domains)
  },
  async appendAndReport(send: Send) {
    await append('b.example')(send)
    if ((await find(send, 'Report')) === undefined) await create(send, 'Report')
  },
  async release(send: Send) {
    const isUsed = (await groupsOf(send)).some(({ domains }) => domains.includes('d.example'))
    if (!isUsed) await send('DELETE', '/domains', { domains: ['d.example'] })
  },
  async use(send: Send) {
    const { domains = [] } = (await send('GET', '/domains')) as { domains?: string[] }
    if (!domains.includes('d.example')) await send('POST', '/domains', { domains: ['d.example'] })
    await create(send, 'Shop', ['d.example'])
  },
  async readEach(send: Send) {
    for (const { id } of await groupsOf(send)) await send('GET', `/domaingroups?id=${id}`)
  },
  // Believes that the last group of a list is the one that it has created.
  async renameNewest(send: Send) {
    await create(send, 'Mine')
    const newest = (await groupsOf(send)).at(-1)
    await patch(send, newest?.id, { name: `${newest?.name} 2` })
  },
  // Holds a lock that the other client does not know.
  async appendAlone(send: Send) {
    await create(send, 'Busy')
    await append('b.example')(send)
    await send('DELETE', `/domaingroups?id=${(await find(send, 'Busy'))?.id}`)
  },
  // Writes what it wants, whatever is there.
  async declare(send: Send) {
    await patch(send, (await find(send))?.id, { domains: ['a.example', 'b.example'] })
  },
  async sweep(send: Send) {
    for (const { id, name } of await groupsOf(send)) {
      if (name !== 'Retail') await send('DELETE', `/domaingroups?id=${id}`)
    }
    await create(send, 'Last')
  },
  // Asks only for what is certain.
  async blindDelete(send: Send) {
    await send('DELETE', '/domains', { domains: ['d.example'] })
  },
} satisfies Record<string, Client>

const OPTIONS: ServerOptions = {
  fixture: {
    domains: ['a.example', 'b.example', 'c.example', 'd.example'],
    groups: [{ name: 'Retail', domains: ['a.example'] }],
  },
}

/** What each change of another client does to a client, but for those that it tolerates. */
async function verdictsOn(client: Client): Promise<string[]> {
  const session = await openSession((service) => client(sendTo(service)), OPTIONS, { jobs: 1 })
  const faultless = await session.establish()
  if (typeof faultless === 'string') return expect.fail(faultless)
  const points = pointsOf(faultless.observation.requests)
  const faults = points.flatMap((point) => faultsAt(point, CONTRACT)).filter(({ foreign }) => foreign !== undefined)
  const verdicts: string[] = []
  for (const fault of faults) {
    const { replayed } = await new FaultSearch(session, faultless).replay([ruleOf(fault)])
    const told = `${fault.effect.event} at ${fault.point.operation.id}: ${replayed?.verdict}`
    if (replayed?.verdict !== 'tolerated') verdicts.push(told)
  }
  return verdicts
}

const LOST = 'member-added at updateDomainGroup: wrong success'

describe('The change of another client shows', () => {
  it.for<[name: keyof typeof CLIENTS, verdicts: string[]]>([
    ['append', [LOST, 'group-deleted at updateDomainGroup: gave up']],
    ['appendAndReport', [LOST, 'name-taken at createDomainGroup: gave up']],
    ['appendAlone', [LOST]],
    ['recreate', ['member-added at deleteDomainGroup: wrong success', 'name-taken at createDomainGroup: gave up']],
    ['release', ['member-added at deleteDomains: wrong success', 'domains-deleted at deleteDomains: gave up']],
    ['renameNewest', ['group-added at listDomainGroups: wrong success']],
    ['ensure', ['name-taken at createDomainGroup: gave up']],
    ['use', ['domains-deleted at createDomainGroup: gave up']],
    ['readEach', ['group-deleted at listDomainGroups: gave up']],
  ])('in the client %s: %j', async ([name, verdicts]) => {
    expect(await verdictsOn(CLIENTS[name])).toEqual(expect.arrayContaining(verdicts))
  })

  it.for<keyof typeof CLIENTS>(['add', 'declare', 'sweep', 'blindDelete'])(
    'no lost change in the client %s, whose result is that of a serial order',
    async (name) => {
      expect((await verdictsOn(CLIENTS[name])).filter((each) => !each.endsWith('gave up'))).toEqual([])
    },
  )
})
