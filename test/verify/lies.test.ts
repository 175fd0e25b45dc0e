import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, readJson } from '../../src/ground/json.ts'
import { isCounted } from '../../src/judge/finding.ts'
import { ConnectionError, sendTo, type WireRequest } from '../../src/verify/client.ts'
import { listenOn } from '../support/listening.ts'
import { startService } from '../support/service.ts'
import { inventoryOf, NO_JUDGE, NO_LEDGER, prepareRun, SHORT, type Way } from './runs.ts'

const FOREIGN = { fixture: 'demo', enforceQuotas: false }

/** Changes what a service has answered. */
type Lie = (data: Json, request: WireRequest) => void

/** A run against a demo account of others, what it sent that may change something, and the account before and after. */
async function runAgainst(lie: Lie) {
  const service = await startService(FOREIGN)
  const there = await inventoryOf(service)
  const writes: WireRequest[] = []
  const way: Way = async (request, send) => {
    if (request.method !== 'GET') writes.push(request)
    const response = await send(request)
    const answer = readJson(response.body.toString())
    if (!isObject(answer) || !isObject(answer['data'])) return response
    lie(answer['data'], request)
    return { ...response, body: Buffer.from(JSON.stringify(answer)) }
  }
  const result = await prepareRun(service, { way, judge: NO_JUDGE, ledger: NO_LEDGER, plan: SHORT }).result()
  expect(await inventoryOf(service)).toEqual(there)
  return { result, writes }
}

/** Changes each entry of a list that an answer has. */
const everyOne =
  (list: 'domains' | 'groups', change: (each: Json, index: number) => unknown): Lie =>
  (data) => {
    if (Array.isArray(data[list])) data[list] = data[list].map(change)
  }

describe('verify against a service that lies', () => {
  it('does not take a group of others for its own because the answer to a creation names it', async () => {
    let theirs: Json = {}
    const { writes, result } = await runAgainst((data, { method, path }) => {
      if (Array.isArray(data['groups'])) theirs = data['groups'][0]
      if (method === 'POST' && path === '/domaingroups') data['group'] = structuredClone(theirs)
    })
    expect(theirs['id']).toMatch(/\w/)
    expect(writes.filter(({ path }) => path.includes(String(theirs['id'])))).toEqual([])
    expect(result.probes.map(({ reason }) => reason ?? '').filter((reason) => /must not/.test(reason))).toEqual([])
  })

  it.each<[what: string, lie: Lie]>([
    ['domains as objects', everyOne('domains', (domain) => ({ domain }))],
    ['groups with another field than name', everyOne('groups', ({ name: title, ...rest }) => ({ ...rest, title }))],
    ['members as objects', everyOne('groups', (group) => ({ ...group, domains: [{ domain: 'a.example' }] }))],
  ])('sends nothing that might change what it cannot read: %s', async (_, lie) => {
    const { writes, result } = await runAgainst(lie)
    expect(writes).toEqual([])
    expect(result.probes.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/no list that can be read/))
    expect(result.cleanup).toMatchObject({ restored: true })
  })

  it('removes no domain that an answer names and that it did not add', async () => {
    const { writes } = await runAgainst((data, { method, path }) => {
      if (path === '/domains' && method !== 'GET' && Array.isArray(data['domains']))
        data['domains'].push('fjordlight.example')
    })
    expect(writes.filter(({ method, body }) => method === 'DELETE' && body?.includes('fjordlight'))).toEqual([])
  })

  it('reads no more than 4 MiB of a list, accuses nobody of more, and changes nothing', async () => {
    const domains = Array.from({ length: 200_000 }, (_, index) => `${index}.a-long-name.example`)
    const body = JSON.stringify({ success: true, data: { domains } })
    const server = createServer((_, response) => response.end(body))
    const baseUrl = `http://127.0.0.1:${await listenOn(server)}/api/v1`
    const long = await sendTo(
      new URL(baseUrl),
      5_000,
    )({ method: 'GET', path: '/domains', headers: {}, body: undefined })
    expect(long).toMatchObject({ status: 200, isTooLong: true })
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const way: Way = async (request, send) => {
      const response = await send(request)
      return request.path === '/domains' ? { ...response, body: long.body, isTooLong: true } : response
    }
    const { probes, conclusion } = await prepareRun(service, { way, ledger: NO_LEDGER, plan: SHORT }).result()
    expect(probes.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/read \(.* longer than 4 MiB\.\)$/))
    expect(conclusion.findings.filter((finding) => isCounted(finding, 'service'))).toEqual([])
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('judges what is nested too deeply as unreadable, and reports what it has learnt when the connection is lost', async () => {
    const service = await startService(FOREIGN)
    const deep = Buffer.from(`{"success":true,"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)
    let sent = 0
    const way: Way = async (request, send) => {
      if (++sent > 5) throw new ConnectionError('what came back is not HTTP (HPE_INVALID_CONSTANT)')
      return { ...(await send(request)), body: deep }
    }
    const result = await prepareRun(service, { way, ledger: NO_LEDGER }).result()
    expect(result).toMatchObject({ ended: { kind: 'connection' }, cleanup: { restored: true } })
    expect(result.conclusion.exchanges).toBe(5)
  })
})
