import { expect, it } from 'vitest'
import type { DmarcRecord, Policy } from '../../src/domain/dmarc.ts'
import { judgeRecord } from '../../src/figures/attention.ts'
import type { Episode, EpisodeKind } from '../../src/figures/episodes.ts'
import { TODAY } from './monitoring.ts'

const FIGURES = { domain: 'a.example', pct: 100, testing: 'n', dkim: 0, spf: 0, count: 10_000 } as const

function judge(dmarc: number, policy: Policy | 'missing', more: Partial<DmarcRecord> = {}, kind?: EpisodeKind) {
  const p = policy === 'missing' ? 'none' : policy
  const episodes: Episode[] = kind === undefined ? [] : [{ kind, from: TODAY - 3, until: TODAY + 9, strength: 0.5 }]
  return judgeRecord({ ...FIGURES, p, sp: p, np: p, dmarc, ...more }, policy, episodes)
}

it.each<
  [dmarc: number, policy: Policy, testing: 'y' | 'n', kind: EpisodeKind | undefined, severity: string | undefined]
>([
  [95.1, 'reject', 'n', 'broken-spf', undefined],
  [95, 'reject', 'n', undefined, 'medium'],
  [90.1, 'reject', 'n', 'broken-spf', 'medium'],
  [90, 'quarantine', 'n', 'broken-spf', 'high'],
  [90, 'reject', 'y', 'broken-spf', 'medium'],
  [40, 'none', 'n', 'new-sender', 'medium'],
  [40, 'none', 'n', 'attack', 'high'],
  [40, 'reject', 'y', 'attack', 'high'],
  [40, 'reject', 'n', 'attack', 'low'],
])('Where %d %% pass under %s (testing %s, with %s), the severity is %s', (dmarc, policy, testing, kind, severity) => {
  expect(judge(dmarc, policy, { testing }, kind)?.severity).toBe(severity)
})

it('A domain without mail needs no attention', () => {
  expect(judge(0, 'reject', { count: 0 })).toBeUndefined()
})

it.each<[ReturnType<typeof judge>, object]>([
  [
    judge(87, 'reject', {}, 'broken-spf'),
    {
      reason:
        '13.0 % of its mail fails DMARC under the policy reject. The SPF record misses a sender of 50 % of its mail.',
      ...{ since: TODAY - 3, messages: 1300 },
    },
  ],
  [
    judge(12.5, 'quarantine', { testing: 'y' }, 'signed-sender'),
    {
      reason: '87.5 % of its mail fails DMARC under the policy quarantine, which is only tested.',
      ...{ since: undefined, messages: 8750 },
    },
  ],
  [
    judge(100, 'missing', { count: 0 }),
    {
      reason: 'No DMARC record: any sender can use its name, and receivers report nothing about it.',
      ...{ severity: 'low', messages: null },
    },
  ],
])('A finding says how much fails, and why if that is known (%#)', (finding, expected) => {
  expect(finding).toMatchObject(expected)
})
