import { stateWriterOf } from '../accounts/export.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { DataOf, QueryOf } from '../contract/control-plane.ts'
import { explainEntry } from '../explain/explanation.ts'
import { explainElsewhere } from '../explain/foreign-service.ts'
import { pageAddress } from '../explain/page-address.ts'
import { describeEntry, type RequestReport } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Scope } from '../journal/journal.ts'
import { countConditions, matcherOf, type RequestMatch } from '../journal/match.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import { findWords, SEARCHED_WORDS, wordsIn } from '../journal/search.ts'
import { readdress } from './address.ts'
import { type AccountHandler, type ControlContext, type ControlOutcome, done, type Handler } from './handler.ts'
import { Page, readLimit } from './paging.ts'
import { recallPast } from './past.ts'
import { invalid, notFound } from './refusals.ts'
import { checkRequestMatch, knownOf } from './request-match-check.ts'

export const listAllRequests: Handler<'listAllRequests'> = async (call) => {
  const { account, ...query } = call.query
  return listEntries({ ...call, query }, account === 'none' ? null : undefined, { injected: [] })
}

export const listRequests: AccountHandler<'listRequests'> = (call) =>
  listEntries(call, call.account.id, knownOf(call.account))

export const clearRequests: AccountHandler<'clearRequests'> = async ({ account, exchanges }) => {
  await exchanges.clearRequests(account.id)
  return done()
}

export const explainRequest: Handler<'explainRequest'> = async (call) => {
  const { worlds, exchanges, store, contract, parameters } = call
  const id = parameters['request-id']
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
  return done(call.observed === undefined ? explained : explainElsewhere(explained))
}

/** Explains a violation that the verdict keeps although the journal has dropped it. */
async function explainExample(
  { exchanges, urls, ownUrls }: ControlContext,
  id: string,
): Promise<ControlOutcome<DataOf<'explainRequest'>>> {
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

/** Answers with a page of the requests in a scope: the newest, of which the oldest is first. */
async function listEntries(
  call: ControlContext & { query: Readonly<QueryOf<'listRequests'>> },
  scope: Scope,
  known: Partial<ReturnType<typeof knownOf>> & { injected: readonly number[] },
): Promise<ControlOutcome<DataOf<'listRequests'>>> {
  const { contract, exchanges } = call
  const { journal } = exchanges
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const words = wordsIn(call.query.search ?? '')
  if (words.length > SEARCHED_WORDS)
    return invalid('search', call.query.search, 'words', { limit: SEARCHED_WORDS, count: words.length })
  await exchanges.caughtUp()
  const wanted = matchOf(call.query)
  const entries = () => journal.newestFirst(scope)
  const refusal = checkRequestMatch(wanted, { contract, entries, ...known, place: '' })
  if (refusal) return refusal
  const tests = [
    ...(countConditions(wanted) === 0 ? [] : [matcherOf(wanted, contract)]),
    ...(words.length === 0 ? [] : [findWords(words)]),
  ]
  const before = Number(call.query.before ?? Number.POSITIVE_INFINITY)
  const page = new Page<Entry, RequestReport>(limit, call.limits, (entry) => describeEntry(entry, contract.catalogue))
  let count = tests.length === 0 ? journal.size(scope) : 0
  // The number of matches needs all entries, including those outside the page.
  for (const entry of journal.newestFirst(scope, tests.length === 0 ? before : undefined)) {
    if (!tests.every((test) => test(entry))) continue
    if (tests.length > 0) count++
    if (entry.ordinal < before) page.add(entry)
    if (page.isFull && tests.length === 0) break
  }
  const next = page.isFull ? (page.items.at(-1)?.ordinal ?? null) : null
  return page.answer('requests', { count, next }, true)
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
