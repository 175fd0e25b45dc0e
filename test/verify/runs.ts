import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Choices } from '../../src/contract/choices.ts'
import { NOTHING_FOUND } from '../../src/proxy/judge.ts'
import { Client, type WireRequest, type WireResponse } from '../../src/verify/client.ts'
import { Holdings, markOf } from '../../src/verify/holdings.ts'
import { digestOf, Ledger } from '../../src/verify/ledger.ts'
import { type VerifyOptions, verify } from '../../src/verify/verification.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RUN = 'testrun1'

const MEANT = ['underscores', 'quota-window']
/** A handful of alternatives: what a run asks for does not depend on them, and to rehearse all takes long. */
export const few: Choices = { ...choices, alternatives: choices.alternatives.filter(({ id }) => MEANT.includes(id)) }

type Target = Pick<TestService, 'baseUrl' | 'advance'>

type Send = (request: WireRequest) => Promise<WireResponse>
/** What becomes of a request on its way; `send` passes it on. */
export type Way = (request: WireRequest, send: Send) => Promise<WireResponse>

interface RunOptions extends Partial<VerifyOptions> {
  run?: string
  way?: Way
}

/** A run against a service, which waits by moving the clock of the service. */
export function prepareRun(service: Target, given: RunOptions = {}) {
  const { run = RUN, way = (request, send) => send(request), ...more } = given
  const ledgerPath = join(temporaryFolder(), 'ledger.json')
  const { baseUrl } = service
  const writes = more.writes ?? true
  const ledger =
    more.ledger ??
    Ledger.create(ledgerPath, { run, target: baseUrl, digest: digestOf(baseUrl, API_KEY), suffix: 'example', writes })
  const client = new Client(new URL(baseUrl), 5_000)
  onTestFinished(() => client.close())
  let slept = 0
  const options: VerifyOptions = {
    choices: few,
    client: { send: (request) => way(request, (passed) => client.send(passed)) },
    apiKey: API_KEY,
    holdings: new Holdings(markOf(run)),
    suffix: 'example',
    writes,
    exhaust: false,
    soleWriter: false,
    reserve: () => 0,
    waits: false,
    // For a service, too, no time passes but this.
    sleep: async (milliseconds) => {
      slept += milliseconds
      service.advance(milliseconds)
    },
    now: () => slept,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...more,
    ledger,
  }
  return { ledgerPath, result: () => verify(options) }
}

/** What the account has, whatever a run thinks of it. */
export async function inventoryOf(service: Pick<TestService, 'store'>): Promise<unknown> {
  const { domains, groups } = await service.store.read('default')
  return { domains: [...domains.keys()], groups: [...groups.values()] }
}

/** For tests of what is asked and found out: to write a ledger takes as long as to ask and to judge. */
export const NO_LEDGER: VerifyOptions['ledger'] = { write: () => {}, keep: () => {} }

/** For tests of what is sent, to which it does not matter what is found out. */
export const NO_JUDGE: NonNullable<VerifyOptions['judge']> = {
  take: async () => [],
  conclude: () => NOTHING_FOUND,
}
