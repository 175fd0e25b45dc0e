import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/ground/clock.ts'
import { isObject, readJson } from '../../src/ground/json.ts'
import { type Cleanup, restore } from '../../src/verify/cleanup.ts'
import { Client, ConnectionError, type WireRequest, type WireResponse } from '../../src/verify/client.ts'
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

interface Terms {
  way?: Way
  /** The requests that are sent before the cleanup, in place of the usual ones. */
  creations?: readonly ProbeRequest[]
}

/** Creates items in an account of others, and removes them. `way` is the way of the requests of the cleanup. */
async function restoreAfter({ way, creations = CREATIONS }: Terms) {
  const service = await startService({ fixture: 'demo' })
  const before = await inventoryOf(service)
  const holdings = new Holdings(MARK)
  const client = new Client(new URL(service.baseUrl), 5_000)
  let isCleaning = false
  const conversation = new Conversation({
    client: {
      send: (request) => (isCleaning && way ? way(request, (passed) => client.send(passed)) : client.send(request)),
    },
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
  return { cleanup, isAsBefore: JSON.stringify(await inventoryOf(service)) === JSON.stringify(before), service }
}

/** The reads of the first `count` lists show nothing of the run, or still what was removed. */
function lists(change: (list: unknown[], request: WireRequest) => unknown[], count: number): Way {
  let read = 0
  return async (request, send) => {
    const response = await send(request)
    if (request.method !== 'GET' || ++read > count) return response
    const body = readJson(response.body.toString())
    const data = isObject(body) ? body['data'] : undefined
    if (!isObject(data)) return response
    for (const name of ['domains', 'groups']) if (Array.isArray(data[name])) data[name] = change(data[name], request)
    return { ...response, body: Buffer.from(JSON.stringify(body)) }
  }
}

const limited: WireResponse = {
  status: 429,
  rawHeaders: ['Content-Type', 'application/json'],
  body: Buffer.from('{"success":false,"error":{"code":"rate_limited","message":"No."}}'),
}

/** Answers some requests of the cleanup in place of the service, by their number. */
const instead = (reply: () => WireResponse, isInstead: (request: WireRequest, number: number) => boolean): Way =>
  (
    (number = 0) =>
    async (request, send) =>
      isInstead(request, ++number) ? reply() : send(request)
  )()

const cut = (): never => {
  throw new ConnectionError('the connection was closed without a response', true)
}

describe('the cleanup of verify', () => {
  it.each<[what: string, terms: Terms]>([
    ['the lists are as they should be', {}],
    ['a list still shows what was removed', { way: lists((list) => [...list, ...theirs(list)], 2) }],
    [
      'one request is refused for the quota',
      {
        way: instead(
          () => limited,
          (_, number) => number === 2,
        ),
      },
    ],
    [
      'a removal gets the page of a gateway',
      { way: instead(gateway, ({ method }, n) => method === 'DELETE' && n < 3) },
    ],
    ['a removal is cut off', { way: instead(cut, ({ method }, number) => method === 'DELETE' && number < 4) }],
    ['nothing was created', { creations: [] }],
  ])('leaves nothing where %s', async (_, terms) => {
    const { cleanup, isAsBefore } = await restoreAfter(terms)
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] } })
    expect(isAsBefore).toBe(true)
  })

  it('removes what no answer has named', async () => {
    const sent = new Set<string>()
    const { cleanup, isAsBefore } = await restoreAfter({
      creations: CREATIONS.slice(0, 1),
      way: async (request, send) => {
        // Another process of the run has got no answer to this.
        if (sent.size === 0) await send(creation(`${MARK} late`))
        sent.add(request.path)
        return send(request)
      },
    })
    expect(cleanup).toMatchObject({ restored: true })
    expect(isAsBefore).toBe(true)
  })

  it.each<[path: string, left: Partial<Cleanup['left']>]>([
    ['/domains', { groups: [] }],
    ['/domaingroups', { groups: [expect.any(String), expect.any(String)] as never }],
  ])('names what is left where the quota of %s is used up, and why', async (path, left) => {
    const { cleanup } = await restoreAfter({
      way: instead(
        () => limited,
        (request) => request.path.startsWith(path),
      ),
    })
    expect(cleanup).toMatchObject({ restored: false, left })
    expect(cleanup.reason).toMatch(new RegExp(`^the quota of ${path} is used up for \\d+ more minutes`))
    expect(cleanup.left.domains).toHaveLength(path === '/domains' ? 60 : 0)
  })

  it('names what is left where the service does not remove it', async () => {
    const done = () => ({ ...limited, status: 200, body: Buffer.from('{"success":true,"data":{"message":"Done."}}') })
    const { cleanup } = await restoreAfter({ way: instead(done, ({ method }) => method === 'DELETE') })
    expect(cleanup).toMatchObject({ restored: false, reason: 'the service did not remove everything' })
    expect(cleanup.left.domains).toHaveLength(60)
  })
})

function theirs(list: readonly unknown[]): unknown[] {
  return typeof list[0] === 'string' ? OWN.slice(0, 1) : [{ id: 'old', name: `${MARK} old`, domains: [] }]
}

function gateway(): WireResponse {
  return { status: 502, rawHeaders: ['Content-Type', 'text/html'], body: Buffer.from('<html></html>') }
}

function creation(name: string): WireRequest {
  const headers = { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' }
  return { method: 'POST', path: '/domaingroups', headers, body: Buffer.from(JSON.stringify({ name })) }
}

it('takes no domain in an odd spelling for a probe', () => {
  const holdings = new Holdings(MARK)
  const domains = [`b\u00fccher.${MARK}-1.example`, `${MARK}-2.example.`, `${MARK}-3.example`]
  holdings.learn({ method: 'POST', path: '/domains', body: { domains } }, { domains })
  expect(holdings.free(9)).toEqual([domains[2]])
  expect(holdings.domains.size).toBe(3)
})
