import type { Fields } from '../parts.ts'
import { broken, type Deviation, leftOpen, successes, violation } from './deviation.ts'

const firstRecord = (change: (record: Fields) => Fields) =>
  successes(
    ([record, ...records]: Fields[]) => (record === undefined ? [] : [change(record), ...records]),
    'GET /dmarc',
  )

/** What can be wrong with the DMARC records. */
export const RECORDS: readonly Deviation[] = [
  {
    id: 'record-missing',
    says: 'A domain has no record.',
    ...broken('one-record-per-domain', 'reads'),
    change: successes((records: Fields[]) => records.slice(1), 'GET /dmarc'),
  },
  {
    id: 'record-doubled',
    says: 'A domain has two records.',
    ...broken('one-record-per-domain', 'read'),
    change: successes((records: Fields[]) => [...records, ...records.slice(0, 1)], 'GET /dmarc'),
  },
  {
    id: 'foreign-record',
    says: 'There is a record of a domain that is not monitored.',
    ...broken('one-record-per-domain', 'reads'),
    change: successes((records: Fields[]) => [...records, { ...records[0], domain: 'foreign.example' }], 'GET /dmarc'),
  },
  {
    id: 'restless-figures',
    says: 'The figures change at each read.',
    ...broken('daily-refresh', 'reads'),
    change: (parts) => {
      let reads = 0
      const right = parts.recordOf.bind(parts)
      parts.recordOf = (...given) => ({ ...right(...given), count: ++reads })
    },
  },
  {
    id: 'count-in-record-as-text',
    says: 'count of a record is text.',
    ...violation('/count', 'read'),
    change: firstRecord((record) => ({ ...record, count: `${record['count']}` })),
  },
  {
    id: 'percentage-as-text',
    says: 'dmarc of a record is "97.5%".',
    ...violation('/Percentage', 'read'),
    change: firstRecord((record) => ({ ...record, dmarc: `${record['dmarc']}%` })),
  },
  {
    id: 'percentage-over-100',
    says: 'A percentage is 101.',
    ...violation('', 'read'),
    change: firstRecord((record) => ({ ...record, dkim: 101.5 })),
  },
  {
    id: 'fraction-for-percentage',
    says: 'A count has a fraction.',
    ...violation('/count', 'read'),
    change: firstRecord((record) => ({ ...record, count: 1.5 })),
  },
  {
    id: 'null-in-record',
    says: 'testing of a record is null.',
    ...violation('/TestMode', 'read'),
    change: firstRecord((record) => ({ ...record, testing: null })),
  },
  {
    id: 'no-pct',
    says: 'A record has no pct.',
    ...violation('/schemas/', 'read'),
    change: firstRecord(({ pct: _, ...record }) => record),
  },
  {
    id: 'more-in-record',
    says: 'A record has a field that is not described.',
    ...violation('/schemas/', 'read'),
    change: firstRecord((record) => ({ ...record, last_report: '2026-01-14' })),
  },
  {
    id: 'foreign-policy',
    says: 'p of a record is "monitor".',
    ...leftOpen('/Policy/enum', 'read'),
    change: firstRecord((record) => ({ ...record, p: 'monitor' })),
  },
  {
    id: 'records-in-object',
    says: 'data of GET /dmarc is an object.',
    ...violation('', 'read'),
    change: successes((records: Fields[]) => ({ records }), 'GET /dmarc'),
  },
]
