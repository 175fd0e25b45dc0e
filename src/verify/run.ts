import type { Conclusion } from '../judge/judge.ts'
import type { Spending } from './budget.ts'
import { type Cleanup, NOTHING_DONE, readInventory, restore } from './cleanup.ts'
import { ConnectionError } from './client.ts'
import {
  Conversation,
  type ConversationOptions,
  isOverQuota,
  type ProbeAnswer,
  type RunExchange,
  type RunJudge,
} from './conversation.ts'
import { LedgerError } from './ledger.ts'
import type { PlannedProbe } from './plan.ts'
import { READ_DOMAINS, READ_GROUPS } from './probes.ts'
import { type EarlyEnd, type ProbeState, Questioning } from './questioning.ts'
import { refuseSilence, refuseTarget } from './target.ts'

export interface VerifyOptions extends Omit<ConversationOptions, 'tell'> {
  judge: RunJudge
  plan: readonly PlannedProbe[]
  /** The suffix of the domains of the run. */
  suffix: string
  /** Takes in one line how much was asked, and what the run does. */
  onProgress(line: string): void
}

type SweepOptions = Omit<ConversationOptions, 'ledger' | 'writes' | 'judge' | 'tell'>

export interface VerifyResult {
  probes: readonly ProbeState[]
  exchanges: readonly RunExchange[]
  conclusion: Conclusion
  cleanup: Cleanup
  quotas: readonly Readonly<Spending>[]
  requests: number
  ended: EarlyEnd | undefined
}

/**
 * Asks everything that the quotas allow, restores the account, and judges all answers.
 * @throws TargetError and ConnectionError if the first requests already show that there is nothing to ask
 */
export async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const { holdings, judge, onProgress } = options
  const tell = (doing: string) => {
    const left = conversation.budget.all.map(({ path }) => `${path} ${conversation.budget.left(path)}`).join(', ')
    onProgress(`${questioning.progress}; ${doing}; left: ${left}`)
  }
  const conversation = new Conversation({ ...options, tell })
  const questioning = new Questioning(conversation, options)
  questioning.unreadable = await readAccount(conversation)
  await endingWith(questioning, () => questioning.askAll())
  tell('restores the account')
  const cleanup = holdings.hasIntents ? await restore(conversation) : NOTHING_DONE
  // It comes after the cleanup, which needs the quotas, too.
  const isOver = questioning.ended === undefined || questioning.ended.kind === 'quota'
  if (isOver && cleanup.restored) await endingWith(questioning, () => questioning.exhaust())
  const { exchanges, budget, sent } = conversation
  return {
    ...{ probes: questioning.conclude(), ended: questioning.ended, cleanup, exchanges },
    ...{ conclusion: judge.conclude(), quotas: budget.all, requests: sent },
  }
}

/** Removes what a killed run has left, and nothing else. @throws ConnectionError, TargetError */
export async function sweep(options: SweepOptions): Promise<Cleanup> {
  if (!options.holdings.hasIntents) return NOTHING_DONE
  // It creates nothing.
  const ledger = { write: () => {} }
  const conversation = new Conversation({ ...options, ledger, writes: true, judge: undefined, tell: () => {} })
  await askFirst('/domaingroups', undefined, conversation)
  return restore(conversation)
}

/** A lost connection and a full disk end the asking, but not the report. @throws any other error */
async function endingWith(questioning: Questioning, ask: () => Promise<void>): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (error instanceof LedgerError) return questioning.end('ledger', `the ledger ${error.message}`)
    if (!(error instanceof ConnectionError)) throw error
    questioning.end('connection', `the connection was lost: ${error.message}`)
  }
}

/**
 * Reads the account for the first time. Resolves to why the run must not write, if so: without the lists, it cannot show
 * that the account is unchanged.
 */
async function readAccount(conversation: Conversation): Promise<string | undefined> {
  const groups = await askFirst('/domaingroups', READ_GROUPS.id, conversation)
  const domains = await askFirst('/domains', READ_DOMAINS.id, conversation)
  const responses = [groups.response, domains.response]
  // The records are read here only if no other path answers.
  if (responses.every(({ status }) => status >= 400)) {
    responses.push((await askFirst('/dmarc', undefined, conversation)).response)
  }
  refuseSilence(responses)
  const before = readInventory(groups, domains)
  if (typeof before === 'string') return `the account cannot be read: ${before}`
  const { holdings, ledger } = conversation.options
  holdings.remember(before)
  ledger.write({ before })
  return undefined
}

/**
 * Reads a path for the first time; again after the reset of its quota, if that is used up and the run may wait.
 * @throws TargetError and ConnectionError if there is nothing to ask, and the reason of a signal that ends the waiting
 */
async function askFirst(path: string, probe: string | undefined, conversation: Conversation): Promise<ProbeAnswer> {
  const { waits, signal } = conversation.options
  const ask = () => conversation.ask({ method: 'GET', path }, probe)
  let answer = await ask()
  if (waits && isOverQuota(answer)) {
    await conversation.waitFor(path)
    signal.throwIfAborted()
    answer = await ask()
  }
  refuseTarget(answer, conversation.budget.untilReset(path))
  return answer
}
