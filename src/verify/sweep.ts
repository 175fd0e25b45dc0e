import type { Contract } from '../contract/contract.ts'
import { RequestBudget } from './budget.ts'
import type { Client } from './client.ts'
import { ProbeConversation } from './conversation.ts'
import type { Ledger, LedgerContent } from './ledger.ts'
import { Ownership } from './ownership.ts'
import { quotaPathOf } from './probe.ts'
import { type Cleanup, NOTHING_REMOVED, restore } from './restoration.ts'
import { refuseTarget } from './target-check.ts'

export interface SweepOptions {
  client: Pick<Client, 'send'>
  contract: Contract
  apiKey: string
  ledger: Pick<Ledger, 'write'>
  content: LedgerContent
  reserve: number
  waits: boolean
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
}

/** Removes what an incomplete run has left, and nothing else. @throws ConnectionError, TargetError */
export async function sweep(options: SweepOptions): Promise<Cleanup> {
  const { client, contract, apiKey, ledger, content, reserve, waits, sleep, signal } = options
  const ownership = Ownership.of(content)
  const budget = new RequestBudget(contract, reserve)
  // A run writes down what it is going to create before it creates anything.
  if (!ownership.hasIntents) return { restored: true, ...NOTHING_REMOVED }
  const conversation = new ProbeConversation({
    client,
    contract,
    apiKey,
    budget,
    writes: true,
    record: { ledger, permission: ownership, onIntent: () => {}, onGroup: () => {} },
  })
  let isFirst = true
  return restore(ownership, async (request) => {
    const path = quotaPathOf(request)
    if (budget.left(path) < 1) {
      if (!waits || signal.aborted) return undefined
      await sleep(budget.untilReset(path), signal)
      budget.renew(path)
    }
    const answer = await conversation.ask(request)
    if (isFirst) refuseTarget(answer)
    isFirst = false
    return answer
  })
}
