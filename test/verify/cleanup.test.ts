import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/ground/clock.ts'
import { isObject, readJson } from '../../src/ground/json.ts'
import { type Cleanup, restore } from '../../src/verify/cleanup.ts'
import { ConnectionError, sendTo, type WireRequest, type WireResponse } from '../../src/verify/client.ts'
import { Conversation } from '../../src/verify/conversation.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import type { ProbeRequest } from '../../src/verify/probe.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, startService } from '../support/service.ts'
import { inventoryOf, NO_LEDGER, type Way } from './runs.ts'

const MARK = 'verify-x1'
const OWN = Array.from({ length: 60 }, (_, index) => `${MARK}-${index}.example`)
const CREATIONS: readonly ProbeRequest[] = [
  { method: 'POST', path: '/domains', body: { domains: OWN.slice(0, 50) } },
  { method: 'POST', path: '/domains', body: { domains: OWN.slice(50) } },
  { method: 'POST', path: '/domaingroups', body: { name: `${MARK} 1`, domains: OWN.slice(0, 2) } },
  { method: 'POST', path: '/domaingroups', body: { name: `${MARK} 2` } },
]

/** Creates items in an account of others, and removes them. `way` is the way of the requests of the cleanup. */
async function restoreAfter(way: Way, creations = CREATIONS) {
  const service = await startService({ fixture: 'demo' })
  const before = await inventoryOf(service)
  const holdings = new Holdings(MARK)
  const send = sendTo(new URL(service.baseUrl), 5_000)
  let isCleaning = false
  const conversation = new Conversation({
    send: (request) => (isCleaning ? way(request, send) : send(request)),
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

/** The first two lists still show what was removed. */
function lateLists(): Way {
  let read = 0
  return async (request, send) => {
    const response = await send(request)
    if (request.method !== 'GET' || ++read > 2) return response
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
    ['nothing was created', plain, []],
  ])('leaves nothing where %s', async (_, way, creations) => {
    const { cleanup, isAsBefore } = await restoreAfter(way, creations)
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] } })
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
