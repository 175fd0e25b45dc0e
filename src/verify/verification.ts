import { type Conclusion, Investigation } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import { clearInterval, setInterval } from '../ground/timers.ts'
import { Asking, type EarlyEnd, type ProbeState, type VerifyProgress } from './asking.ts'
import { type QuotaView, RequestBudget, type Reserve } from './budget.ts'
import { type Client, ConnectionError } from './client.ts'
import { Conversation, type ConversationJudge } from './conversation.ts'
import { foresee } from './foresight.ts'
import { type Holdings, markOf } from './holdings.ts'
import { type KeptExchange, type Ledger, type LedgerContent, LedgerError } from './ledger.ts'
import { askFirst, openRun } from './opening.ts'
import { planProbes } from './plan.ts'
import { ProbeSetup } from './probe-setup.ts'
import { type Cleanup, NOTHING_REMOVED, restore } from './restoration.ts'

/** What a run and a sweep need. */
export interface RunOptions {
  client: Pick<Client, 'send'>
  apiKey: string
  ledger: Pick<Ledger, 'write' | 'keep'>
  reserve: Reserve
  /** Whether to wait for quotas. If not, the run ends when they are used up. */
  waits: boolean
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Counts the milliseconds that pass, also while it sleeps; by default those of real time. */
  now?(): number
  signal: AbortSignal
}

export interface VerifyOptions extends RunOptions {
  choices: Choices
  /** What the run has in the account: nothing yet, or what an earlier run has by its ledger. */
  holdings: Holdings
  /** The records of an earlier run, if this run continues it. */
  earlier?: LedgerContent | undefined
  /** The suffix of the domains of the run. */
  suffix: string
  writes: boolean
  exhaust: boolean
  /** Whether no other client changes the account during the run, so that more can be concluded. */
  soleWriter: boolean
  onProgress(progress: VerifyProgress): void
  /** Reports for how many of all choices the answers to the probes are known. */
  onRehearsal?(done: number, all: number): void
  /** Judges the exchanges in place of a new investigation. */
  judge?: ConversationJudge | undefined
}

export interface VerifyResult {
  probes: readonly ProbeState[]
  exchanges: readonly KeptExchange[]
  /** What went wrong on the way to the service, one sentence each. */
  troubles: readonly string[]
  conclusion: Conclusion
  cleanup: Cleanup
  quotas: readonly QuotaView[]
  requests: number
  /** Why the run ended early. */
  ended?: EarlyEnd['kind']
  /** One sentence about `ended`. */
  reason?: string
}

/**
 * Asks everything that the plan has and the quotas allow, restores the account, and judges all answers.
 * @throws TargetError and ConnectionError if the first requests already show that there is nothing to ask
 */
export async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const { choices, holdings, earlier, suffix, writes, soleWriter, ledger, onRehearsal } = options
  const { contract } = choices
  let asking: Asking | undefined
  const tell = (doing: string) => asking?.tell(doing)
  const way = openWay(contract, holdings, { ...options, tell })
  const { conversation, budget } = way

  // The first requests come before all slow steps, so that the user learns of a wrong key at once.
  const opening = holdings.before === undefined ? await openRun({ ...options, ...way }) : undefined
  onRehearsal?.(0, choices.alternatives.length)
  const isOwnName = (name: string) => name.toLowerCase().includes(holdings.mark)
  const judge = options.judge ?? (await Investigation.begin({ choices, isOwnName, isSoleWriter: soleWriter }))
  const plan = planProbes(await foresee(choices, onRehearsal), contract, options)
  // Only now there is a judge for the answers to the first requests.
  await conversation.judgeWith(judge, earlier?.exchanges ?? [])

  const setup = new ProbeSetup({ holdings, suffix, names: earlier === undefined ? 0 : namesIn(earlier) })
  const done = [...(earlier?.done ?? []), ...(opening?.done ?? [])]
  // An earlier run may have left something, also if this one only reads.
  const restores = writes || holdings.hasIntents
  asking = new Asking({ ...options, ...way, plan, setup, restores, done, unreadable: opening?.unreadable })
  await endingWith(asking, () => asking?.askAll())

  conversation.isCleaning = true
  tell('restores the account')
  const cleanup = await restoreWith(way, holdings, options, opening?.unreadable)
  if (cleanup.restored && writes) await endingWith(asking, async () => ledger.write({ removed: true }))
  const isOver = asking.ended === undefined || asking.ended.kind === 'quota'
  if (isOver && cleanup.restored) await endingWith(asking, () => asking?.exhaust())

  const { ended } = asking
  return {
    probes: asking.states,
    exchanges: conversation.exchanges,
    troubles: conversation.troubles,
    conclusion: judge.conclude(),
    cleanup,
    quotas: budget.views,
    requests: conversation.sent,
    ...(ended !== undefined && { ended: ended.kind, reason: ended.reason }),
  }
}

