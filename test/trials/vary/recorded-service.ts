import { OPERATIONS } from '../../../src/behaviour/operations/operations.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import type { Entry } from '../../../src/journal/entry.ts'
import type { ServerOptions } from '../../../src/server/options.ts'
import type { TrialResult } from '../../../src/trials/trial.ts'
import { API_KEY, openService, type TestService } from '../../support/service.ts'

export type Recorded = Pick<TrialResult, 'exchanges' | 'lost' | 'accounts'>

/** The options of a recorded service, as far as they decide about its responses. */
export function optionsOf(options: ServerOptions = {}): ServerOptions {
  return { fixture: 'empty', apiKey: API_KEY, ...options }
}

/** What a service answers while somebody asks it, perhaps under another contract. */
export async function record(
  options: ServerOptions | undefined,
  ask: (service: TestService) => Promise<unknown>,
  contract?: Contract,
): Promise<Recorded> {
  const exchanges: Entry[] = []
  const service = await openService(options, OPERATIONS, {
    contract,
    journal: { body: 2 << 20 },
    open: ({ journal }) => void journal.subscribe((entry) => exchanges.push(entry)),
  })
  try {
    await ask(service)
    const accounts = new Map()
    for (const id of await service.store.list()) accounts.set(id, (await service.store.read(id)).state)
    return { exchanges, lost: 0, accounts }
  } finally {
    await service.stop()
  }
}
