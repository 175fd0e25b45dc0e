import { describe, expect, it } from 'vitest'
import { Client, type WireRequest, type WireResponse } from '../../../src/evidence/verify/client.ts'
import { isObject, type Json, readJson } from '../../../src/ground/json.ts'
import { openService, type TestService } from '../../support/service.ts'
import { inventoryOf, NO_JUDGE, prepareRun } from './runs.ts'

const FOREIGN = { fixture: 'demo', enforceQuotas: false }

/** Changes what a service has answered. */
type Lie = (data: Json, request: WireRequest, service: TestService) => void

/** Passes requests on, and keeps those that may change something. */
class Liar {
  readonly #client: Client
  readonly #service: TestService
  readonly #lie: Lie
  readonly writes: WireRequest[] = []

  constructor(service: TestService, lie: Lie) {
    this.#client = new Client(new URL(service.baseUrl), 5_000)
    this.#service = service
    this.#lie = lie
  }

  async send(request: WireRequest): Promise<WireResponse> {
    if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method)) this.writes.push(request)
    const response = await this.#client.send(request)
    const answer = readJson(response.body.toString())
    if (!isObject(answer) || !isObject(answer['data'])) return response
    this.#lie(answer['data'], request, this.#service)
    return { ...response, body: Buffer.from(JSON.stringify(answer)) }
  }
}

async function runAgainst(lie: Lie, before: (service: TestService) => Promise<void> = async () => {}) {
  const service = await openService(FOREIGN)
  await before(service)
  const there = await inventoryOf(service)
  const liar = new Liar(service, lie)
  const result = await prepareRun(service, { client: liar, judge: NO_JUDGE }).result()
  return { result, liar, there, after: await inventoryOf(service) }
}

async function groupOfOthers({ store }: TestService) {
  const [group] = (await store.read('default')).groups.values()
  return group
}

describe('verify against a service that lies', () => {
  it('does not take a group of others for its own because the answer to a creation names it', async () => {
    let theirs: Awaited<ReturnType<typeof groupOfOthers>>
    const { liar, there, after, result } = await runAgainst(
      (data, { method, path }) => {
        if (method === 'POST' && path === '/domaingroups') data['group'] = structuredClone(theirs)
      },
      async (service) => {
        theirs = await groupOfOthers(service)
      },
    )
    expect(liar.writes.filter(({ path }) => path.includes(theirs?.id ?? '-'))).toEqual([])
    expect(after).toEqual(there)
    expect(result.probes.map(({ reason }) => reason ?? '').filter((reason) => /must not/.test(reason))).toEqual([])
  })

  it('does not take a group that others have made meanwhile for its own', async () => {
    const { liar, result } = await runAgainst((data, { method, path }) => {
      if (method === 'POST' && path === '/domaingroups') data['group'] = { id: 'later', name: 'Theirs', domains: [] }
    })
    expect(liar.writes.filter(({ path }) => path.includes('later'))).toEqual([])
    expect(result.cleanup).toMatchObject({ restored: true })
  })

  it.each<[what: string, lie: Lie]>([
    [
      'domains as objects',
      (data) => {
        if (Array.isArray(data['domains'])) data['domains'] = data['domains'].map((domain) => ({ domain }))
      },
    ],
    [
      'groups with another field than name',
      (data) => {
        if (Array.isArray(data['groups']))
          data['groups'] = data['groups'].map(({ name: title, ...rest }) => ({ ...rest, title }))
      },
    ],
    [
      'groups whose ids are numbers',
      (data) => {
        if (Array.isArray(data['groups'])) data['groups'] = data['groups'].map((group, id) => ({ ...group, id }))
      },
    ],
    [
      'groups whose members are objects',
      (data) => {
        if (!Array.isArray(data['groups'])) return
        data['groups'] = data['groups'].map((group) => ({ ...group, domains: [{ domain: 'a.example' }] }))
      },
    ],
  ])('sends nothing that might change what it cannot read: %s', async (_, lie) => {
    const { liar, there, after, result } = await runAgainst(lie)
    expect(liar.writes).toEqual([])
    expect(after).toEqual(there)
    expect(result.probes.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/no list that can be read/))
    expect(result.cleanup).toMatchObject({ restored: true })
  })

  it('removes no domain that an answer names and that it did not add', async () => {
    const { liar, there, after } = await runAgainst((data, { method, path }) => {
      if (path === '/domains' && method !== 'GET' && Array.isArray(data['domains']))
        data['domains'].push('fjordlight.example')
    })
    expect(liar.writes.filter(({ method, body }) => method === 'DELETE' && body?.includes('fjordlight'))).toEqual([])
    expect(after).toEqual(there)
  })

  it('goes on when a list has entries that are nothing', async () => {
    let lists = 0
    const { there, after } = await runAgainst((data) => {
      if (Array.isArray(data['groups']) && ++lists > 1 && lists < 4) data['groups'].push(null, 5, { id: 7 })
    })
    expect(after).toEqual(there)
  })

  it('judges what is nested too deeply as unreadable, and comes to its end', async () => {
    const service = await openService(FOREIGN)
    const client = new Client(new URL(service.baseUrl), 5_000)
    const deep = `{"success":true,"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const send = async (request: WireRequest) => ({ ...(await client.send(request)), body: Buffer.from(deep) })
    const { conclusion, cleanup } = await prepareRun(service, { client: { send }, writes: false }).result()
    expect(conclusion.exchanges).toBeGreaterThan(10)
    expect(cleanup).toMatchObject({ restored: true })
  })
})
