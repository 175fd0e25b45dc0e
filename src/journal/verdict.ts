import type { Schemas } from '../contract/control-plane.ts'
import type { AccountState } from '../domain/account.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { Entry } from './entry.ts'
import { type ImpoliteKind, Manners, type Noted, reportImpoliteness, type WireEvidence } from './politeness.ts'

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
export interface VerdictCounts {
  requests: number
  judged: number
  injected: number
  violations: number
  byCode: Readonly<Record<string, number>>
  politeness: Schemas['Verdict']['politeness']
}

/** The number of violations that are kept in full, and of ids of other requests for each count. */
export const EXAMPLES = 10

/** What the names of the counts of a code, and of a kind of impolite use, begin with. */
const CODE = 'code '
export const IMPOLITE = 'impolite '

/** The names of the counts to which an exchange adds one. A shared store counts by the same names. */
export function countsOf(
  entry: Pick<Entry, 'injected' | 'violatesContract' | 'decided' | 'code' | 'problems'>,
  { judged }: Pick<Judged, 'judged'>,
  impolite: readonly ImpoliteKind[],
): string[] {
  const names = ['requests']
  if (judged) names.push('judged')
  if (entry.injected) names.push('injected')
  if (entry.violatesContract) names.push('violations', `${CODE}${violatedCode(entry)}`)
  for (const kind of impolite) names.push(`${IMPOLITE}${kind}`)
  return names
}

/** The counts that were made by these names. */
export function readCounts(noted: ReadonlyMap<string, Noted>): VerdictCounts {
  const read = (name: string) => noted.get(name)?.count ?? 0
  const codes = [...noted.keys()].filter((name) => name.startsWith(CODE))
  return {
    ...{ requests: read('requests'), judged: read('judged'), injected: read('injected') },
    violations: read('violations'),
    byCode: orderCodes(codes.map((name) => [name.slice(CODE.length), read(name)])),
    politeness: reportImpoliteness((kind) => noted.get(`${IMPOLITE}${kind}`)),
  }
}

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
  readonly #noted = new Map<string, { count: number; requestIds: string[] }>()
  readonly first: Violation[] = []

  add(name: string, requestId: string): void {
    const noted = this.#noted.get(name) ?? { count: 0, requestIds: [] }
    noted.count++
    if (noted.requestIds.length < EXAMPLES) noted.requestIds.push(requestId)
    this.#noted.set(name, noted)
  }

  get counts(): VerdictCounts {
    return readCounts(this.#noted)
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
    const { principal, owner } = exchange
    const impolite = principal === undefined ? [] : this.#manners.look(entry, principal.key, exchange)
    const names = countsOf(entry, exchange, impolite)
    const violation = { entry, account: (principal ?? owner)?.account }
    for (const tally of [this.sinceClearing, this.sinceStart]) {
      for (const name of names) tally.add(name, entry.requestId)
      if (entry.violatesContract && tally.first.length < EXAMPLES) tally.first.push(violation)
    }
  }

  clear(): void {
    this.sinceClearing = new Tally()
  }
}

/** The code of a violation. If a fault changed the response, it is the service's own code. */
function violatedCode({ decided, code, problems }: Pick<Entry, 'decided' | 'code' | 'problems'>): string {
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
