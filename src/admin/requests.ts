import type { DataOf, QueryOf } from '../contract/control-plane.ts'
import type { AccountState } from '../domain/account.ts'
import { describeEntry } from '../journal/description.ts'
import { matcherOf, type RequestMatch } from '../journal/match.ts'
import { findWords, SEARCHED_WORDS, wordsIn } from '../journal/search.ts'
import { type ControlContext, type ControlOutcome, done, type Handlers } from './handler.ts'
import { readLimit } from './paging.ts'
import { invalid } from './refusals.ts'
import { checkRequestMatch } from './request-match-check.ts'

export const requestHandlers = {
  listRequests: (call) => listEntries(call, call.account),

  async clearRequests({ account, exchanges }) {
    await exchanges.clearRequests(account.id)
    return done()
  },

  listAllRequests(call) {
    const { account, ...query } = call.query
    return listEntries({ ...call, query }, account === 'none' ? null : undefined)
  },
} satisfies Handlers

/**
 * Answers with a page of the requests of one account, of no account (`null`), or of all (`undefined`): the newest, of
 * which the oldest is first.
 */
async function listEntries(
  call: ControlContext & { query: Readonly<QueryOf<'listRequests'>> },
  account: AccountState | null | undefined,
): Promise<ControlOutcome<DataOf<'listRequests'>>> {
  const { contract, exchanges, query } = call
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const words = wordsIn(query.search ?? '')
  if (words.length > SEARCHED_WORDS)
    return invalid('search', query.search, 'words', { limit: SEARCHED_WORDS, count: words.length })
  await exchanges.caughtUp()
  const match = matchOf(query)
  const entries = () => exchanges.journal.newestFirst(account?.id ?? (account as null | undefined))
  const refusal = checkRequestMatch(match, { contract, entries, ...(account && { account }), place: '' })
  if (refusal) return refusal
  const [matches, contains] = [matcherOf(match, contract), findWords(words)]
  const found = entries().filter((entry) => matches(entry) && contains(entry))
  const before = Number(query.before ?? Number.POSITIVE_INFINITY)
  const older = found.filter(({ ordinal }) => ordinal < before)
  const shown = older.slice(0, limit)
  const next = shown.length < older.length ? (shown.at(-1)?.ordinal ?? null) : null
  const requests = shown.reverse().map((entry) => describeEntry(entry, contract.catalogue))
  return done({ requests, count: found.length, next })
}

/** The conditions of a query, which has only texts. */
function matchOf(query: Readonly<QueryOf<'listRequests'>>): RequestMatch {
  const { limit: _, before: __, search: ___, status, violation, refused, injected, ...match } = query
  return {
    ...(match as Pick<RequestMatch, 'operation' | 'method' | 'path' | 'code' | 'fault'>),
    ...(status !== undefined && { status: Number(status) }),
    ...(violation !== undefined && { violation: violation === 'true' }),
    ...(refused !== undefined && { refused: refused === 'true' }),
    ...(injected !== undefined && { injected: injected === 'true' }),
  }
}
