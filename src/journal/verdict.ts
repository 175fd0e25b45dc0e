import type { AccountState } from '../domain/account.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { Entry } from './entry.ts'
import {
  type ImpoliteKind,
  type ImpolitenessReport,
  Manners,
  type Noted,
  noteImpolite,
  reportImpoliteness,
  type WireEvidence,
} from './politeness.ts'

/** The facts about an exchange that the verdict needs besides its entry. */
export interface Judged extends WireEvidence {
  /** Whether the request was checked against the whole contract. An earlier refusal, as for its key, prevents that. */
  judged: boolean
  /** The account and the valid key of the request, if it has one. The account is as it was before the request. */
  principal: { account: AccountState; key: ApiKey } | undefined
  /** The account whose key the request presents, if the request was refused before its key counted. */
  owner: { account: AccountState } | undefined
}

/** The counts behind the verdict, with the impolite requests. */
export interface VerdictCounts extends ImpolitenessReport {
  requests: number
  judged: number
  injected: number
  violations: number
  byCode: Readonly<Record<string, number>>
}

/** The number of violations that are kept in full. */
export const EXAMPLES = 10

/** A request that violates the contract. */
export interface Violation {
  entry: Entry
  /** The account of its key, as the request found it; absent if it has none, or if the account is gone. */
  account: AccountState | undefined
}

/** The counts, and the first violations. */
export interface Reckoning {
  readonly counts: VerdictCounts
  readonly first: readonly Violation[]
}

/** The reckoning since some moment. */
class Tally implements Reckoning {
  requests = 0
  judged = 0
  injected = 0
  violations = 0
  readonly byCode = new Map<string, number>()
  readonly impolite = new Map<ImpoliteKind, Noted>()
  readonly first: Violation[] = []

  get counts(): VerdictCounts {
    const { requests, judged, injected, violations, byCode, impolite } = this
    return { requests, judged, injected, violations, byCode: orderCodes(byCode), ...reportImpoliteness(impolite) }
  }
}

/**
 * Whether the clients of this process have kept the contract since its start. The verdict does not depend on the
 * journal. It survives the reset and the deletion of accounts, and a journal that is cleared, full or switched off.
 */
export class Verdict {
  readonly #manners: Manners
  sinceClearing = new Tally()
  readonly sinceStart = new Tally()

  /** `refresh` is the time of day of the daily refresh, as `HH:MM`. */
  constructor({ refresh }: { refresh: string }) {
    this.#manners = new Manners(refresh)
  }

  note(entry: Entry, exchange: Judged): void {
    const { principal, owner, judged } = exchange
    const tallies = [this.sinceClearing, this.sinceStart]
    const code = violatedCode(entry)
    const violation = { entry, account: (principal ?? owner)?.account }
    for (const tally of tallies) {
      tally.requests++
      if (judged) tally.judged++
      if (entry.injected) tally.injected++
      if (!entry.violatesContract) continue
      tally.violations++
      tally.byCode.set(code, (tally.byCode.get(code) ?? 0) + 1)
      if (tally.first.length < EXAMPLES) tally.first.push(violation)
    }
    if (principal === undefined) return
    this.#manners.look(entry, principal.key, exchange, (kind) => {
      for (const { impolite } of tallies) noteImpolite(kind, entry.requestId, impolite)
    })
  }

  clear(): void {
    this.sinceClearing = new Tally()
  }
}

/** The code of a violation. If a fault changed the response, it is the service's own code. */
export function violatedCode({ decided, code, problems }: Pick<Entry, 'decided' | 'code' | 'problems'>): string {
  return (decided === undefined ? code : decided.code) ?? problems[0]?.code ?? ''
}

/** Whether the clients kept the contract. Without a judged request, this is unknown and counts as not passed. */
export function hasPassed({ violations, judged }: Pick<VerdictCounts, 'violations' | 'judged'>): boolean {
  return violations === 0 && judged > 0
}

/** The counts of codes, the greatest first. The order of equal counts does not depend on the order of the requests. */
export function orderCodes(counts: Iterable<readonly [code: string, count: number]>): VerdictCounts['byCode'] {
  const sorted = [...counts].sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1))
  return Object.fromEntries(sorted)
}
