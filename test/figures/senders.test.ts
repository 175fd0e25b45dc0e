import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import { describeDomain, type MessageCounts } from '../../src/domain/dmarc.ts'
import { reportsOn } from '../../src/figures/figures.ts'
import { type SenderName, sendersOf } from '../../src/figures/senders.ts'
import { accountOf, anyDomain, DAY, domain, RULES, recordIn, TODAY } from './monitoring.ts'

function sumOf(all: readonly { counts: MessageCounts }[]): MessageCounts {
  const sum = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }
  for (const { counts } of all) for (const key of Object.keys(sum) as (keyof MessageCounts)[]) sum[key] += counts[key]
  return sum
}

/** Who sent mail in the name of a domain, with the number of messages that pass and that fail. */
function sendersIn(each: MonitoredDomain): Partial<Record<SenderName, [passing: number, failing: number]>> {
  const senders = sendersOf(accountOf([each]), each, TODAY, RULES)
  return Object.fromEntries(
    senders.map(({ sender, counts: { both, dkimOnly, spfOnly, neither } }) => [
      sender,
      [both + dkimOnly + spfOnly, neither],
    ]),
  )
}

describe('the senders of a domain', () => {
  it('add up to its record in GET /dmarc: its count and all of its shares (seed 6)', () => {
    fc.assert(
      fc.property(anyDomain, fc.nat(90), (each, ahead) => {
        const account = accountOf([each])
        const record = recordIn(account, each.name, TODAY + ahead, RULES)
        const senders = sendersOf(account, each, TODAY + ahead, RULES)
        const { count, dmarc, dkim, spf } = describeDomain(each.name, undefined, sumOf(senders), RULES)
        expect({ count, dmarc, dkim, spf }).toEqual({
          count: record.count,
          dmarc: record.dmarc,
          dkim: record.dkim,
          spf: record.spf,
        })
        for (const { counts } of senders) {
          expect(Object.values(counts).every((part) => Number.isSafeInteger(part) && part >= 0)).toBe(true)
          expect(Object.values(counts).some((part) => part > 0)).toBe(true)
        }
      }),
      { seed: 6, numRuns: 40 },
    )
  })

  const long = { since: TODAY + 400, volume: 100_000 } as const

  it.each<[profile: MonitoredDomain['profile'], since: number, most: SenderName]>([
    ['broken-spf', TODAY + 400, 'missing-in-spf'],
    ['forwarding-heavy', TODAY + 400, 'mailing-lists'],
    ['spoofed', TODAY - 7, 'forgers'],
  ])('of the profile %s that fail most are those of its story', (profile, since, most) => {
    const senders = sendersIn(domain('shop.example', { ...long, ...(profile && { profile }), since }))
    const [worst] = Object.entries(senders).toSorted(([, [, one]], [, [, other]]) => other - one)
    expect(worst?.[0]).toBe(most)
  })
})

it.each([
  [{ profile: 'enforced' }, 'received'],
  [{ profile: 'parked' }, 'received'],
  [{ profile: 'no-record' }, 'none'],
  [{ profile: 'no-record', pin: { count: 7 } }, 'fixed'],
  [{ profile: 'enforced', addedAt: TODAY * DAY }, 'awaited'],
  [{ profile: 'enforced', pin: { dmarc: 9 }, pinnedAt: TODAY * DAY }, 'fixed'],
] as const)('the reports about a domain with %o are %s', (more, expected) => {
  const each = domain('a.example', more)
  expect(reportsOn(accountOf([each]), each, TODAY, RULES)).toBe(expected)
})
