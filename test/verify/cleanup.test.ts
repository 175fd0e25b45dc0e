import { describe, expect, it } from 'vitest'
import { isObject, readJson } from '../../src/ground/json.ts'
import { systemClock } from '../../src/ground/timers.ts'
import { type Cleanup, restore } from '../../src/verify/cleanup.ts'
import { ConnectionError, sendTo, type WireRequest, type WireResponse } from '../../src/verify/client.ts'
import { Conversation } from '../../src/verify/conversation.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import { type ProbeRequest, quotaPathOf } from '../../src/verify/probe.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, startService } from '../support/service.ts'
import { inventoryOf, NO_LEDGER, type Way } from './runs.ts'

const MARK = 'verify-x1'
const OWN = Array.from({ length: 60 }, (_, index) => `${MARK}-${index}.example`)
const CREATIONS: readonly ProbeRequest[] = [
  { method: 'POST', path: '/domains', body: { domains: OWN.slice(0, 50) } },
  { method: 'POST', path: '/domains', body: { domains: OWN.slice(50).map((name) => name.toUpperCase()) } },
  { method: 'POST', path: '/domaingroups', body: { name: `${MARK} 1`, domains: OWN.slice(0, 2) } },
  { method: 'POST', path: '/domaingroups', body: { name: `${MARK} 2` } },
]

/** An addition is answered with the names as they were sent. */
const echoing: Way = async (request, send) => {
  const response = await send(request)
  if (request.method !== 'POST' || request.path !== '/domains') return response
  const { domains } = JSON.parse(`${request.body}`)
  return answer(200, JSON.stringify({ success: true, data: { message: 'Added.', domains, count: domains.length } }))
}

/** Creates items in an account of others, and removes them. `way` is the way of the requests of the cleanup. */
async function restoreAfter(way: Way, creations = CREATIONS) {
  const service = await startService({ fixture: 'demo' })
  const before = await inventoryOf(service)
  const holdings = new Holdings(MARK)
  const send = sendTo(new URL(service.baseUrl), 5_000)
  let isCleaning = false
  const conversation = new Conversation({
    send: (request) => (isCleaning ? way : echoing)(request, send),
    ...{ contract: choices.contract, clock: systemClock, reserve: 0, holdings, apiKey: API_KEY },
    ...{ ledger: NO_LEDGER, judge: undefined, writes: true, waits: false, tell: () => {} },
    sleep: async (milliseconds) => service.advance(milliseconds),
    signal: new AbortController().signal,
  })
  const [groups, domains] = [await service.get('/domaingroups'), await service.get('/domains')]
  holdings.remember({ groups: groups.body.data.groups, domains: domains.body.data.domains })
  for (const request of creations) await conversation.ask(request)
  isCleaning = true
  const cleanup = await restore(conversation)
  return { cleanup, isAsBefore: JSON.stringify(await inventoryOf(service)) === JSON.stringify(before) }
}

const plain: Way = (request, send) => send(request)

/** The first list of each kind after the first removal still shows what was removed. */
function lateLists(): Way {
  const late = new Set<string>()
  let isRemoved = false
  return async (request, send) => {
    const response = await send(request)
    isRemoved ||= isRemoval(request)
    if (request.method !== 'GET' || !isRemoved || late.has(request.path)) return response
    late.add(request.path)
    const body = readJson(response.body.toString())
    const data = isObject(body) && isObject(body['data']) ? body['data'] : {}
    if (Array.isArray(data['domains'])) data['domains'].push(OWN[0])
    if (Array.isArray(data['groups'])) data['groups'].push({ id: 'old', name: `${MARK} old`, domains: [] })
    return { ...response, body: Buffer.from(JSON.stringify(body)) }
  }
}

const page: WireResponse = {
  status: 502,
  rawHeaders: ['Content-Type', 'text/html'],
  body: Buffer.from('<html></html>'),
}
const answer = (status: number, body: string): WireResponse => ({
  ...{ status, rawHeaders: ['Content-Type', 'application/json'], body: Buffer.from(body) },
})
const busy = answer(409, '{"success":false,"error":{"code":"domain_delete_failed","message":"No."}}')
const failure = answer(500, '{"success":false,"error":{"code":"internal_error","message":"No."}}')
const login: WireResponse = { status: 302, rawHeaders: ['Location', 'https://a.example/'], body: Buffer.alloc(0) }
const soon: WireResponse = { ...page, status: 429, rawHeaders: ['Content-Type', 'text/html', 'Retry-After', '1'] }
const limited = answer(429, '{"success":false,"error":{"code":"rate_limited","message":"No."}}')

