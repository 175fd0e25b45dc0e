import { expect } from 'vitest'
import type { Pin } from './account.ts'
import type { ExpectedRecord } from './expected.ts'

/** One answer of GET /dmarc and what was expected of it. */
export interface Reading {
  day: number
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

/** What was read before, by what it may depend on. */
export type Memory = Map<string, string>

/** What the figures are is the service's to choose; but they must make sense, and stay for the day. */
export function holdReading(
  reading: Reading,
  last: Reading | undefined,
  memory: Memory,
  reach: (situation: string) => void,
): void {
  const { day, expected, data, text } = reading
  expect(data.map(({ domain }) => domain)).toEqual(expected.map(({ domain }) => domain))
  expect(text.match(/"(?:dmarc|dkim|spf)":\d+\.\d[,}]/g) ?? []).toHaveLength(3 * data.length)

  for (const [index, record] of data.entries()) {
    const wanted = expected[index]
    if (wanted === undefined) continue
    holdRecord(record, wanted, day, memory)
    reach(wanted.reported ? 'a record with figures' : 'the empty record of a new domain')
    if (wanted.pin !== undefined) reach('a record with fixed fields')
    // Figures may be of no mail at all, so one record alone does not show whether they came too late.
    if (wanted.justInTime && record.count > 0) reach('figures of a domain that was processed just in time')

    const { domain, addedAt } = wanted
    const place = last?.expected.findIndex((other) => other.domain === domain && other.addedAt === addedAt) ?? -1
    const before = last?.expected[place]
    if (last?.day === day || before?.pin !== wanted.pin) continue
    const changed = JSON.stringify(record) !== JSON.stringify(last?.data[place])
    if (changed && before?.reported === true) reach('figures that changed from one day to another')
  }
}

/** Holds a domain's record to what it must be, and to what it was the last time that it could be no other. */
export function holdRecord(
  record: DmarcRecord,
  { domain, addedAt, seed, pin = {}, nature, above, reported }: ExpectedRecord,
  day: number,
  memory: Memory,
): void {
  expectSense(record)
  const isEmpty = !reported && Object.keys(pin).length === 0
  if (isEmpty) expect(record).toEqual(emptyRecord(record.domain))
  expect(record).toMatchObject(inheriting(pin))
  const place = JSON.stringify([seed, domain, addedAt, pin, nature, above, day])
  const text = JSON.stringify(record)
  expect(memory.get(place) ?? text, `The record of ${place}`).toBe(text)
  memory.set(place, text)
}

/** The fixed fields, and the policies that follow from a fixed one. */
function inheriting(fields: Pin): object {
  const { p, sp = p } = fields
  const { np = sp } = fields
  return { ...fields, ...(sp !== undefined && { sp }), ...(np !== undefined && { np }) }
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
