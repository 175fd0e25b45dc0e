import { stateWriterOf } from '../accounts/export.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { type ExplanationReport, explainEntry } from '../explain/explanation.ts'
import { foreignHostOf } from '../explain/foreign-host.ts'
import { explainElsewhere } from '../explain/foreign-service.ts'
import { pageAddress } from '../explain/page-address.ts'
import { show } from '../ground/show.ts'
import { describeEntry, type RequestReport } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal, Scope } from '../journal/journal.ts'
import {
  countConditions,
  type Difference,
  differencesOf,
  matcherOf,
  mayMatch,
  type RequestMatch,
} from '../journal/match.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import { findWords, SEARCHED_WORDS, wordsIn } from '../journal/search.ts'
import { readdress } from './address.ts'
import { type AccountHandler, type ControlCall, type ControlOutcome, done, type Handler } from './handler.ts'
import { type PageOf, readLimit } from './paging.ts'
import { recallPast } from './past.ts'
import { invalid, notFound } from './refusals.ts'
import type { VerificationReport } from './reports.ts'
import { checkRequestMatch } from './request-match-check.ts'

/** The number of listed requests that nearly matched. */
const NEAR_MISSES = 3
/** The value of `account` for the requests without an account. */
const NO_ACCOUNT = 'none'

/** The newest requests, of which the oldest is first. `next` is the ordinal before which the next page ends. */
type RequestsPage = PageOf<'requests', RequestReport, number>

export const listAllRequests: Handler<RequestsPage> = async (call) => {
  const { account, ...query } = call.query
  return listEntries({ ...call, query }, account === NO_ACCOUNT ? null : undefined, { injected: [] })
}

export const listRequests: AccountHandler<RequestsPage> = (call) =>
  listEntries(call, call.account.id, knownOf(call.account))

export const clearRequests: AccountHandler = async ({ account, exchanges }) => {
  await exchanges.clearRequests(account.id)
  return done()
}

export interface ExpectedCount {
  match: RequestMatch
  count?: number
  at_least?: number
  at_most?: number
}

export const verifyRequests: AccountHandler<VerificationReport, ExpectedCount> = async (call) => {
  const { account, exchanges, contract } = call
  const { journal } = exchanges
  const { match, count, at_least, at_most } = call.body
  await exchanges.caughtUp()
  const entries = () => journal.newestFirst(account.id)
  const refusal = checkRequestMatch(match, {
    contract,
    entries,
    ...knownOf(account),
    fieldOf: (name) => `/match/${name}`,
  })
  if (refusal) return refusal
  const { matched, oldest, nearest, uncertain } = compareAll(entries(), match, contract)
  const lowest = count ?? at_least ?? (at_most === undefined ? 1 : 0)
  const highest = count ?? at_most ?? Number.POSITIVE_INFINITY
  const passed = matched >= lowest && matched <= highest
  const misses = passed || matched > highest ? [] : nearest
  const outcome = {
    passed,
    matched,
    first_match: oldest?.requestId ?? null,
    near_misses: misses.map(({ entry, differences }) => reportMiss(entry, differences)),
  }
  const counts = matched > highest || (matched >= lowest && matched + uncertain <= highest) ? 0 : uncertain
  return done({
    ...outcome,
    message: sayWhy(outcome, lowest, highest) + sayForeign(misses[0]) + sayUncertain(counts),
  })
}

/** A compared entry, and the conditions that it does not meet. */
interface Compared {
  entry: Entry
  differences: Difference[]
}

/**
 * The number of matching entries, the oldest of them, the number of entries that match if their unknown body does, and
 * the near misses, nearest and newest first. `entries` begin with the newest.
 */
