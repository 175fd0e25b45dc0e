import type { Contract } from '../contract/contract.ts'
import { createRouter, type Route } from '../contract/router.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { REDACTED } from '../exchanges/keys.ts'
import { readOutcome, whoFailed } from '../exchanges/reading.ts'
import { plural } from '../ground/plural.ts'
import { splitTarget } from '../ground/target.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import { type Looked, lookedAt } from './baseline.ts'

/** Something that exchanges do not tell: why, how often, and what would let it be told. */
export interface Untold {
  reason: string
  times: number
  remedy: string
}

type UntoldReason = Omit<Untold, 'times'>

export const GATEWAY: UntoldReason = {
  reason: 'A gateway answered in place of the service.',
  remedy: 'Record again when the service answers.',
}

/** How many different reasons are counted. Some contain a status, and there are hundreds of statuses. */
const MOST_REASONS = 50

/** Counts the answers of a service, and why some of them show nothing of its behaviour. */
export class AnswerCounts {
  readonly #contract: Contract
  readonly #route: (method: string, path: string) => Route
  /** By operation, then by status. */
  readonly #counts = new Map<string, Map<number, number>>()
  readonly #reasons = new Map<string, Untold>()

  constructor(contract: Contract) {
    this.#contract = contract
    this.#route = createRouter(contract, contract.settings)
  }

  note({ request, response }: Exchange): void {
    const route = this.#route(request.method, splitTarget(request.target).path)
    const subject = route.ok ? route.operation.id : `${request.method} outside`
    if (response !== undefined) {
      const { status } = response
      const byStatus = this.#counts.get(subject) ?? new Map<number, number>()
      this.#counts.set(subject, byStatus.set(status, (byStatus.get(status) ?? 0) + 1))
    }
    const found = reasonAgainst({ request, response }, route.ok && route.operation.readsBody, this.#contract)
    if (found === undefined) return
    const { reason } = found
    const known = this.#reasons.get(reason)
    if (known !== undefined) known.times++
    else if (this.#reasons.size < MOST_REASONS) this.#reasons.set(reason, { ...found, times: 1 })
  }

  /** Whether a finding of this id would have been seen. */
  get looked(): Looked {
    return lookedAt(new Set(this.counts.keys()))
  }

  /** How often each operation answered with each status, as `listDomains/200`. */
  get counts(): ReadonlyMap<string, number> {
    const all = [...this.#counts].flatMap(([subject, byStatus]) =>
      [...byStatus].map(([status, count]) => [`${subject}/${status}`, count] as const),
    )
    return new Map(all)
  }

  /** Why the behaviour in some exchanges cannot be judged; the most frequent reason first. */
  get reasons(): readonly Untold[] {
    return [...this.#reasons.values()].toSorted((one, other) => other.times - one.times)
  }

  /** The operations that were not asked, or never answered. */
  get unasked(): readonly string[] {
    return this.#contract.operations.map(({ id }) => id).filter((id) => !this.#counts.has(id))
  }
}

/** Why an exchange shows nothing of the behaviour, if the exchange alone tells it, and what would help. */
function reasonAgainst(
  { request: { method, body: sent }, response }: Pick<Exchange, 'request' | 'response'>,
  readsBody: boolean,
  contract: Contract,
): UntoldReason | undefined {
  if (response === undefined) {
    return { reason: 'No response was recorded.', remedy: 'Record until the response is there.' }
  }
  const { status } = response
  // A success is not read a second time.
  const outcome = status < 400 ? undefined : readOutcome(method, response)
  const failed = outcome && whoFailed(outcome, method, response, contract)
  if (failed === 'gateway') return GATEWAY
  if (method === 'HEAD') return { reason: 'A response to HEAD has no body.', remedy: 'Send GET.' }
  for (const body of readsBody ? [response.body, sent] : [response.body]) {
    if (!body.isKnown) return { reason: body.reason, remedy: body.reason === REDACTED ? USE_NO_KEY : RECORD_BODIES }
  }
  if (failed !== undefined) {
    return { reason: `The service failed with ${status}.`, remedy: 'Record again when the service works.' }
  }
  if (outcome?.kind === 'unreadable') {
    const reason = `A response with ${status} has not the envelope of the service.`
    return { reason, remedy: 'Check the base URL and the key.' }
  }
  const code = outcome?.kind === 'refusal' ? outcome.code : undefined
  if (code === 'rate_limited') {
    return { reason: 'The quota was used up.', remedy: 'Record longer, beyond the reset of the quota.' }
  }
  if (code !== 'unauthorized') return undefined
  return { reason: `The key was refused with ${status}.`, remedy: 'Send a valid key.' }
}

const USE_NO_KEY = 'Use names for domains and groups that have no key in them.'
const RECORD_BODIES = 'Record whole bodies, as dmarc-understudy proxy --record does.'

/** By the end of the id of a finding. */
const REASONS: Readonly<Record<string, UntoldReason>> = {
  gateway: GATEWAY,
  changed: {
    reason: 'Another client may have changed the account.',
    remedy: 'Give --sole-writer if no other client did.',
  },
  overlap: {
    reason: 'The request overlapped with one that may change the account, so their order is not known.',
    remedy: 'Send such requests one after the other.',
  },
}
const ANY_REASON: UntoldReason = {
  reason: 'It depends on what is not known of the account, or of the choices of the service.',
  remedy: 'A longer recording, or dmarc-understudy verify, can show which.',
}

/** Why a finding `cannot tell` does not tell, and what would. */
export function reasonOf({ id }: Pick<JudgedDifference, 'id'>): UntoldReason {
  return REASONS[id.slice(id.lastIndexOf('/') + 1)] ?? ANY_REASON
}

/**
 * Everything that exchanges do not tell, the most frequent reason first. Each id occurs once in `findings`; `reasons`
 * are those that single exchanges have.
 */
export function findUntold(
  findings: readonly JudgedDifference[],
  counts: Readonly<Record<string, number>>,
  reasons: readonly Untold[],
): readonly Untold[] {
  const untold = new Map(reasons.map((each) => [each.reason, each]))
  for (const finding of findings.filter(({ label }) => label === 'cannot tell')) {
    const { reason, remedy } = reasonOf(finding)
    // The exchanges of such findings are counted already.
    if (reasons.some((each) => each.reason === reason)) continue
    const times = (untold.get(reason)?.times ?? 0) + (counts[finding.id] ?? 1)
    untold.set(reason, { reason, remedy, times })
  }
  return [...untold.values()].toSorted((one, other) => other.times - one.times)
}

/** A sentence with the most frequent reason, if there is any. */
export function summariseUntold(untold: readonly Untold[]): string[] {
  const [first] = untold
  if (first === undefined) return []
  const total = untold.reduce((sum, { times }) => sum + times, 0)
  const most = total === first.times ? '' : 'most often '
  return [`${plural(total, 'thing')} cannot be told, ${most}because: ${first.reason} ${first.remedy}`]
}

/** How many reasons fit into a line. */
const NAMED = 3

/** `18: Another client … 2: The request …` */
export function listUntold(untold: readonly Untold[]): string {
  const named = untold.slice(0, NAMED).map(({ reason, times, remedy }) => `${times}: ${reason} ${remedy}`)
  return [...named, ...(untold.length > NAMED ? ['…'] : [])].join(' ')
}
