import { join } from 'node:path'
import { AnswerCounts } from '../../src/judge/answer-counts.ts'
import { Judge } from '../../src/judge/judge.ts'
import { type Send, sendTo, type WireRequest, type WireResponse } from '../../src/verify/client.ts'
import type { RunJudge } from '../../src/verify/conversation.ts'
import { Holdings, markOf } from '../../src/verify/holdings.ts'
import { digestOf, Ledger } from '../../src/verify/ledger.ts'
import { planProbes } from '../../src/verify/plan.ts'
import { type VerifyOptions, verify } from '../../src/verify/run.ts'
import { choices } from '../support/choices.ts'
import { API_KEY, START, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RUN = 'testrun1'
const MARK = markOf(RUN)

type Target = Pick<TestService, 'baseUrl' | 'advance'>

/** What becomes of a request on its way; `send` passes it on. */
export type Way = (request: WireRequest, send: Send) => Promise<WireResponse>

interface RunOptions extends Partial<VerifyOptions> {
  way?: Way
  soleWriter?: boolean
  exhaust?: boolean
}

/** A run against a service, which waits by moving the clock of the service. */
export function prepareRun(service: Target, given: RunOptions = {}) {
  const { way = (request, send) => send(request), soleWriter = false, exhaust = false, ...more } = given
  const { writes = true } = more
  const ledgerPath = join(temporaryFolder(), 'ledger.json')
  const { baseUrl } = service
  const send = sendTo(new URL(baseUrl), 5_000)
  let slept = 0
  const options: Omit<VerifyOptions, 'judge'> = {
    contract: choices.contract,
    send: (request) => way(request, send),
    apiKey: API_KEY,
    holdings: new Holdings(MARK),
    ledger: more.ledger ?? new Ledger(ledgerPath, { run: RUN, target: baseUrl, digest: digestOf(baseUrl, API_KEY) }),
    suffix: 'example',
    writes,
    plan: planProbes({ writes, exhaust }),
    reserve: 0,
    waits: false,
    // For a service, too, no time passes but this.
    sleep: async (milliseconds) => {
      slept += milliseconds
      service.advance(milliseconds)
    },
    clock: () => START + slept,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...more,
  }
  const isOwnName = (name: string) => name.toLowerCase().includes(MARK)
  const result = async () =>
    verify({ ...options, judge: more.judge ?? new Judge({ choices, isOwnName, isSoleWriter: soleWriter }) })
  return { ledgerPath, result }
}

/** What a run does to an account, with few of its questions: some of each kind of change, and those that it may not ask. */
export const SHORT = planProbes({ writes: true, exhaust: false }).filter(
  ({ probe: { id } }) =>
    /^(read-groups|read-domains|add-(three|list|50)|remove-(two|member|without-field)|delete(-without-id)?)$/.test(
      id,
    ) || /^(create-with-(members|empty-name|emoji)|members-(added|shared)|change-without-id|name-taken)$/.test(id),
)

/** What the account has, whatever a run thinks of it. */
export async function inventoryOf(service: Pick<TestService, 'store'>): Promise<unknown> {
  const { domains, groups } = (await service.store.read('default')).state
  return { domains: [...domains.keys()], groups: [...groups.values()] }
}

/** For tests of what is asked and found out: to write a ledger takes as long as to ask and to judge. */
export const NO_LEDGER: VerifyOptions['ledger'] = { write: () => {} }

/** For tests of what is sent, to which it does not matter what is found out. */
export const NO_JUDGE: RunJudge = {
  take: () => [],
  conclude: () => ({
    ...{ exchanges: 0, judged: 0, findings: [], observations: [], messages: {} },
    answers: new AnswerCounts(),
  }),
}
