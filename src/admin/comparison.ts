import {
  type ComparisonResult,
  concludeAll,
  concludeCoverage,
  concludeHoldings,
  concludeRequests,
  type MissingRequests,
} from '../comparison/conclusions.ts'
import { type CoverageComparison, compareCoverage } from '../comparison/coverage.ts'
import { compareHoldings, type HeldState, type HoldingsComparison } from '../comparison/holdings.ts'
import type { ListLimits } from '../comparison/lists.ts'
import { compareRequests, type RequestsComparison } from '../comparison/requests.ts'
import { reportCoverage } from '../coverage/report.ts'
import type { AccountState } from '../domain/account.ts'
import type { ReadableCounters } from '../domain/counting.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { runInTurns } from '../ground/work.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { AdminRefusal } from './codes.ts'
import { type AccountCall, type AccountHandler, done } from './handler.ts'
import { readLimit } from './paging.ts'
import { findEntry, notKept } from './past.ts'
import { describeQuotas } from './quotas.ts'
import { invalid, notFound, unknownAccount } from './refusals.ts'
import type { AccountReport } from './reports.ts'

/** One side of a comparison, as it was at the time `now` of its clock. */
export interface ComparedSide
  extends Pick<AccountReport, 'plan' | 'seed' | 'now' | 'frozen' | 'domains' | 'groups' | 'keys' | 'faults'> {
  account: string
  /** Its snapshot or its state before a request; both are null for the account as it is. */
  snapshot: string | null
  before: string | null
}

/** The differences between two accounts, or between an account and its earlier state. */
export interface ComparisonReport extends ComparisonResult {
  one: ComparedSide
  other: ComparedSide
  holds: ComparisonResult & HoldingsComparison
  /** Null, like `covered`, for an earlier state of the same account. */
  asked: (ComparisonResult & RequestsComparison & MissingRequests) | null
  covered: (ComparisonResult & CoverageComparison) | null
}

/** The ways to name what an account is compared with. */
const WAYS = ['with', 'snapshot', 'before'] as const
/** The lists of differences that an answer has. They share the bytes of a page. */
const LISTS = 15

/** An account or its earlier state, with the counts that its quotas follow from. */
interface FoundSide {
  ok: true
  state: AccountState
  now: number
  hits: ReadableCounters['quotas']
  snapshot?: string | null
  before?: string | null
}

export const compareAccount: AccountHandler<ComparisonReport> = async (call) => {
  const { account, limits, query } = call
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const other = await findOther(call)
  if (!other.ok) return other
  const one = await findPresent(call, account)
  const holdings = await compareHeld(call, one, other, { limit, bytes: limits.pageBytes / LISTS })
  const holds = { ...concludeHoldings(holdings), ...holdings }
  const sides = { one: describeSide(one), other: describeSide(other) }
  if (query['with'] === undefined) {
    const { result, message } = holds
    return done({ result, message, ...sides, holds, asked: null, covered: null })
  }
  const asked = await compareAsked(call, other.state)
  const [former, latter] = [await call.exchanges.coverage(account.id), await call.exchanges.coverage(other.state.id)]
  const coverage = compareCoverage(reportCoverage(former), reportCoverage(latter))
  const hasAsked = asked.one + asked.missing_in_one > 0 && asked.other + asked.missing_in_other > 0
  const covered = { ...concludeCoverage(coverage, hasAsked), ...coverage }
  const parts = { 'what they hold': holds, 'what they asked': asked, 'what they covered': covered }
  return done({ ...concludeAll(parts), ...sides, holds, asked, covered })
}

/** The other side. A refusal says what is wrong with the parameter that names it. */
async function findOther(call: AccountCall): Promise<FoundSide | AdminRefusal> {
  const { account, query, store, worlds, exchanges } = call
  const { with: id, snapshot, before } = query
  const given = WAYS.filter((name) => query[name] !== undefined)
  if (given.length !== 1) return invalid(given[1] ?? WAYS[0], undefined, 'one-way', { count: given.length })
  if (snapshot !== undefined) {
    const found = await store.snapshots.read(account.id, snapshot)
    if (found === undefined) return notFound('snapshot', snapshot)
    return { ok: true, state: found.state, now: found.takenAt, hits: found.counters.quotas, snapshot }
  }
  if (before !== undefined) {
    const found = await findEntry(call, before)
    if (!found.ok) return found
    const past = await worlds.recall(found.entry)
    if (past === undefined) return notKept(before)
    return { ok: true, state: past.state, now: found.entry.at, hits: past.counters.quotas, before }
  }
  if (id === account.id) return invalid('with', id, 'itself')
  if ((await store.find('id', id ?? '')) === undefined) return unknownAccount(worlds, id ?? '')
  await exchanges.caughtUp()
  return findPresent(call, await store.read(id ?? ''))
}

async function findPresent({ store, worlds }: AccountCall, state: AccountState): Promise<FoundSide> {
  const hits = await store.count(state.id, (_, counting) => counting.quotas)
  return { ok: true, state, now: worlds.now(state), hits }
}

async function compareHeld(
  { contract }: AccountCall,
  one: FoundSide,
  other: FoundSide,
  limits: ListLimits,
): Promise<HoldingsComparison> {
  const hold = ({ state, now, hits }: FoundSide): HeldState => {
    return { state, now, quotas: describeQuotas({ account: state, now, contract }, hits) }
  }
  return runInTurns(compareHoldings(hold(one), hold(other), limits, contract))
}

/** Compares the requests in the journal, up to the newest one at the beginning of the comparison. */
async function compareAsked({ account, store, exchanges }: AccountCall, other: AccountState) {
  const { journal } = exchanges
  const ids = [account.id, other.id] as const
  const countRequests = (id: string) => store.count(id, (_, { requests }) => requests)
  // The counts are read first, so a request that is answered meanwhile is not counted as missing.
  const [inOne, inOther] = [await countRequests(ids[0]), await countRequests(ids[1])]
  await exchanges.caughtUp()
  const [former, latter] = [new JournalPart(journal, ids[0]), new JournalPart(journal, ids[1])]
  const requests = await runInTurns(
    compareRequests(former.entries(), latter.entries(), (entry) => journal.redactorFor(entry)),
  )
  const missing = {
    missing_in_one: Math.max(0, inOne - former.counted),
    missing_in_other: Math.max(0, inOther - latter.counted),
  }
  return { ...concludeRequests(requests, missing, ids), ...missing, ...requests }
}

/** The requests of an account up to the newest one at the time of the creation, while the journal may grow. */
class JournalPart {
  /** The number of read requests that the account has counted, which it does for those with a valid key. */
  counted = 0
  readonly #journal: Journal
  readonly #account: string
  readonly #newest: number

  constructor(journal: Journal, account: string) {
    this.#journal = journal
    this.#account = account
    this.#newest = journal.recorded
  }

  *entries(): Generator<Entry> {
    for (const entry of this.#journal.oldestFirst(this.#account)) {
      if (entry.ordinal > this.#newest) return
      const { ordinal, disabled } = entry.keyEvidence
      if (ordinal > 0 && !disabled) this.counted++
      yield entry
    }
  }
}

function describeSide({ state, now, snapshot = null, before = null }: FoundSide): ComparedSide {
  const { id, plan, seed, clock, domains, groups, keys, faults } = state
  return {
    ...{ account: id, snapshot, before, plan, seed, now: writeInstant(now), frozen: 'frozenAt' in clock },
    ...{ domains: domains.size, groups: groups.size, keys: keys.length, faults: faults.length },
  }
}