/** Answers some requests of the cleanup in place of the service, by their number. */
function instead(reply: WireResponse | Error, isInstead: (request: WireRequest, number: number) => boolean): Way {
  let number = 0
  return async (request, send) => {
    if (!isInstead(request, ++number)) return send(request)
    if (reply instanceof Error) throw reply
    return reply
  }
}

const CUT = new ConnectionError('the connection was closed without a response', true)
const isRemoval = ({ method }: WireRequest) => method === 'DELETE'
const isRemovalOf = (path: string) => (request: WireRequest) => isRemoval(request) && request.path.startsWith(path)
/** The first requests that these are. */
function first(count: number, isOne: (request: WireRequest) => boolean) {
  let number = 0
  return (request: WireRequest) => isOne(request) && ++number <= count
}
const isList = ({ method }: WireRequest) => method === 'GET'

/** The list of domains after the removal has nothing yet. */
function emptyList(): Way {
  const isEmpty = first(1, (request) => isList(request) && request.path === '/domains')
  let isRemoved = false
  return async (request, send) => {
    isRemoved ||= isRemovalOf('/domains')(request)
    return isRemoved && isEmpty(request) ? answer(200, '{"success":true,"data":{"domains":[]}}') : send(request)
  }
}

/** Another client removes a domain of the run between the list and the removal. */
function racing(): Way {
  let isOver = false
  return async (request, send) => {
    const body = Buffer.from(JSON.stringify({ domains: OWN.slice(7, 8) }))
    if (!isOver && isRemovalOf('/domains')(request)) await send({ ...request, body })
    isOver ||= isRemovalOf('/domains')(request)
    return send(request)
  }
}

/** The first two removals of the same group. */
function twoOfOne(): (request: WireRequest) => boolean {
  let first: string | undefined
  let count = 0
  return ({ method, path }) => {
    if (method !== 'DELETE' || !path.startsWith('/domaingroups')) return false
    first ??= path
    return path === first && ++count <= 2
  }
}

