import type { Contract } from '../contract/contract.ts'
import type { Conclusion } from '../judge/judge.ts'
import type { QuotaView } from './budget.ts'
import { type Cleanup, NOTHING_REMOVED, readList, restore } from './cleanup.ts'
import { ConnectionError } from './client.ts'
import {
  Conversation,
  type ConversationOptions,
  isOverQuota,
  type ProbeAnswer,
  type RunExchange,
  type RunJudge,
} from './conversation.ts'
import { readDomains, readGroups } from './holdings.ts'
import { LedgerError } from './ledger.ts'
import type { PlannedProbe } from './plan.ts'
import { READ_DOMAINS, READ_GROUPS } from './probes.ts'
import { type EarlyEnd, type ProbeState, Questioning } from './questioning.ts'
import { refuseSilence, refuseTarget } from './target.ts'

export interface VerifyOptions extends Omit<ConversationOptions, 'tell'> {
  contract: Contract
  judge: RunJudge
  plan: readonly PlannedProbe[]
  /** The suffix of the domains of the run. */
  suffix: string
  onProgress(progress: VerifyProgress): void
}

export interface VerifyProgress {
  /** How many probes were asked; `planned` counts all of the plan. */
  asked: number
  planned: number
  doing: string
  quotas: readonly Pick<QuotaView, 'path' | 'left' | 'resetsIn'>[]
}

export interface VerifyResult {
  probes: readonly ProbeState[]
  exchanges: readonly RunExchange[]
  /** What went wrong on the way to the service, one sentence each. */
  troubles: readonly string[]
  conclusion: Conclusion
  cleanup: Cleanup
  quotas: readonly QuotaView[]
  requests: number
  ended: EarlyEnd | undefined
}

const NOTHING_DONE: Cleanup = { restored: true, ...NOTHING_REMOVED }

/**
 * Asks everything that the quotas allow, restores the account, and judges all answers.
 * @throws TargetError and ConnectionError if the first requests already show that there is nothing to ask
 */
export async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const { holdings, judge, onProgress } = options
  const tell = (doing: string) => {
    const { asked, planned } = questioning
    onProgress({ asked, planned, doing, quotas: conversation.budget.views })
  }
  const conversation = new Conversation({ ...options, tell })
  const questioning = new Questioning(conversation, options)
  questioning.unreadable = await readAccount(options, conversation)
  await endingWith(questioning, () => questioning.askAll())
  tell('restores the account')
  // A run that has recorded no creation has changed nothing.
  const cleanup = holdings.hasIntents ? await restore(conversation) : NOTHING_DONE
  // It comes after the cleanup, which needs the quotas, too.
  const isOver = questioning.ended === undefined || questioning.ended.kind === 'quota'
  if (isOver && cleanup.restored) await endingWith(questioning, () => questioning.exhaust())
  const { exchanges, troubles, budget, sent } = conversation
  return {
    ...{ probes: questioning.conclude(), ended: questioning.ended, cleanup, exchanges, troubles },
    ...{ conclusion: judge.conclude(), quotas: budget.views, requests: sent },
  }
}

/** Removes what a killed run has left, and nothing else. @throws ConnectionError, TargetError */
export async function sweep(options: Omit<ConversationOptions, 'writes' | 'judge' | 'tell'>): Promise<Cleanup> {
  if (!options.holdings.hasIntents) return NOTHING_DONE
  const conversation = new Conversation({ ...options, writes: true, judge: undefined, tell: () => {} })
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
async function readAccount(
  { holdings, ledger }: VerifyOptions,
  conversation: Conversation,
): Promise<string | undefined> {
  const ofGroups = await askFirst('/domaingroups', READ_GROUPS.id, conversation)
  const ofDomains = await askFirst('/domains', READ_DOMAINS.id, conversation)
  const answers = [ofGroups, ofDomains]
  // The records are read here only if no other path answers.
  if (answers.every(({ response: { status } }) => status >= 400)) {
    answers.push(await askFirst('/dmarc', undefined, conversation))
  }
  refuseSilence(answers)
  const groups = readList(readGroups, ofGroups)
  if (typeof groups === 'string') return `the account cannot be read: ${groups}`
  const domains = readList(readDomains, ofDomains)
  if (typeof domains === 'string') return `the account cannot be read: ${domains}`
  const before = { groups, domains }
  holdings.remember(before)
  ledger.write({ before })
  return undefined
}

/**
 * Reads a path for the first time; again after the reset of its quota, if that is used up and the run may wait.
 * @throws TargetError and ConnectionError if there is nothing to ask, and the reason of a signal that ends the waiting
 */
async function askFirst(path: string, probe: string | undefined, conversation: Conversation): Promise<ProbeAnswer> {
  let answer = await conversation.ask({ method: 'GET', path }, probe)
  if (conversation.waits && isOverQuota(answer)) {
    await conversation.waitFor(path)
    conversation.signal.throwIfAborted()
    answer = await conversation.ask({ method: 'GET', path }, probe)
  }
  refuseTarget(answer, conversation.budget.windowOf(path))
  return answer
}
