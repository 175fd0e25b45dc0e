import type { Contract } from '../contract/contract.ts'
import type { VerificationReport } from '../contract/control-plane.ts'
import { foreignHostOf } from '../explain/summary.ts'
import { show } from '../ground/show.ts'
import type { Entry } from '../journal/entry.ts'
import { countConditions, type Difference, differencesOf, mayMatch, type RequestMatch } from '../journal/match.ts'
import { done, type Handlers } from './handler.ts'
import { checkRequestMatch } from './request-match-check.ts'

const NEAR_MISSES = 3

export const verificationHandlers = {
  async verifyRequests(call) {
    const { account, exchanges, contract } = call
    const { count, at_least, at_most } = call.body
    const match = call.body.match as RequestMatch
    await exchanges.caughtUp()
    const entries = () => exchanges.journal.newestFirst(account.id)
    const refusal = checkRequestMatch(match, { contract, entries, account, place: '/match/' })
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
      near_misses: misses.map(({ entry: { requestId, method, path }, differences }) => {
        return { request_id: requestId, method, path, differences }
      }),
    }
    const isDecided = matched > highest || (matched >= lowest && matched + uncertain <= highest)
    const message = sayWhy(outcome, lowest, highest) + sayForeign(misses[0]) + sayUncertain(isDecided ? 0 : uncertain)
    return done({ ...outcome, message })
  },
} satisfies Handlers

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
  const verb = (count: number) => (count === 1 ? 'was' : 'were')
  if (highest === Number.POSITIVE_INFINITY) return `at least ${lowest} ${verb(lowest)}`
  const range = lowest === highest ? 'exactly' : lowest === 0 ? 'at most' : `${lowest} to`
  return `${range} ${highest} ${verb(highest)}`
}
