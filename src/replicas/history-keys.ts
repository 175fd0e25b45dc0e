import { encodeId } from '../store/redis/keys.ts'

/** The keys of what all replicas have seen. One hash tag keeps them on one node of a cluster. */
export interface HistoryKeys {
  exchanges: string
  history: string
  verdict: string
  examples: string
  verdictBefore: string
  examplesBefore: string
  present: string
  totals: string
  /** What the requests of an account have shown, or those of nobody. */
  coverageOf(accountId: string | undefined): string
  accounts: string
  /** The incarnation of each account that has left something behind. */
  histories: string
  /** The keys that `record.lua` names, without those of accounts. */
  record: readonly string[]
}

export function historyKeys(prefix: string, replica: string): HistoryKeys {
  const named = (name: string) => `${prefix}:{all}:${name}`
  const keys = {
    exchanges: named('exchanges'),
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
