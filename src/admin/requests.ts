import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { explainEntry } from '../explain/explanation.ts'
import { show } from '../ground/show.ts'
import { describeEntry } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { countConditions, type Difference, differencesOf, type RequestMatch } from '../journal/match.ts'
import { redactWithin } from '../journal/redaction.ts'
import { type AccountHandler, type ControlCall, type ControlOutcome, done, type Handler } from './handler.ts'
import { notFound } from './refusals.ts'
import type { VerificationReport } from './reports.ts'
import { checkRequestMatch } from './request-match-check.ts'

/** How many requests that nearly matched are listed. */
const NEAR_MISSES = 3

export const listAllRequests: Handler = (call) => select(call, call.worlds.journal.list())

export const listRequests: AccountHandler = (call) =>
  select(call, call.worlds.journal.list(call.account.id), call.account)

export const clearRequests: AccountHandler = ({ account, worlds }) => {
  worlds.journal.clear(account.id)
  return done()
}

export const verifyRequests: AccountHandler = ({ account, worlds, contract, body }) => {
  const { match, count, at_least, at_most } = body as {
    match: RequestMatch
    count?: number
    at_least?: number
    at_most?: number
  }
  const entries = worlds.journal.list(account.id)
  const refusal = checkRequestMatch(match, {
    contract,
    entries,
    ...knownOf(account),
    fieldOf: (name) => `/match/${name}`,
  })
  if (refusal) return refusal
  const compared = entries.map((entry) => ({ entry, differences: differencesOf(entry, match, contract.basePath) }))
  const matched = compared.filter(({ differences }) => differences.length === 0).length
  const lowest = count ?? at_least ?? (at_most === undefined ? 1 : 0)
  const highest = count ?? at_most ?? Number.POSITIVE_INFINITY
  const passed = matched >= lowest && matched <= highest
  const conditions = countConditions(match)
  const nearest = compared
    // A request that meets none of several conditions is no near miss. With one condition, any request may be meant.
    .filter(({ differences }) => differences.length > 0 && (conditions === 1 || differences.length < conditions))
    .sort((one, other) => one.differences.length - other.differences.length || other.entry.ordinal - one.entry.ordinal)
  const misses = passed || matched > highest ? [] : nearest.slice(0, NEAR_MISSES)
  const outcome = {
    passed,
    matched,
    near_misses: misses.map(({ entry, differences }) => reportMiss(entry, differences, worlds.journal)),
  }
  const report: VerificationReport = { ...outcome, message: sayWhy(outcome, lowest, highest) }
  return done(report)
}

export const explainRequest: Handler = async (call) => {
  const { worlds, store, contract, parameters } = call
  const id = parameters['request-id'] ?? ''
  const entry = worlds.journal.find(id.toLowerCase())
  if (entry === undefined) return explainExample(call, id)
  // If the account of the request is unknown, it is corrected for the default account.
  const accountId = entry.account ?? DEFAULT_ACCOUNT
  // The account may have been deleted while the request was processed.
  if (!(await store.has(accountId))) return explainExample(call, id)
  const account = await store.read(accountId)
  return done(explainEntry(entry, account, contract, call.urls(), worlds.journal.redactorFor(entry)))
}

/** A violation that the verdict keeps although the journal has lost it. */
async function explainExample({ verdict }: ControlCall, id: string): Promise<ControlOutcome> {
  const kept = (await verdict.examples()).findLast((example) => example?.request_id === id.toLowerCase())
  return kept === undefined ? notFound('request', id) : done(kept)
}

/** The keys of an account, and the statuses with which its fault rules answer. */
function knownOf({ keys, faults }: AccountState): { keys: string[]; injected: number[] } {
  return {
    keys: keys.map(({ id }) => id),
    injected: faults.flatMap(({ rule }) => rule.respond?.status ?? []),
  }
}

function select(
  { query, contract, worlds: { journal } }: ControlCall,
  entries: readonly Entry[],
  account?: AccountState,
): ControlOutcome {
  const { limit, status, violation, injected, ...match } = query
  const wanted: RequestMatch = {
    ...match,
    ...(status !== undefined && { status: Number(status) }),
    ...(violation !== undefined && { violation: violation === 'true' }),
    ...(injected !== undefined && { injected: injected === 'true' }),
  }
  const known = account === undefined ? { injected: [] } : knownOf(account)
  const refusal = checkRequestMatch(wanted, { contract, entries, ...known, fieldOf: (name) => name })
  if (refusal) return refusal
  const matching = entries.filter((entry) => differencesOf(entry, wanted, contract.basePath).length === 0)
  const newest = limit === undefined ? matching : matching.slice(Math.max(0, matching.length - Number(limit)))
  const requests = newest.map((entry) => describeEntry(entry, contract.catalogue, journal.redactorFor(entry)))
  return done({ requests, count: matching.length })
}

/** What was expected and what came, in one or two sentences. `highest` may be infinite. */
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

function sayRange(lowest: number, highest: number): string {
  if (highest === Number.POSITIVE_INFINITY) return `at least ${lowest} ${lowest === 1 ? 'was' : 'were'}`
  if (lowest === highest) return `exactly ${lowest} ${lowest === 1 ? 'was' : 'were'}`
  if (lowest === 0) return `at most ${highest} ${highest === 1 ? 'was' : 'were'}`
  return `${lowest} to ${highest} were`
}

function reportMiss(
  entry: Entry,
  differences: Difference[],
  journal: Journal,
): VerificationReport['near_misses'][number] {
  const { requestId, method, path } = entry
  return redactWithin({ request_id: requestId, method, path, differences }, journal.redactorFor(entry))
}
