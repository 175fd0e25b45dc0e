import { describe, expect, it } from 'vitest'
import type { DmarcRecord } from '../../src/domain/dmarc.ts'
import { describeFinding, judgeDomain, type Situation } from '../../src/figures/attention.ts'
import type { Episode, EpisodeKind } from '../../src/figures/episodes.ts'
import { TODAY } from './monitoring.ts'

const GOOD: DmarcRecord = {
  ...{ domain: 'a.example', p: 'reject', sp: 'reject', np: 'reject', pct: 100, testing: 'n' },
  ...{ dmarc: 99, dkim: 98, spf: 95, count: 10_000 },
}

function situation(record: Partial<DmarcRecord>, more: Partial<Situation> = {}): Situation {
  const whole = { ...GOOD, ...record }
  const policy = whole.p === null || whole.p === '' ? 'missing' : whole.p
  const usual = { inheritsFrom: undefined, testedSince: undefined, isPinned: false, episodes: [], forged: 0 }
  return { record: whole, policy, ...usual, today: TODAY, period: 30, ...more }
}

function episode(kind: EpisodeKind, daysAgo: number, until = 10, strength = 0.5): Episode {
  return { kind, from: TODAY - daysAgo, until: TODAY + until, strength }
}

/** What the domain has to tell in its last days. */
const during = (...episodes: Episode[]) => ({ episodes })
/** Half of its mail is forged. */
const FORGED = { ...during(episode('attack', 30, 10, 5_000)), forged: 5_000 }

/** What is said of a domain: the severity and the reason. */
function verdictOn(each: Situation): string | undefined {
  const finding = judgeDomain(each)
  return finding && `${finding.severity}: ${describeFinding(finding, each)}`
}

describe('the judgement on a domain', () => {
  it.each<[string, Situation]>([
    ['passes as usual under an enforced policy', situation({})],
    ['is parked', situation({ count: 0, dmarc: 0, dkim: 0, spf: 0 })],
    ['is forged in vain', situation({ dmarc: 50 }, FORGED)],
    ['had a defect that is over and hardly shows', situation({}, during(episode('broken-spf', 20, -5)))],
  ])('finds nothing where it %s', (_, each) => {
    expect(verdictOn(each)).toBeUndefined()
  })

  it.each<[Situation, string]>([
    [
      situation({ dmarc: 87, spf: 40 }, during(episode('broken-spf', 3))),
      'high: Enforced policy (reject), SPF broken since 12 January: 1,300 messages fail DMARC in 30 days, and receivers reject them.',
    ],
    [
      situation({ p: 'none', dmarc: 50 }, FORGED),
      'high: Forged since 16 December 2025: others send about 170 messages a day in its name, and receivers deliver them, because its policy is none.',
    ],
    [
      situation({ testing: 'y', dmarc: 99 }, { testedSince: TODAY - 2 }),
      'low: The policy reject is only tested since 13 January: 100 messages fail DMARC in 30 days, and receivers put them into spam folders.',
    ],
    [
      situation({ dmarc: 12.5 }, { isPinned: true, episodes: [episode('broken-spf', 3)] }),
      'high: Enforced policy (reject): 8,750 messages fail DMARC in 30 days, and receivers reject them.',
    ],
    [
      situation({ p: '', count: 0 }),
      'low: No DMARC record: any sender can use its name, and receivers report nothing about it.',
    ],
  ])('says why (%#)', (each, words) => {
    expect(verdictOn(each)).toBe(words)
  })

  it.each<[what: string, each: Situation, severity: string | undefined]>([
    ['exactly five percent of enforced mail fail', situation({ dmarc: 95 }), 'medium'],
    ['exactly ten percent of it fail', situation({ dmarc: 90 }), 'high'],
    ['exactly two percent fail under none', situation({ p: 'none', dmarc: 98 }), 'low'],
    ['more than half of it is', situation({ dmarc: 90 }, { forged: 501 }), 'low'],
    ['exactly five percent are lost by a defect', situation({ dmarc: 95 }, during(episode('broken-spf', 3))), 'high'],
  ])('is at the edge where %s', (_, each, severity) => {
    expect(judgeDomain(each)?.severity).toBe(severity)
  })

  it('does not count forged messages as mail of the domain that is lost', () => {
    const attacked = situation({ dmarc: 50 }, { ...FORGED, episodes: [...FORGED.episodes, episode('broken-spf', 3)] })
    expect(judgeDomain(attacked)).toMatchObject({ kind: 'broken', severity: 'medium', damage: 0, failing: 5_000 })
    expect(verdictOn(attacked)).toBe(
      'medium: Enforced policy (reject), SPF broken since 12 January: 5,000 messages fail DMARC in 30 days, about 5,000 of them forged, and receivers reject them.',
    )
  })
})