function compareAll(entries: Iterable<Entry>, match: RequestMatch, contract: Contract) {
  const conditions = countConditions(match)
  let matched = 0
  let uncertain = 0
  let oldest: Entry | undefined
  let nearest: Compared[] = []
  for (const entry of entries) {
    const differences = differencesOf(entry, match, contract)
    if (differences.length > 0 && mayMatch(entry, differences)) uncertain++
    if (differences.length === 0) {
      matched++
      oldest = entry
    }
    // With several conditions, a request that meets none is no near miss. With one, any request is a near miss.
    else if (conditions === 1 || differences.length < conditions) {
      const farthest = nearest.at(-1)?.differences.length ?? 0
      if (nearest.length === NEAR_MISSES && differences.length >= farthest) continue
      nearest = [...nearest, { entry, differences }]
        .sort((one, other) => one.differences.length - other.differences.length)
        .slice(0, NEAR_MISSES)
    }
  }
  return { matched, oldest, nearest, uncertain }
}

export const explainRequest: Handler<ExplanationReport> = async (call) => {
  const { worlds, exchanges, store, contract, parameters } = call
  const id = parameters['request-id'] ?? ''
  await exchanges.caughtUp()
  const entry = exchanges.journal.find(id)
  if (entry === undefined) return explainExample(call, id)
  // If the account of the request is unknown, the correction uses the default account.
  const accountId = entry.account ?? DEFAULT_ACCOUNT
  // The account may have been deleted while the request was processed.
  if ((await store.find('id', accountId)) === undefined) return explainExample(call, id)
  const { state: account } = await store.read(accountId)
  const redact = redactorForAll(exchanges.journal.secrets)
  const explained = explainEntry(entry, {
    ...{ account, contract, redact, urls: call.urls(), publicKey: worlds.findPublicKey(account) },
    past: await recallPast(entry, call),
    ...stateWriterOf(contract, entry.at),
  })
  return done<ExplanationReport>(call.observed === undefined ? explained : explainElsewhere(explained))
}

/** Explains a violation that the verdict keeps although the journal has dropped it. */
async function explainExample(
  { exchanges, urls, ownUrls }: ControlCall,
  id: string,
): Promise<ControlOutcome<ExplanationReport>> {
  const verdict = await exchanges.verdict()
  const kept = (await verdict.examples()).findLast((example) =>
    [id, id.toLowerCase()].includes(example?.request_id ?? ''),
  )
  if (kept === undefined) return notFound('request', id)
  const { correction, reproduction, request_id, account } = kept
  const write = (text: string) => readdress(text, ownUrls(), urls())
  return done({
    ...kept,
    page: pageAddress(request_id, account, urls()) ?? null,
    correction: correction && { ...correction, before: correction.before.map(write), curl: write(correction.curl) },
    reproduction: reproduction && { ...reproduction, curl: write(reproduction.curl) },
  })
}

/** The keys and the fault rules of an account, and the statuses that the rules answer with. */
function knownOf({ keys, faults }: AccountState): { keys: string[]; faults: string[]; injected: number[] } {
  return {
    keys: keys.map(({ id }) => id),
    faults: faults.map(({ id }) => id),
    injected: faults.flatMap(({ rule }) => rule.respond?.status ?? []),
  }
}

/** Answers with a page of the requests in a scope, and with the known facts about their senders. */
async function listEntries(
  call: ControlCall,
  scope: Scope,
  known: { keys?: string[]; injected: number[] },
): Promise<ControlOutcome<RequestsPage>> {
  const { contract, exchanges } = call
  const { journal } = exchanges
  const { limit: _, before, search, status, violation, refused, injected, ...match } = call.query
  const wanted: RequestMatch = {
    ...match,
    ...(status !== undefined && { status: Number(status) }),
    ...(violation !== undefined && { violation: violation === 'true' }),
    ...(refused !== undefined && { refused: refused === 'true' }),
    ...(injected !== undefined && { injected: injected === 'true' }),
  }
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const words = wordsIn(search ?? '')
  if (words.length > SEARCHED_WORDS)
    return invalid('search', search, 'words', { limit: SEARCHED_WORDS, count: words.length })
  await exchanges.caughtUp()
  const entries = () => journal.newestFirst(scope)
  const refusal = checkRequestMatch(wanted, { contract, entries, ...known, fieldOf: (name) => name })
  if (refusal) return refusal
  const describe = (entry: Entry) => describeEntry(entry, contract.catalogue)
  const { page, next, count } = selectEntries(journal, scope, {
    before: before === undefined ? Number.POSITIVE_INFINITY : Number(before),
    matches: both(
      countConditions(wanted) === 0 ? undefined : matcherOf(wanted, contract),
      words.length === 0 ? undefined : findWords(words),
    ),
    limit,
    bytes: call.limits.pageBytes,
    sizeOf: (entry) => Buffer.byteLength(JSON.stringify(describe(entry))),
  })
  return done({ requests: page.map(describe), count, next })
}

