import { expect } from 'vitest'
import type { ExpectedRecord } from './expected.ts'

/** One answer of GET /dmarc and what was expected of it. */
export interface Reading {
  day: number
  /** Of the account's domains. */
  version: number
  expected: readonly ExpectedRecord[]
  data: readonly DmarcRecord[]
  text: string
}

interface DmarcRecord {
  domain: string
  dmarc: number
  dkim: number
  spf: number
  count: number
}

/** What the figures are is the service's to choose; but they must make sense, and stay for the day. */
export function holdReading(reading: Reading, last: Reading | undefined, reach: (situation: string) => void): void {
  const { expected, data, text } = reading
  expect(data.map(({ domain }) => domain)).toEqual(expected.map(({ domain }) => domain))
  expect(text.match(/"(?:dmarc|dkim|spf)":\d+\.\d[,}]/g) ?? []).toHaveLength(3 * data.length)
  const sameDay = last?.day === reading.day
  if (sameDay && last.version === reading.version) expect(text).toBe(last.text)

  for (const [index, record] of data.entries()) {
    const { domain, addedAt, reported, justInTime = false } = expected[index] ?? {}
    expectSense(record)
    if (reported === false) expect(record).toEqual(emptyRecord(record.domain))
    reach(reported === true ? 'a record with figures' : 'the empty record of a new domain')
    // Figures may be of no mail at all, so one record alone does not show whether they came too late.
    if (justInTime && record.count > 0) reach('figures of a domain that was processed just in time')

    const place = last?.expected.findIndex((other) => other.domain === domain && other.addedAt === addedAt) ?? -1
    const before = last?.data[place]
    if (before === undefined) continue
    if (sameDay) expect(record).toEqual(before)
    const changed = JSON.stringify(record) !== JSON.stringify(before)
    if (changed && last?.expected[place]?.reported === true) reach('figures that changed from one day to another')
  }
}

/** A message passes DMARC when DKIM or SPF is aligned. */
function expectSense({ domain, dmarc, dkim, spf, count }: DmarcRecord): void {
  const isWithin = Math.max(dkim, spf) <= dmarc && dmarc <= Math.min(100, dkim + spf + 1e-9)
  const makesSense = isWithin && (count > 0 || dmarc === 0)
  expect(makesSense, `${domain}: dmarc ${dmarc}, dkim ${dkim}, spf ${spf}, count ${count}`).toBe(true)
}

function emptyRecord(domain: string): object {
  return { domain, p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', dmarc: 0, dkim: 0, spf: 0, count: 0 }
}
