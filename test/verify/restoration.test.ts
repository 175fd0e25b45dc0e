import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, readJson } from '../../src/ground/json.ts'
import { systemClock } from '../../src/ground/timers.ts'
import { ConnectionError, sendTo, type WireRequest } from '../../src/verify/client.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import { readLedger } from '../../src/verify/ledger.ts'
import { planProbes } from '../../src/verify/plan.ts'
import { sweep } from '../../src/verify/run.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import { inventoryOf, NO_JUDGE, NO_LEDGER, prepareRun, SHORT, type Way } from './runs.ts'

/** What is not the run's: a demo account has domains, groups with members, and domains that features use. */
const FOREIGN = { fixture: 'demo', enforceQuotas: false }
const TERMS = { waits: true, judge: NO_JUDGE, plan: SHORT }

/** Nothing of the program catches it, so that nothing happens after it. */
class Killed extends Error {}

/** Ends a run when the service has got the request of this number. */
function killedAt(number: number): Way {
  let sent = 0
  return async (request, send) => {
    const response = await send(request)
    if (++sent < number) return response
    throw new Killed()
  }
}

/** A run that is killed in the middle, when it has domains and groups of its own. */
async function killRun(service: TestService): Promise<string> {
  const run = prepareRun(service, { ...TERMS, way: killedAt(20) })
  await expect(run.result()).rejects.toThrow(Killed)
  return run.ledgerPath
}

/** Sweeps after a run; `way` may end the sweep at a request of it. */
async function sweepAfter(service: TestService, path: string, way: Way = (request, send) => send(request)) {
  const send = sendTo(new URL(service.baseUrl), 5_000)
  return sweep({
    send: (request) => way(request, send),
    contract: choices.contract,
    clock: systemClock,
    apiKey: API_KEY,
    holdings: Holdings.of(await readLedger(path)),
    reserve: 0,
    waits: true,
    sleep: async (milliseconds) => service.advance(milliseconds),
    signal: new AbortController().signal,
  })
}

/** What a SIGKILL leaves behind: the ledger and the account, as they are at this moment. Returns what brings it back. */
async function momentOf({ store }: TestService, path: string) {
  const ledger = readFileSync(path)
  const { state } = await store.read('default')
  return async () => {
    await store.update('default', () => ({ ok: true, state, value: undefined }))
    writeFileSync(path, ledger)
  }
}

describe('a run of verify', () => {
  it('leaves the account as it was, shows it, and does not ask what might harm others if the service were wrong', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const { cleanup, ended, probes } = await prepareRun(service, TERMS).result()
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] }, lost: [], gained: [] })
    expect(cleanup.removed.domains).toBeGreaterThan(0)
    expect(ended).toBeUndefined()
    expect(await inventoryOf(service)).toEqual(before)
    const unasked = probes.filter(({ isAsked }) => !isAsked).map(({ probe }) => probe.id)
    expect(unasked.toSorted()).toEqual(['delete-without-id', 'remove-without-field'])
  })

  it.each<[what: string, change: (data: Json, request: WireRequest) => unknown]>([
    [
      'names the domains as they were sent',
      (data, { method, path, body }) =>
        method === 'POST' && path === '/domains' ? { ...data, ...JSON.parse(`${body}`) } : data,
    ],
    ['does not show a changed group', (data, { method }) => (method === 'PATCH' ? { message: 'Done.' } : data)],
  ])('leaves nothing, within the quotas and with few groups, where the service %s', async (_, change) => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const way: Way = async (request, send) => {
      const response = await send(request)
      const answer = readJson(response.body.toString())
      if (!isObject(answer) || !isObject(answer['data'])) return response
      const body = Buffer.from(JSON.stringify({ ...answer, data: change(answer['data'], request) }))
      return { ...response, body }
    }
    const { cleanup } = await prepareRun(service, { way, judge: NO_JUDGE, ledger: NO_LEDGER }).result()
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] } })
    expect(cleanup.removed.groups).toBeLessThan(8)
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('changes nothing where it may only read', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const { exchanges, cleanup } = await prepareRun(service, { writes: false, judge: NO_JUDGE }).result()
    expect(new Set(exchanges.map(({ sent }) => sent.method))).toEqual(new Set(['GET']))
    expect(cleanup.restored).toBe(true)
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('that is killed at any request is undone by a sweep', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const moments: (() => Promise<void>)[] = []
    const run = prepareRun(service, {
      ...TERMS,
      async way(request, send) {
        moments.push(await momentOf(service, run.ledgerPath))
        const response = await send(request)
        moments.push(await momentOf(service, run.ledgerPath))
        return response
      },
    })
    await run.result()
    expect(moments.length).toBeGreaterThan(50)
    for (const [index, bringBack] of moments.entries()) {
      if (index % 7 !== 0) continue
      await bringBack()
      const cleanup = await sweepAfter(service, run.ledgerPath)
      expect(cleanup, `moment ${index}`).toMatchObject({ restored: true, lost: [], gained: [] })
      expect(await inventoryOf(service), `moment ${index}`).toEqual(before)
    }
  })

  it('is undone by a second sweep when the first one is killed at any request', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const path = await killRun(service)
    const bringBack = await momentOf(service, path)
    for (let at = 1; ; at++) {
      await bringBack()
      const killed = await sweepAfter(service, path, killedAt(at)).catch((error) => error)
      if (!(killed instanceof Killed)) {
        expect(at).toBeGreaterThan(4)
        expect(killed).toMatchObject({ restored: true })
        break
      }
      const cleanup = await sweepAfter(service, path)
      expect(cleanup, `killed at request ${at}`).toMatchObject({ restored: true, lost: [], gained: [] })
      expect(await inventoryOf(service), `killed at request ${at}`).toEqual(before)
    }
  })

  it('leaves alone what others have made meanwhile, and says what it is, and what of theirs is gone', async () => {
    const service = await startService(FOREIGN)
    const path = await killRun(service)
    await service.send('POST', '/domains', { domains: ['verify.other.example'] })
    const [{ id }] = (await service.get('/domaingroups')).body.data.groups
    await service.send('DELETE', `/domaingroups?id=${id}`)
    const { body } = await service.send('POST', '/domaingroups', { name: 'Verify' })
    const cleanup = await sweepAfter(service, path)
    expect(cleanup).toMatchObject({
      restored: true,
      lost: [`the group ${id} is gone`],
      gained: ['the domain verify.other.example is new', `the group ${body.data.group.id} is new`],
    })
    expect(cleanup).not.toHaveProperty('reason')
    expect((await service.get('/domains')).body.data.domains).toContain('verify.other.example')
  })

  it('leaves nothing where the connection gives no answer in time, and asks nothing more', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    let sent = 0
    const exhausting = planProbes({ writes: true, exhaust: true }).filter(({ probe }) => probe.exhausts)
    const run = prepareRun(service, {
      ...TERMS,
      plan: [...SHORT, ...exhausting],
      async way(request, send) {
        const response = await send(request)
        if (++sent === 20) throw new ConnectionError('the connection was closed without a response', false)
        return response
      },
    })
    const { probes, ...result } = await run.result()
    expect(result).toMatchObject({ ended: { kind: 'connection' }, cleanup: { restored: true } })
    expect(probes.filter(({ probe, isAsked }) => probe.exhausts && isAsked)).toEqual([])
    expect(await inventoryOf(service)).toEqual(before)
  })
})
