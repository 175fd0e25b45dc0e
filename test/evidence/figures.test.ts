import { beforeAll, describe, expect, it } from 'vitest'
import { FigureTrack } from '../../src/evidence/figures.ts'
import type { Finding } from '../../src/evidence/finding.ts'
import type { Assignment } from '../../src/evidence/observation.ts'
import { createReader } from '../../src/evidence/reading.ts'
import { writeDate } from '../../src/http/date.ts'
import { type Documented, readPermitted } from '../support/permitted.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'
import { exchangeOf, success } from './made-exchange.ts'
import { judge, leftOf, openRecorded, wrongOnes } from './recorded-service.ts'

let documented: Documented

beforeAll(async () => {
  documented = await readPermitted()
}, 60_000)

const MIDNIGHT = Date.parse('2026-01-15T00:00:00Z')

/** One read of the records: hours after midnight by the clock of the service, and the volume by domain. */
type Read = readonly [hours: number, counts: Readonly<Record<string, number>>]

function follow(reads: readonly Read[]): { findings: Finding[]; allows: (readonly Assignment[])[] } {
  const { permitted } = documented
  const track = new FigureTrack(permitted)
  const read = createReader(permitted.contract)
  const findings: Finding[] = []
  const allows: (readonly Assignment[])[] = []
  for (const [hours, counts] of reads) {
    const data = Object.entries(counts).map(([domain, count]) => {
      const figures = { dmarc: count === 0 ? 0 : 99.5, dkim: 0, spf: 0, count }
      return { domain, p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', ...figures }
    })
    const headers = { Date: writeDate(MIDNIGHT + hours * 3_600_000) }
    // The recorder's clock says something else, which must not matter.
    const reading = read(exchangeOf({ path: '/dmarc', headers, at: 1_000, body: success(data) }))
    if (reading === undefined) throw new Error('It has no response.')
    const remarks = track.take(reading)
    findings.push(...remarks.findings)
    allows.push(...remarks.observations.map((each) => each.allows))
  }
  return { findings, allows }
}

const A = 'a.example'
const B = 'b.example'

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

  it.each<[title: string, reads: readonly Read[]]>([
    ['change once a day', [0, 1, 2, 3, 4].map((day): Read => [day * 24 + 1, { [A]: 10 + day }])],
    [
      'change twice, as after an addition',
      [
        [9, { [A]: 1 }],
        [10, { [A]: 2 }],
        [11, { [A]: 3 }],
        [12, { [A]: 3 }],
      ],
    ],
    [
      'stay, each with its own change',
      [
        [9, { [A]: 1, [B]: 1 }],
        [10, { [A]: 2, [B]: 1 }],
        [11, { [A]: 2, [B]: 2 }],
      ],
    ],
    [
      'begin again because another client removes and adds the domain',
      [9, 10, 11, 12, 13, 14].map((hour, index): Read => [hour, { [A]: index % 2 === 0 ? 5 + index : 0 }]),
    ],
    [
      'belong to other domains each time',
      [
        [9, { [A]: 1 }],
        [10, { [A]: 2, [B]: 1 }],
        [11, { [A]: 3 }],
        [12, { [A]: 4, [B]: 1 }],
      ],
    ],
    [
      'are read while the clock is set back',
      [
        [9, { [A]: 1 }],
        [10, { [A]: 2 }],
        [8, { [A]: 3 }],
        [9, { [A]: 4 }],
      ],
    ],
  ])('may %s', (_, reads) => {
    expect(follow(reads).findings).toEqual([])
  })

  it('tell the time of the refresh where two reads hold one of the times and no other', () => {
    expect(
      follow([
        [23, { [A]: 1 }],
        [25, { [A]: 2 }],
      ]).allows,
    ).toEqual([[{ 'refresh-time': 0 }]])
    expect(
      follow([
        [3.5, { [A]: 1 }],
        [4.5, { [A]: 2 }],
      ]).allows,
    ).toEqual([[{ 'refresh-time': 1 }]])
    expect(
      follow([
        [21, { [A]: 1 }],
        [23, { [A]: 2 }],
      ]).allows,
    ).toEqual([[{ 'refresh-time': 2 }]])
    expect(
      follow([
        [21.5, { [A]: 1 }],
        [24.2, { [A]: 2 }],
      ]).allows,
    ).toEqual([[{ 'refresh-time': 0 }, { 'refresh-time': 2 }]])
  })

  it('do not tell it where the reads are far apart, at another time, or before there are figures', () => {
    expect(
      follow([
        [10, { [A]: 1 }],
        [28.5, { [A]: 2 }],
      ]).allows,
    ).toEqual([])
    expect(
      follow([
        [10, { [A]: 1 }],
        [11, { [A]: 2 }],
      ]).allows,
    ).toEqual([])
    expect(
      follow([
        [23, { [A]: 0 }],
        [25, { [A]: 2 }],
      ]).allows,
    ).toEqual([])
  })

  it.each([0, 1, 2])('tell it over HTTP (alternative %d), while another client adds and removes', async (number) => {
    const { choices, permitted } = documented
    const truth = { 'refresh-time': number }
    const alternative = choices.alternatives.filter((each) => each.id === 'refresh-time' && each.number === number)
    const service = await openRecorded(await choices.compile(alternative), choices.contract, { fixture: 'demo' })
    const other = await openOther(service)
    for (let hour = 0; hour < 30; hour++) {
      await service.get('/dmarc')
      if (hour % 7 === 3) await other(hour)
      service.advance(60 * 60_000)
    }
    await service.stop()
    const judgement = judge(service.recorded, permitted)
    expect(judgement.findings).toEqual([])
    expect(wrongOnes(judgement, truth)).toEqual([])
    expect(leftOf('refresh-time', judgement, truth, permitted)).toEqual([number])
  })
})

/** What removes one of the domains and adds it again, which nobody records. */
async function openOther({ baseUrl }: { baseUrl: string }): Promise<(hour: number) => Promise<void>> {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const { domains } = (await sendRequest('GET', `${baseUrl}/domains`, undefined, headers)).body.data
  return async (hour) => {
    const body = { domains: [domains[hour % domains.length]] }
    await sendRequest('DELETE', `${baseUrl}/domains`, body, headers)
    await sendRequest('POST', `${baseUrl}/domains`, body, headers)
  }
}
