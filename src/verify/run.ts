import type { Contract } from '../contract/contract.ts'
import { clearInterval, setInterval } from '../ground/timers.ts'
import type { Conclusion } from '../judge/judge.ts'
import { type QuotaView, RequestBudget, type Reserve } from './budget.ts'
import { type Cleanup, NOTHING_REMOVED, readList, restore } from './cleanup.ts'
import { ConnectionError } from './client.ts'
import {
  Conversation,
  type ConversationOptions,
  isOverQuota,
  type ProbeAnswer,
  type RunExchange,
  type RunJudge,
  type Way,
} from './conversation.ts'
import { readDomains, readGroups } from './holdings.ts'
import { LedgerError } from './ledger.ts'
import type { PlannedProbe } from './plan.ts'
import { READ_DOMAINS, READ_GROUPS } from './probes.ts'
import { type EarlyEnd, type ProbeState, Questioning } from './questioning.ts'
import { refuseSilence, refuseTarget } from './target.ts'

/** What a run and a sweep need. `holdings` are empty, or, for a sweep, what the ledger says. */
export interface RunOptions
  extends Omit<ConversationOptions, 'contract' | 'budget' | 'writes' | 'pause'>,
    Pick<Way, 'waits' | 'signal'> {
  contract: Contract
  reserve: Reserve
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

export interface VerifyOptions extends RunOptions {
  plan: readonly PlannedProbe[]
  /** The suffix of the domains of the run. */
  suffix: string
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  onProgress(progress: VerifyProgress): void
  /** Makes the judge, when the first requests have shown that there is a service. */
  beginJudge(): Promise<RunJudge>
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

/**
 * Asks everything that the quotas allow, restores the account, and judges all answers.
 * @throws TargetError and ConnectionError if the first requests already show that there is nothing to ask
 */
export async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const { plan, holdings, beginJudge, onProgress } = options
  let questioning: Questioning | undefined
  const tell = (doing: string) => {
    const planned = plan.filter(({ barrier }) => barrier === undefined).length
    onProgress({ asked: questioning?.asked ?? 0, planned, doing, quotas: way.budget.views })
  }
  const way = openWay({ ...options, tell })
  const { conversation, budget } = way
  // The first requests come before the judge, so that the user learns of a wrong key at once.
  const unreadable = await readAccount(options, way)
  const judge = await beginJudge()
  conversation.judgeWith(judge)

  questioning = new Questioning({ ...options, ...way, unreadable, tell })
  const asking = questioning
  await endingWith(asking, () => asking.askAll())
  tell('restores the account')
  // A run that has recorded no creation has changed nothing.
  const cleanup = holdings.hasIntents ? await restore(way) : { restored: true, ...NOTHING_REMOVED }
  // It comes after the cleanup, which needs the quotas, too.
  const isOver = asking.ended === undefined || asking.ended.kind === 'quota'
  if (isOver && cleanup.restored) await endingWith(asking, () => asking.exhaust())
  return {
    probes: asking.states,
    exchanges: conversation.exchanges,
    troubles: conversation.troubles,
    conclusion: judge.conclude(),
    cleanup,
    quotas: budget.views,
    requests: conversation.sent,
    ended: asking.ended,
  }
}

/** Removes what a killed run has left, and nothing else. @throws ConnectionError, TargetError */
export async function sweep(options: RunOptions): Promise<Cleanup> {
  const way = openWay({ ...options, writes: true, tell: () => {} })
  if (!options.holdings.hasIntents) return { restored: true, ...NOTHING_REMOVED }
  await askFirst('/domaingroups', undefined, way)
  return restore(way)
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

/** In milliseconds. If the clocks differ, the whole second in which a window ends may not be over. */
const AFTER_RESET = 1_000
/** In milliseconds: how often the run reports that it still waits. */
const TICK = 1_000

function openWay(options: RunOptions & { writes: boolean; tell(doing: string): void }): Way {
  const { contract, reserve, clock, sleep, signal, tell } = options
  const budget = new RequestBudget(contract, reserve, clock)
  // A signal ends the waiting for quotas, but not the short pauses of the cleanup.
  const pause = (milliseconds: number) => sleep(milliseconds, new AbortController().signal)
  return {
    ...{ budget, pause, signal, waits: options.waits, holdings: options.holdings },
    conversation: new Conversation({ ...options, budget, pause }),
    async waitFor(path) {
      const wait = budget.untilReset(path) + AFTER_RESET
      const renew = budget.renewAfter(wait)
      const say = () => tell(`waits for the quota of ${path}`)
      say()
      const timer = setInterval(say, TICK).unref()
      await sleep(wait, signal)
      clearInterval(timer)
      if (!signal.aborted) renew()
    },
  }
}

/**
 * Reads the account for the first time. Resolves to why the run must not write, if so: without the lists, it cannot show
 * that the account is unchanged.
 */
async function readAccount(options: VerifyOptions, way: Way): Promise<string | undefined> {
  const { holdings, ledger } = options
  const ofGroups = await askFirst('/domaingroups', READ_GROUPS.id, way)
  const ofDomains = await askFirst('/domains', READ_DOMAINS.id, way)
  const answers = [ofGroups, ofDomains]
  // The records are read here only if no other path answers.
  if (answers.every(({ response: { status } }) => status >= 400)) {
    answers.push(await askFirst('/dmarc', undefined, way))
  }
  refuseSilence(answers)
  const groups = await readList(readGroups, async () => ofGroups)
  const domains = await readList(readDomains, async () => ofDomains)
  for (const list of [groups, domains]) {
    if (typeof list === 'string') return `the account cannot be read: ${list}`
  }
  const before = { groups: groups as readonly never[], domains: domains as readonly string[] }
  holdings.remember(before)
  ledger.write({ before })
  return undefined
}

/**
 * Reads a path for the first time; again after the reset of its quota, if that is used up and the run may wait.
 * @throws TargetError and ConnectionError if there is nothing to ask, and the reason of a signal that ends the waiting
 */
async function askFirst(
  path: string,
  probe: string | undefined,
  { conversation, budget, waits, waitFor, signal }: Way,
): Promise<ProbeAnswer> {
  const ask = () => conversation.ask({ method: 'GET', path }, probe)
  let answer = await ask()
  if (waits && isOverQuota(answer)) {
    await waitFor(path)
    signal.throwIfAborted()
    answer = await ask()
  }
  refuseTarget(answer, budget.windowOf(path))
  return answer
}