type EntryTest = ((entry: Entry) => boolean) | undefined

function both(one: EntryTest, other: EntryTest): EntryTest {
  return one && other ? (entry) => one(entry) && other(entry) : (one ?? other)
}

interface Selection {
  /** An ordinal. The page has only entries before it. */
  before: number
  /** Absent if all entries match. */
  matches: EntryTest
  limit: number
  /** The maximum number of bytes of the page. */
  bytes: number
  sizeOf(entry: Entry): number
}

/**
 * The newest matching entries, from the oldest to the newest, with the total number of matching entries. If there is a
 * next page, also its `before`.
 */
function selectEntries(
  journal: Journal,
  scope: Scope,
  { before, matches, limit, bytes, sizeOf }: Selection,
): { page: Entry[]; next: number | null; count: number } {
  const page: Entry[] = []
  let next: number | null = null
  let count = 0
  let left = bytes
  // The count of matches needs all entries, including those outside the page.
  for (const entry of journal.newestFirst(scope, matches === undefined ? before : undefined)) {
    if (matches?.(entry) === false) continue
    count++
    if (entry.ordinal >= before || next !== null) continue
    const last = page.at(-1)
    if (page.length < limit) left -= sizeOf(entry)
    if (last === undefined || (page.length < limit && left >= 0)) page.push(entry)
    else if (matches === undefined) return { page: page.reverse(), next: last.ordinal, count: journal.size(scope) }
    else next = last.ordinal
  }
  return { page: page.reverse(), next, count: matches === undefined ? journal.size(scope) : count }
}

/** The expected and the actual number, in one or two sentences. `highest` may be infinite. */
function sayWhy(
  { passed, matched, near_misses }: Omit<VerificationReport, 'message'>,
  lowest: number,
  highest: number,
): string {
  const came = matched === 0 ? 'No request matches' : matched === 1 ? '1 request matches' : `${matched} requests match`
  if (passed) return `${came}, as expected.`
  const [nearest] = near_misses
  const differences = nearest?.differences.map(
    ({ field, expected, received }) => `${field} is ${show(received)}, not ${show(expected)}`,
  )
  const why =
    differences && ` The nearest is ${nearest?.method} ${nearest?.path}: its ${differences.join(', and its ')}.`
  return `${came}, but ${sayRange(lowest, highest)} expected.${why ?? ''}`
}

/** Why the service has not looked at the nearest request. */
function sayForeign(nearest: Compared | undefined): string {
  const host = nearest && foreignHostOf(nearest.entry)
  if (host === undefined) return ''
  return ` It was refused because its Host, ${show(host)}, is no name of this server.`
}

/** What was not read, or was not kept as a whole, decides nothing. */
function sayUncertain(count: number): string {
  if (count === 0) return ''
  const which = count === 1 ? '1 more request may match: its body' : `${count} more requests may match: their bodies`
  return ` ${which} ${count === 1 ? 'was' : 'were'} not read, or not kept as a whole, so nobody can tell.`
}

function sayRange(lowest: number, highest: number): string {
  if (highest === Number.POSITIVE_INFINITY) return `at least ${lowest} ${lowest === 1 ? 'was' : 'were'}`
  if (lowest === highest) return `exactly ${lowest} ${lowest === 1 ? 'was' : 'were'}`
  if (lowest === 0) return `at most ${highest} ${highest === 1 ? 'was' : 'were'}`
  return `${lowest} to ${highest} were`
}

function reportMiss(
  { requestId, method, path }: Entry,
  differences: Difference[],
): VerificationReport['near_misses'][number] {
  return { request_id: requestId, method, path, differences }
}
