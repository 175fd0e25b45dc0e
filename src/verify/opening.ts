import type { RequestBudget } from './budget.ts'
import type { Conversation } from './conversation.ts'
import type { Holdings } from './holdings.ts'
import { takeInventory } from './inventory.ts'
import type { Ledger } from './ledger.ts'
import type { ProbeAnswer } from './probe.ts'
import { refuseSilence, refuseTarget } from './target-check.ts'

/** The probes that the first requests cover, by path. */
const COVERED: Readonly<Record<string, string>> = { '/domaingroups': 'read-groups', '/domains': 'read-domains' }

export interface OpeningOptions {
  conversation: Conversation
  budget: RequestBudget
  holdings: Holdings
  ledger: Pick<Ledger, 'write'>
  /** Whether to wait for quotas. */
  waits: boolean
  waitFor(path: string): Promise<void>
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
  const { conversation, holdings, ledger, waits, waitFor } = options
  const answers: ProbeAnswer[] = []
  for (const path of ['/domaingroups', '/domains', '/dmarc']) {
    // The records are read here only if no other path answers.
    if (path === '/dmarc' && answers.some(({ response: { status } }) => status < 400)) break
    const ask = () => conversation.ask({ method: 'GET', path }, { probe: COVERED[path] })
    let answer = await ask()
    if (answer.code === 'rate_limited' && waits) {
      await waitFor(path)
      answer = await ask()
    }
    refuseTarget(answer)
    answers.push(answer)
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