describe('the cleanup of verify', () => {
  it.each<[what: string, way: Way, creations?: ProbeRequest[]]>([
    ['the lists are as they should be', plain],
    ['a list still shows what was removed', lateLists()],
    ['one request is refused for the quota', instead(limited, (_, number) => number === 2)],
    ['a removal gets the page of a gateway', instead(page, (request, number) => isRemoval(request) && number < 3)],
    ['a removal is cut off', instead(CUT, (request, number) => isRemoval(request) && number < 4)],
    ['the removal of one group gets such a page twice', instead(page, twoOfOne())],
    ['a new domain cannot be removed for a while', instead(busy, first(3, isRemovalOf('/domains')))],
    ['another client removes one of its domains', racing()],
    [
      'the first list of groups is older than they are',
      instead(answer(200, '{"success":true,"data":{"groups":[],"count":0}}'), first(1, isList)),
    ],
    ['a list lacks for a moment what others have', emptyList()],
    ['a list gets a page', instead({ ...page, status: 403 }, first(2, isList))],
    ['a list gets a redirect', instead(login, first(2, isList))],
    ['a list gets a failure', instead(failure, first(2, isList))],
    ['a gateway asks to come back in a second', instead(soon, (_, number) => number % 4 === 1)],
    ['nothing was created', plain, []],
  ])('leaves nothing where %s', async (_, way, creations) => {
    const { cleanup, isAsBefore } = await restoreAfter(way, creations)
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] }, lost: [] })
    expect(isAsBefore).toBe(true)
  })

  it.each<[path: string, left: Partial<Cleanup['left']>, domains: number]>([
    ['/domains', { groups: [] }, 60],
    ['/domaingroups', { groups: [expect.any(String), expect.any(String)] as never }, 0],
  ])('names what is left where the quota of %s is used up, and why', async (path, left, domains) => {
    const { cleanup } = await restoreAfter(instead(limited, (request) => request.path.startsWith(path)))
    expect(cleanup).toMatchObject({ restored: false, left })
    expect(cleanup.reason).toMatch(new RegExp(`^the quota of ${path} is used up for \\d+ more minutes`))
    expect(cleanup.left.domains).toHaveLength(domains)
  })

  it('names domains that are left as the list spells them', async () => {
    const { cleanup } = await restoreAfter(instead(limited, isRemovalOf('/domains')))
    expect(cleanup.left.domains.toSorted()).toEqual(OWN.toSorted())
  })

  it('removes all but the domain that the service keeps, and asks few times for it', async () => {
    let removals = 0
    const { cleanup } = await restoreAfter((request, send) => {
      if (!isRemovalOf('/domains')(request)) return send(request)
      removals++
      return request.body?.includes(`"${OWN[7]}"`) ? Promise.resolve(busy) : send(request)
    })
    expect(cleanup).toMatchObject({ restored: false, left: { domains: [OWN[7]], groups: [] } })
    expect(cleanup.removed).toEqual({ domains: 59, groups: 2 })
    expect(removals).toBeLessThan(20)
  })

  it('asks once more for all at once before it tries halves', async () => {
    const isRefused = first(2, isRemovalOf('/domains'))
    const removals: WireRequest[] = []
    const { cleanup } = await restoreAfter(async (request, send) => {
      if (isRemovalOf('/domains')(request)) removals.push(request)
      return isRefused(request) ? busy : send(request)
    })
    expect(cleanup.restored).toBe(true)
    expect(removals).toHaveLength(4)
  })

  it('removes the groups before the domains that they have', async () => {
    const removed: string[] = []
    await restoreAfter((request, send) => {
      if (isRemoval(request)) removed.push(quotaPathOf(request))
      return send(request)
    })
    expect(removed).toEqual(['/domaingroups', '/domaingroups', '/domains', '/domains'])
  })

  it('does not count as removed what the service has not removed', async () => {
    const { cleanup } = await restoreAfter(
      instead(answer(200, '{"success":true,"data":{"message":"Done."}}'), isRemoval),
    )
    expect(cleanup.removed).toEqual({ domains: 0, groups: 0 })
  })

  it('names what is left where the service does not remove it', async () => {
    const { cleanup } = await restoreAfter(
      instead(answer(200, '{"success":true,"data":{"message":"Done."}}'), isRemoval),
    )
    expect(cleanup).toMatchObject({ restored: false, reason: 'the service did not remove everything' })
    expect(cleanup.left.domains).toHaveLength(60)
  })
})

it('takes no domain in an odd spelling for a probe', () => {
  const holdings = new Holdings(MARK)
  const domains = [`b\u00fccher.${MARK}-1.example`, `${MARK}-2.example.`, `${MARK}-3.example`]
  holdings.learn({ method: 'POST', path: '/domains', body: { domains } }, { domains })
  expect(holdings.free).toEqual([domains[2]])
  expect(holdings.domains.size).toBe(3)
})

it('knows the members of a group after a change whose answer does not show them', () => {
  const holdings = new Holdings(MARK)
  const [one = '', two = '', three = ''] = OWN
  holdings.adopt({ id: 'g1', name: `${MARK} 1`, domains: [one] })
  const change = (body: object) => {
    holdings.learn({ method: 'PATCH', path: '/domaingroups?id=g1', body }, { message: 'Done.' })
    return holdings.groups.get('g1')
  }
  expect(change({ add_domains: [two] })?.domains).toEqual([one, two])
  expect(change({ name: 'new', remove_domains: [one, three] })).toEqual({ id: 'g1', name: 'new', domains: [two] })
  expect(change({ domains: [three] })?.domains).toEqual([three])
})

it.each<[name: string, domains: string[], isOwn: boolean]>([
  ['VERIFY-X1 a', [], true],
  ['', OWN.slice(0, 2), true],
  ['', [], false],
  ['Theirs', [OWN[0] ?? '', 'a.example'], false],
])('takes a listed group for its own by its name or by all its members: %j, %j', (name, domains, isOwn) => {
  const holdings = new Holdings(MARK)
  expect(holdings.isOwnListedGroup({ id: 'g1', name, domains })).toBe(isOwn)
  holdings.remember({ domains: [], groups: [{ id: 'g1', name, domains }] })
  expect(holdings.isOwnListedGroup({ id: 'g1', name, domains })).toBe(false)
})
