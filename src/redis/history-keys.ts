import { encodeId } from './keys.ts'

export type HistoryKeys = ReturnType<typeof historyKeys>

/** The keys for the exchanges of all replicas. One hash tag keeps them on one node of a cluster. */
export function historyKeys(prefix: string, replica: string) {
  const named = (name: string) => `${prefix}:{all}:${name}`
  const keys = {
    exchanges: named('exchanges'),
    /** Questions between replicas, see `Roundup`. */
    questions: named('questions'),
    history: named('history'),
    verdict: named('verdict'),
    examples: named('examples'),
    verdictBefore: named('verdict:before'),
    examplesBefore: named('examples:before'),
    present: named('coverage:present'),
    totals: named('coverage:totals'),
    accounts: named('accounts'),
    /** The incarnation of each account with a history. */
    histories: named('histories'),
  }
  return {
    ...keys,
    /** The keys in the order of `record.lua`, without those of accounts. */
    record: [
      ...[keys.exchanges, keys.history, named('rings'), named('weights'), named('dropped'), keys.histories],
      ...[keys.accounts, keys.verdict, keys.examples, keys.verdictBefore, keys.examplesBefore, keys.present],
      ...[keys.totals, named(`batch:${replica}`)],
    ],
    /** The coverage of an account's requests, or of requests without an account. */
    coverageOf: (accountId: string | undefined) =>
      named(`coverage:of:${accountId === undefined ? '' : encodeId(accountId)}`),
  }
}
