import { describe, expect, it } from 'vitest'
import { compareOverviews } from '../../src/dashboard/overview/comparison.ts'
import type { Overview } from '../../src/dashboard/responses.ts'

function overviewOf(date: string, failing: Readonly<Record<string, number>>, more: Partial<Overview> = {}): Overview {
  return {
    ...{ now: `${date}T09:00:00Z`, refreshed_at: `${date}T00:00:00Z`, next_refresh_at: null, period_days: 30 },
    ...{ messages: 100, passing: 90, share: 90, domains: 3, testing: 0, days: [], days_omitted: 0 },
    policies: { reject: 1, quarantine: 1, none: 1, missing: 0 },
    attention: Object.entries(failing).map(([domain, messages]) => {
      return { domain, messages, severity: 'high', reason: 'It fails.', since: null }
    }),
    attention_count: Object.keys(failing).length,
    ...more,
  }
}

describe('the comparison of two refreshes', () => {
  it('has both dates, and each figure before and after', () => {
    const before = overviewOf('2026-01-15', {})
    const after = overviewOf('2026-01-20', {}, { messages: 120, share: null })
    expect(compareOverviews(before, after)).toEqual({
      dates: ['2026-01-15', '2026-01-20'],
      messages: [100, 120],
      share: [90, null],
      policies: [],
      joined: [],
      left: [],
      attention: [0, 0],
      changed: [],
    })
  })

  it('names the policies whose number has changed, from the strictest to none', () => {
    const after = overviewOf('2026-01-20', {}, { policies: { reject: 2, quarantine: 1, none: 0, missing: 0 } })
    expect(compareOverviews(overviewOf('2026-01-15', {}), after).policies).toEqual([
      { policy: 'reject', domains: [1, 2] },
      { policy: 'none', domains: [1, 0] },
    ])
  })

  it('names who came and who left, and of the others whose messages changed, the largest change first', () => {
    const before = overviewOf('2026-01-15', { 'a.example': 10, 'b.example': 5, 'c.example': 7, 'd.example': 1 })
    const after = overviewOf('2026-01-20', { 'b.example': 6, 'a.example': 2, 'c.example': 7, 'e.example': 9 })
    expect(compareOverviews(before, after)).toMatchObject({
      joined: ['e.example'],
      left: ['d.example'],
      attention: [4, 4],
      changed: [
        { domain: 'a.example', messages: [10, 2] },
        { domain: 'b.example', messages: [5, 6] },
      ],
    })
  })

  it('names five changes at most', () => {
    const of = (messages: number) =>
      Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`d${index}`, messages]))
    expect(compareOverviews(overviewOf('2026-01-15', of(1)), overviewOf('2026-01-16', of(2))).changed).toHaveLength(5)
  })
})
