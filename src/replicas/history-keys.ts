import { encodeId } from '../store/redis/keys.ts'

/** The keys for the exchanges of all replicas. One hash tag keeps them on one node of a cluster. */
export interface HistoryKeys {
  exchanges: string
  /** Questions between replicas, see `Roundup`. */
  questions: string
  history: string
  verdict: string
  examples: string
  verdictBefore: string
  examplesBefore: string
  present: string
  totals: string
  /** The coverage of an account's requests, or of requests without an account. */
  coverageOf(accountId: string | undefined): string
  accounts: string
  /** The incarnation of each account with a history. */
  histories: string
  /** The keys in the order of `record.lua`, without those of accounts. */
  record: readonly string[]
}

export function historyKeys(prefix: string, replica: string): HistoryKeys {
  const named = (name: string) => `${prefix}:{all}:${name}`
  const keys = {
    exchanges: named('exchanges'),
    questions: named('questions'),
    history: named('history'),
    verdict: named('verdict'),
    examples: named('examples'),
    verdictBefore: named('verdict:before'),
    examplesBefore: named('examples:before'),
    present: named('coverage:present'),
    totals: named('coverage:totals'),
    accounts: named('accounts'),
    histories: named('histories'),
  }
  const record = [
    ...[keys.exchanges, keys.history, named('rings'), named('weights'), named('dropped'), keys.histories],
    ...[keys.accounts, keys.verdict, keys.examples, keys.verdictBefore, keys.examplesBefore, keys.present, keys.totals],
    named(`batch:${replica}`),
  ]
  const coverageOf = (accountId: string | undefined) =>
    named(`coverage:of:${accountId === undefined ? '' : encodeId(accountId)}`)
  return { ...keys, coverageOf, record }
}
