import type { Fields } from '../parts.ts'
import { broken, successes } from './deviation.ts'

const records = (change: (records: Fields[]) => unknown) => successes('GET /dmarc', change)

/** What can be wrong with the check of the key, and with the DMARC records. */
export const KEYS_AND_RECORDS = {
  'A request without a key is answered.': broken('key-required', (right) => ({
    keyOf: (sent, keys) => right.keyOf(sent, keys) ?? (sent === undefined ? [...keys][0] : undefined),
  })),
  'A key that does not exist is accepted.': broken('key-required', (right) => ({
    keyOf: (sent, keys) => right.keyOf(sent, keys) ?? (sent?.startsWith('Bearer ') === true ? [...keys][0] : undefined),
  })),
  'The key is accepted with the scheme Token.': broken('key-required', (right) => ({
    keyOf: (sent, keys) => right.keyOf(sent?.replace(/^Token /, 'Bearer '), keys),
  })),
  'The key is accepted without a scheme.': broken('key-required', (right) => ({
    keyOf: (sent, keys) => right.keyOf(sent, keys) ?? right.keyOf(`Bearer ${sent}`, keys),
  })),
  'A domain has no record.': broken(
    'one-record-per-domain',
    records((all) => all.slice(1)),
  ),
  'A domain has two records.': broken(
    'one-record-per-domain',
    records((all) => [...all, ...all.slice(0, 1)]),
  ),
  'There is a record of a domain that is not monitored.': broken(
    'one-record-per-domain',
    records((all) => [...all, { ...all[0], domain: 'foreign.example' }]),
  ),
  'The figures change at each read.': broken('daily-refresh', (right) => {
    let reads = 0
    return { recordOf: (...given) => ({ ...right.recordOf(...given), count: ++reads }) }
  }),
}
