import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { AccountState } from '../../../src/domain/account.ts'
import type { WireRequest, WireResponse } from '../../../src/evidence/verify/client.ts'
import { Client, ConnectionError } from '../../../src/evidence/verify/client.ts'
import { Ledger } from '../../../src/evidence/verify/ledger.ts'
import { sweep } from '../../../src/evidence/verify/sweep.ts'
import { budget } from '../../support/budget.ts'
import { API_KEY, openService, type TestService } from '../../support/service.ts'
import { choices, inventoryOf, NO_JUDGE, prepareRun } from './runs.ts'

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

/** Ends a run when the service has got the request of this number. */
class Killer {
  readonly #client: Client
  readonly #at: number
  #sent = 0

  constructor(service: TestService, at: number) {
    this.#client = new Client(new URL(service.baseUrl), 5_000)
    this.#at = at
  }

  async send(request: WireRequest): Promise<WireResponse> {
    const response = await this.#client.send(request)
    if (++this.#sent < this.#at) return response
    this.#client.close()
    throw new Killed()
  }
}

/** Nothing of the program catches it, so that nothing happens after it. */
class Killed extends Error {}

/** `killer` ends the sweep at a request of it. */
async function sweepAfter(service: TestService, path: string, killer?: Killer) {
  const { ledger, content } = Ledger.continue(path)
  const client = new Client(new URL(service.baseUrl), 5_000)
  const cleanup = await sweep({
    client: killer ?? client,
    contract: choices.contract,
    apiKey: API_KEY,
    ledger,
    content,
    reserve: 0,
    waits: true,
    sleep: async (milliseconds) => service.advance(milliseconds),
    signal: new AbortController().signal,
  }).finally(() => {
    client.close()
    ledger.close()
  })
  return cleanup
}

// The first run rehearses everything, which takes seconds on a busy machine.
describe('a run of verify', { timeout: 120_000 }, () => {
  it('leaves the account as it was, and shows it', async () => {
    const service = await openService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const { cleanup, ended, probes } = await prepareRun(service, { waits: true, judge: NO_JUDGE }).result()
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] }, changes: [] })
    expect(cleanup.removed.domains).toBeGreaterThan(0)
    expect(ended).toBeUndefined()
    expect(await inventoryOf(service)).toEqual(before)
    // What might harm others, if the service were wrong, is not asked.
    expect(probes.filter(({ state }) => state === 'not reached').map(({ probe }) => probe.probe.id)).toEqual([
      'delete-with-empty-id',
      'delete-without-id',
      'remove-without-field',
    ])
    await service.stop()
  })

  it('changes nothing where it may only read', async () => {
    const service = await openService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const { exchanges, cleanup } = await prepareRun(service, { writes: false, judge: NO_JUDGE }).result()
    expect(new Set(exchanges.map(({ sent }) => sent.method))).toEqual(new Set(['GET', 'HEAD']))
    expect(cleanup.restored).toBe(true)
    expect(await inventoryOf(service)).toEqual(before)
    await service.stop()
  })

  it('that is killed at any request is undone by a sweep', async () => {
    const service = await openService(FOREIGN)
    const before = await inventoryOf(service)
    const moments: Moment[] = []
    const client = new Client(new URL(service.baseUrl), 5_000)
    const run = prepareRun(service, {
      waits: true,
      judge: NO_JUDGE,
      client: {
        async send(request) {
          // What a SIGKILL leaves behind is the ledger and the account, as they are at this moment.
          moments.push(await momentOf(service, run.ledgerPath))
          const response = await client.send(request)
          moments.push(await momentOf(service, run.ledgerPath))
          return response
        },
      },
    })
    await run.result()
    client.close()
    expect(moments.length).toBeGreaterThan(300)
    const step = Math.ceil(moments.length / budget({ quick: 20, full: moments.length }))
    for (let index = 0; index < moments.length; index += step) {
      const { ledger, state } = moments[index] as Moment
      await service.store.update('default', () => ({ ok: true, state, value: undefined }))
      writeFileSync(run.ledgerPath, ledger)
      const cleanup = await sweepAfter(service, run.ledgerPath)
      expect(cleanup, `moment ${index}`).toMatchObject({ restored: true, changes: [] })
      expect(await inventoryOf(service), `moment ${index}`).toEqual(before)
    }
    await service.stop()
  }, 120_000)

  it('is undone by a second sweep when the first one is killed at any request', async () => {
    const service = await openService(FOREIGN)
    const before = await inventoryOf(service)
    const run = prepareRun(service, { waits: true, judge: NO_JUDGE, client: new Killer(service, 90) })
    await expect(run.result()).rejects.toThrow(Killed)
    const moment = await momentOf(service, run.ledgerPath)
    for (let at = 1; ; at++) {
      await service.store.update('default', () => ({ ok: true, state: moment.state, value: undefined }))
      writeFileSync(run.ledgerPath, moment.ledger)
      const killed = await sweepAfter(service, run.ledgerPath, new Killer(service, at)).catch((error) => error)
      if (!(killed instanceof Killed)) {
        expect(at).toBeGreaterThan(5)
        expect(killed).toMatchObject({ restored: true })
        break
      }
      const cleanup = await sweepAfter(service, run.ledgerPath)
      expect(cleanup, `killed at request ${at}`).toMatchObject({ restored: true, changes: [] })
      expect(await inventoryOf(service), `killed at request ${at}`).toEqual(before)
    }
    await service.stop()
  })

  it('leaves alone what others have made meanwhile, and says what it is', async () => {
    const service = await openService(FOREIGN)
    const killer = new Killer(service, 90)
    const run = prepareRun(service, { waits: true, judge: NO_JUDGE, client: killer })
    await expect(run.result()).rejects.toThrow(Killed)
    await service.send('POST', '/domains', { domains: ['verify.other.example'] })
    await service.send('POST', '/domaingroups', { name: 'Verify' })
    const cleanup = await sweepAfter(service, run.ledgerPath)
    expect(cleanup).toMatchObject({
      restored: true,
      changes: ['the domain verify.other.example is new', expect.any(String)],
    })
    const { domains } = (await service.get('/domains')).body.data
    expect(domains).toContain('verify.other.example')
    await service.stop()
  })

  it('is not green where something that was there before is gone', async () => {
    const service = await openService(FOREIGN)
    const killer = new Killer(service, 90)
    const run = prepareRun(service, { waits: true, judge: NO_JUDGE, client: killer })
    await expect(run.result()).rejects.toThrow(Killed)
    const { groups } = (await service.get('/domaingroups')).body.data
    await service.send('DELETE', `/domaingroups?id=${groups[0].id}`)
    const cleanup = await sweepAfter(service, run.ledgerPath)
    expect(cleanup).toMatchObject({ restored: false, changes: [`the group ${groups[0].id} is gone`] })
    await service.stop()
  })

  it('ends with a cleanup when the connection was lost for a moment', async () => {
    const service = await openService(FOREIGN)
    const before = await inventoryOf(service)
    const client = new Client(new URL(service.baseUrl), 5_000)
    let sent = 0
    const run = prepareRun(service, {
      waits: true,
      judge: NO_JUDGE,
      client: {
        async send(request) {
          const response = await client.send(request)
          if (++sent === 60) throw new ConnectionError('the connection was closed without a response', true)
          return response
        },
      },
    })
    const result = await run.result()
    expect(result).toMatchObject({ ended: 'connection', cleanup: { restored: true } })
    expect(await inventoryOf(service)).toEqual(before)
    client.close()
    await service.stop()
  })
})