/** A lost connection and a full disk end the asking, but not the report. @throws any other error */
async function endingWith(asking: Asking, ask: () => Promise<void> | undefined): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (error instanceof LedgerError) return asking.end('ledger', `the ledger ${error.message}`)
    if (!(error instanceof ConnectionError)) throw error
    asking.end('connection', `the connection was lost: ${error.message}`)
  }
}

/** Removes what an incomplete run has left, and nothing else. @throws ConnectionError, TargetError */
export async function sweep({
  contract,
  holdings,
  ...options
}: RunOptions & { contract: Contract; holdings: Holdings }): Promise<Cleanup> {
  const way = openWay(contract, holdings, { ...options, writes: true, tell: () => {} })
  way.conversation.isCleaning = true
  if (holdings.hasIntents) await askFirst('/domaingroups', { ...options, ...way })
  return restoreWith(way, holdings, { ...options, writes: true }, undefined)
}

/** What every request of a run goes through. */
interface Way {
  conversation: Conversation
  budget: RequestBudget
  pause(milliseconds: number): Promise<void>
  waitFor(path: string): Promise<void>
}

/** In milliseconds. If the clocks differ, the whole second in which a window ends may not be over. */
const AFTER_RESET = 1_000
/** In milliseconds: how often the run reports that it still waits. */
const TICK = 1_000

function openWay(
  contract: Contract,
  holdings: Holdings,
  { client, apiKey, ledger, reserve, sleep, now, signal, writes, tell }: RunOptions & WayOptions,
): Way {
  const budget = new RequestBudget(contract, reserve, now)
  // A signal ends the waiting for quotas, but not the short pauses of the cleanup.
  const pause = (milliseconds: number) => sleep(milliseconds, new AbortController().signal)
  const conversation = new Conversation({ client, contract, apiKey, budget, holdings, ledger, writes, pause })
  return {
    conversation,
    budget,
    pause,
    /** Waits for a new window of the path. Paths whose windows end meanwhile get a new one too. */
    async waitFor(path) {
      const wait = budget.untilReset(path) + AFTER_RESET
      const renewed = budget.paths.filter((each) => budget.untilReset(each) <= wait)
      const say = () => tell(`waits for the quota of ${path}`)
      say()
      const timer = setInterval(say, TICK).unref()
      await sleep(wait, signal)
      clearInterval(timer)
      if (!signal.aborted) for (const each of renewed) budget.renew(each)
    },
  }
}

interface WayOptions {
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  /** Reports what the run does. */
  tell(doing: string): void
}

async function restoreWith(
  way: Way,
  holdings: Holdings,
  { writes, waits, signal }: Pick<VerifyOptions, 'writes' | 'waits' | 'signal'>,
  unreadable: string | undefined,
): Promise<Cleanup> {
  // A run that has recorded no creation has changed nothing.
  if (!holdings.hasIntents) return { restored: true, ...NOTHING_REMOVED }
  if (unreadable !== undefined) return { restored: false, ...NOTHING_REMOVED, reason: unreadable }
  return restore({ ...way, holdings, writes, waits, signal })
}

/** The largest number in the names that an earlier run may have created. */
function namesIn({ head, intents }: LedgerContent): number {
  const names = intents.flatMap(({ domains = [], group }) => [...domains, ...(group === undefined ? [] : [group.name])])
  const numbers = names.flatMap((name) => new RegExp(`${markOf(head.run)}[- ](\\d+)`).exec(name)?.[1] ?? [])
  return Math.max(0, ...numbers.map(Number))
}
