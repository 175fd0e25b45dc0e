import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { systemClock } from '../../src/ground/clock.ts'
import { Client } from '../../src/verify/client.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import { readLedger } from '../../src/verify/ledger.ts'
import { sweep } from '../../src/verify/run.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import { inventoryOf, NO_JUDGE, prepareRun, type Way } from './runs.ts'

/** What is not the run's: a demo account has domains, groups with members, and domains that features use. */
export const FOREIGN = { fixture: 'demo', enforceQuotas: false }

/** What there is at one moment of a run. */
interface Moment {
  ledger: Buffer
  state: AccountState
}

export async function momentOf({ store }: TestService, path: string): Promise<Moment> {
  return { ledger: readFileSync(path), state: (await store.read('default')).state }
}

/** Nothing of the program catches it, so that nothing happens after it. */
export class Killed extends Error {}

/** Ends a run when the service has got the request of this number. */
export function killedAt(number: number): Way {
  let sent = 0
  return async (request, send) => {
    const response = await send(request)
    if (++sent < number) return response
    throw new Killed()
  }
}

/** A run that is killed in the middle, when it has domains and groups of its own. */
export async function killRun(service: TestService): Promise<string> {
  const run = prepareRun(service, { waits: true, judge: NO_JUDGE, way: killedAt(60) })
  await expect(run.result()).rejects.toThrow(Killed)
  return run.ledgerPath
}

/** Sweeps after a run; `way` may end the sweep at a request of it. */
export async function sweepAfter(service: TestService, path: string, way: Way = (request, send) => send(request)) {
  const client = new Client(new URL(service.baseUrl), 5_000)
  return sweep({
    client: { send: (request) => way(request, (passed) => client.send(passed)) },
    contract: choices.contract,
    clock: systemClock,
    apiKey: API_KEY,
    ledger: { write: () => {} },
    holdings: Holdings.of(await readLedger(path)),
    reserve: 0,
    waits: true,
    sleep: async (milliseconds) => service.advance(milliseconds),
    signal: new AbortController().signal,
  })
}

export async function restore({ store }: TestService, path: string, { ledger, state }: Moment): Promise<void> {
  await store.update('default', () => ({ ok: true, state, value: undefined }))
  writeFileSync(path, ledger)
}

/** Expects that a sweep undoes a run that is killed at so many moments, from the first to the last. */
export async function expectUndone(count: number): Promise<void> {
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
  expect(moments.length).toBeGreaterThan(150)
  const step = Math.ceil(moments.length / count)
  for (let index = 0; index < moments.length; index += step) {
    await restore(service, run.ledgerPath, moments[index] as Moment)
    const cleanup = await sweepAfter(service, run.ledgerPath)
    expect(cleanup, `moment ${index}`).toMatchObject({ restored: true, lost: [], gained: [] })
    expect(await inventoryOf(service), `moment ${index}`).toEqual(before)
  }
}
