import { describe, expect, it } from 'vitest'
import type { Assignment } from '../../src/choices/observation.ts'
import { FigureTrack } from '../../src/conformance/figures.ts'
import { writeDate } from '../../src/http/date.ts'
import type { JudgedDifference } from '../../src/judge/finding.ts'
import { readingOf, success } from '../exchanges/made-exchange.ts'
import { permitted } from '../support/permitted.ts'

const MIDNIGHT = Date.parse('2026-01-15T00:00:00Z')

/** One read of the records: hours after midnight by the clock of the service, and the volume of one domain or of several. */
type Read = readonly [hours: number, counts: number | Readonly<Record<string, number>>]

const A = 'a.example'
const B = 'b.example'

function follow(reads: readonly Read[]): { findings: JudgedDifference[]; allows: (readonly Assignment[])[] } {
  const track = new FigureTrack(permitted)
  const findings: JudgedDifference[] = []
  const allows: (readonly Assignment[])[] = []
  for (const [hours, counts] of reads) {
    const data = Object.entries(typeof counts === 'number' ? { [A]: counts } : counts).map(([domain, count]) => {
      const figures = { dmarc: count === 0 ? 0 : 99.5, dkim: 0, spf: 0, count }
      return { domain, p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', ...figures }
    })
    const headers = { Date: writeDate(MIDNIGHT + hours * 3_600_000) }
    // The recorder's clock says something else, which must not matter.
    const reading = readingOf({ path: '/dmarc', headers, at: 1_000, body: success(data) })
    const remarks = track.take(reading)
    findings.push(...remarks.findings)
    allows.push(...remarks.observations.map((each) => each.allows))
  }
  return { findings, allows }
}

describe('the figures of a service', () => {
  it('break the rule when those of a domain change three times within a day', () => {
    const { findings } = follow([
      [9, { [A]: 10, [B]: 5 }],
      [10, { [A]: 11, [B]: 5 }],
      [11, { [A]: 12, [B]: 5 }],
      [12, { [A]: 13, [B]: 5 }],
    ])
    expect(findings).toMatchObject([
      {
        id: 'broken-rule/listDmarc/200/daily-refresh',
        label: 'broken rule',
        rule: 'daily-refresh',
        pointer: '/paths/~1dmarc/get/x-rule/daily-refresh',
        message: expect.stringContaining(A),
      },
    ])
    expect(findings[0]?.line).toBeGreaterThan(1)
  })

  it.each<[title: string, ...reads: Read[]]>([
    ['change once a day', [1, 10], [25, 11], [49, 12], [73, 13], [97, 14]],
    ['stay, each with its own change', [9, { [A]: 1, [B]: 1 }], [10, { [A]: 2, [B]: 1 }], [11, { [A]: 2, [B]: 2 }]],
    [
      'begin again because another client removes and adds the domain',
      ...[5, 0, 7, 0, 9, 0].map((count, index): Read => [9 + index, count]),
    ],
    ['are read while the clock is set back', [9, 1], [10, 2], [8, 3], [9, 4]],
  ])('may %s', (_, ...reads) => {
    expect(follow(reads).findings).toEqual([])
  })

  it.each<[numbers: number[], from: Read, to: Read]>([
    [[0], [23, 1], [25, 2]],
    [
      [0, 2],
      [21.5, 1],
      [24.2, 2],
    ],
  ])(
    'tell that the time of the refresh is one of %j between two reads that hold it and no other: %j, %j',
    (numbers, ...reads) => {
      expect(follow(reads).allows).toEqual([numbers.map((number) => ({ 'refresh-time': number }))])
    },
  )

  it.each<[where: string, from: Read, to: Read]>([
    ['the reads are far apart', [10, 1], [28.5, 2]],
    ['they are at another time', [10, 1], [11, 2]],
  ])('do not tell it where %s', (_, ...reads) => {
    expect(follow(reads).allows).toEqual([])
  })
})
