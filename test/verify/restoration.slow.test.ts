import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { Client, ConnectionError } from '../../src/verify/client.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import { Ledger } from '../../src/verify/ledger.ts'
import { sweep } from '../../src/verify/verification.ts'
import { budget } from '../support/budget.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import { choices, inventoryOf, NO_JUDGE, prepareRun, type Way } from './runs.ts'

/** What is not the run's: a demo account has domains, groups with members, and domains that features use. */
const FOREIGN = { fixture: 'demo', enforceQuotas: false }

/** What there is at one moment of a run. */
interface Moment {
  ledger: Buffer
  state: AccountState
}

async function momentOf({ store }: TestService, path: string): Promise<Moment> {
  return { ledger: readFileSync(path), state: await store.read('default') }
}

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
  const run = prepareRun(service, { waits: true, judge: NO_JUDGE, way: killedAt(90) })
  await expect(run.result()).rejects.toThrow(Killed)
  return run.ledgerPath
}

/** Sweeps after a run; `way` may end the sweep at a request of it. */
async function sweepAfter(service: TestService, path: string, way: Way = (request, send) => send(request)) {
  const { ledger, content } = Ledger.continue(path)
  const client = new Client(new URL(service.baseUrl), 5_000)
  return sweep({
    client: { send: (request) => way(request, (passed) => client.send(passed)) },
    contract: choices.contract,
    apiKey: API_KEY,
    ledger,
    holdings: Holdings.of(content),
    reserve: () => 0,
    waits: true,
    sleep: async (milliseconds) => service.advance(milliseconds),
    signal: new AbortController().signal,
  }).finally(() => {
    client.close()
    ledger.close()
  })
}

async function restore({ store }: TestService, path: string, { ledger, state }: Moment): Promise<void> {
  await store.update('default', () => ({ ok: true, state, value: undefined }))
  writeFileSync(path, ledger)
}

// The first run rehearses everything, which takes seconds on a busy machine.
describe('a run of verify', { timeout: 120_000 }, () => {
  it('leaves the account as it was, and shows it', async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const { cleanup, ended, probes } = await prepareRun(service, { waits: true, judge: NO_JUDGE }).result()
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] }, changes: [] })
    expect(cleanup.removed.domains).toBeGreaterThan(0)
    expect(ended).toBeUndefined()
    expect(await inventoryOf(service)).toEqual(before)
    // What might harm others, if the service were wrong, is not asked.
    expect(
      probes
        .filter(({ state, probe }) => state === 'not reached' && probe.barrier === undefined)
        .map(({ probe }) => probe.id)
        .toSorted(),
    ).toEqual(['delete-with-empty-id', 'delete-without-id', 'remove-without-field'])
  })

  it('changes nothing where it may only read', async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const { exchanges, cleanup } = await prepareRun(service, { writes: false, judge: NO_JUDGE }).result()
    expect(new Set(exchanges.map(({ sent }) => sent.method))).toEqual(new Set(['GET', 'HEAD']))
    expect(cleanup.restored).toBe(true)
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('that is killed at any request is undone by a sweep', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const moments: Moment[] = []
    const run = prepareRun(service, {
      waits: true,
      judge: NO_JUDGE,
      async way(request, send) {
        // What a SIGKILL leaves behind is the ledger and the account, as they are at this moment.
        moments.push(await momentOf(service, run.ledgerPath))
        const response = await send(request)
        moments.push(await momentOf(service, run.ledgerPath))
        return response
      },
    })
    await run.result()
    expect(moments.length).toBeGreaterThan(300)
    const step = Math.ceil(moments.length / budget({ quick: 20, full: moments.length }))
    for (let index = 0; index < moments.length; index += step) {
      await restore(service, run.ledgerPath, moments[index] as Moment)
      const cleanup = await sweepAfter(service, run.ledgerPath)
      expect(cleanup, `moment ${index}`).toMatchObject({ restored: true, changes: [] })
      expect(await inventoryOf(service), `moment ${index}`).toEqual(before)
    }
  })

  it('is undone by a second sweep when the first one is killed at any request', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const path = await killRun(service)
    const moment = await momentOf(service, path)
    for (let at = 1; ; at++) {
      await restore(service, path, moment)
      const killed = await sweepAfter(service, path, killedAt(at)).catch((error) => error)
      if (!(killed instanceof Killed)) {
        expect(at).toBeGreaterThan(5)
        expect(killed).toMatchObject({ restored: true })
        break
      }
      const cleanup = await sweepAfter(service, path)
      expect(cleanup, `killed at request ${at}`).toMatchObject({ restored: true, changes: [] })
      expect(await inventoryOf(service), `killed at request ${at}`).toEqual(before)
    }
  })

  it('is undone by a sweep that waits where the first request of the sweep is refused for the quota', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const path = await killRun(service)
    let sent = 0
    const refusal = { status: 429, rawHeaders: [], body: Buffer.alloc(0) }
    const way: Way = async (request, send) => (++sent === 1 ? refusal : send(request))
    expect(await sweepAfter(service, path, way)).toMatchObject({ restored: true })
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('leaves alone what others have made meanwhile, and says what it is', async () => {
    const service = await startService(FOREIGN)
    const path = await killRun(service)
    await service.send('POST', '/domains', { domains: ['verify.other.example'] })
    await service.send('POST', '/domaingroups', { name: 'Verify' })
    expect(await sweepAfter(service, path)).toMatchObject({
      restored: true,
      changes: ['the domain verify.other.example is new', expect.any(String)],
    })
    const { domains } = (await service.get('/domains')).body.data
    expect(domains).toContain('verify.other.example')
  })

  it('is not green where something that was there before is gone', async () => {
    const service = await startService(FOREIGN)
    const path = await killRun(service)
    const { groups } = (await service.get('/domaingroups')).body.data
    await service.send('DELETE', `/domaingroups?id=${groups[0].id}`)
    const cleanup = await sweepAfter(service, path)
    expect(cleanup).toMatchObject({ restored: false, changes: [`the group ${groups[0].id} is gone`] })
  })

  it.each([
    ['is cut once, and goes on', true, undefined],
    ['gives no answer in time, and ends with a cleanup', false, 'connection'],
  ])('leaves nothing where the connection %s', async (_, isCut, ended) => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    let sent = 0
    const run = prepareRun(service, {
      waits: true,
      judge: NO_JUDGE,
      async way(request, send) {
        const response = await send(request)
        if (++sent === 60) throw new ConnectionError('the connection was closed without a response', isCut)
        return response
      },
    })
    const result = await run.result()
    expect(result.ended).toBe(ended)
    expect(result.cleanup).toMatchObject({ restored: true })
    expect(await inventoryOf(service)).toEqual(before)
  })
})
