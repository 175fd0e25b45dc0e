import type { RequestBudget } from './budget.ts'
import type { Conversation, RequestRole } from './conversation.ts'
import type { Holdings } from './holdings.ts'
import { takeInventory } from './inventory.ts'
import type { Ledger } from './ledger.ts'
import { isOverQuota, type ProbeAnswer } from './probe.ts'
import { refuseSilence, refuseTarget } from './target-check.ts'

/** The probes that the first requests cover, by path. */
const COVERED: Readonly<Record<string, string>> = { '/domaingroups': 'read-groups', '/domains': 'read-domains' }

/** How the first requests are sent. */
interface FirstTerms {
  conversation: Conversation
  budget: Pick<RequestBudget, 'windowOf'>
  /** Whether to wait for quotas. */
  waits: boolean
  waitFor(path: string): Promise<void>
  signal: AbortSignal
}

export interface OpeningOptions extends FirstTerms {
  holdings: Holdings
  ledger: Pick<Ledger, 'write'>
}

/** What the first requests have shown. */
export interface Opening {
  /** The ids of the probes that they have covered. */
  done: readonly string[]
  /** Why the run must not write, if so: without the lists, it cannot show that the account is unchanged. */
  unreadable: string | undefined
}

/**
 * Sends the first requests. They show whether this is the service, and what the account holds.
 * @throws TargetError and ConnectionError if there is nothing to ask
 */
export async function openRun(options: OpeningOptions): Promise<Opening> {
  const { holdings, ledger } = options
  const answers: ProbeAnswer[] = []
  for (const path of ['/domaingroups', '/domains', '/dmarc']) {
    // The records are read here only if no other path answers.
    if (path === '/dmarc' && answers.some(({ response: { status } }) => status < 400)) break
    answers.push(await askFirst(path, options, { probe: COVERED[path] }))
  }
  refuseSilence(answers)
  const lists = [...answers]
  const before = await takeInventory(async () => lists.shift() ?? 'nothing was answered')
  const done = Object.values(COVERED)
  if (typeof before === 'string') return { done, unreadable: `the lists of the account cannot be read: ${before}` }
  holdings.remember(before)
  ledger.write({ before })
  for (const id of done) ledger.write({ done: id })
  return { done, unreadable: undefined }
}

/**
 * Reads a path for the first time; again after the reset of its quota, if that is used up and the run may wait.
 * @throws TargetError and ConnectionError if there is nothing to ask, and the reason of a signal that ends the waiting
 */
export async function askFirst(
  path: string,
  { conversation, budget, waits, waitFor, signal }: FirstTerms,
  role?: RequestRole,
): Promise<ProbeAnswer> {
  const ask = () => conversation.ask({ method: 'GET', path }, role)
  let answer = await ask()
  if (waits && isOverQuota(answer)) {
    await waitFor(path)
    signal.throwIfAborted()
    answer = await ask()
  }
  refuseTarget(answer, budget.windowOf(path))
  return answer
}
