import { describe, expect, it } from 'vitest'
import { addKey, isInGrace } from '../../src/domain/account.ts'
import { type Ending, nextEnding } from '../../src/domain/endings.ts'
import { bucketOf, type Charge, chargeQuota, type Hits, keyHashOf, limitOf } from '../../src/domain/quotas.ts'
import { includesApiAccess } from '../../src/domain/settings.ts'

const WEEK = 7 * 86_400
const KEY = { id: 'key_1', hash: 'k1', createdAt: 1_000, disabled: false }

describe('a request that is charged', () => {
  const CHARGE: Charge = { limit: 2, window: 60, start: 'aligned', enforced: true }
  /** Where an aligned window begins, and where one that a request began does. */
  const [T, LATER] = [120_000, 121_500]
  const FROM_FIRST = { start: 'first-request' } as const

  it.each<[what: string, hits: Hits | undefined, now: number, charge: Partial<Charge>, after: (number | boolean)[]]>([
    ['is the first one', undefined, T + 1, {}, [true, 1, 1, T, 180]],
    ['is one too many', { startedAt: T, used: 2 }, T + 59_999, {}, [false, 2, 0, T, 180]],
    ['begins the next window', { startedAt: T, used: 2 }, T + 60_000, {}, [true, 1, 1, T + 60_000, 240]],
    ['comes on a clock that was set back', { startedAt: T, used: 2 }, T - 1, {}, [true, 1, 1, 60_000, 120]],
    ['begins a window of its own', undefined, LATER, FROM_FIRST, [true, 1, 1, LATER, 182]],
    ['ends that window', { startedAt: LATER, used: 2 }, LATER + 59_999, FROM_FIRST, [false, 2, 0, LATER, 182]],
    ['is only counted', { startedAt: T, used: 5 }, T, { enforced: false }, [true, 6, 0, T, 180]],
  ])('%s', (_, former, now, charge, after) => {
    const { hits, allowance } = chargeQuota(former, { ...CHARGE, ...charge }, now)
    expect([allowance.allowed, hits.used, allowance.remaining, hits.startedAt, allowance.resetAt]).toEqual(after)
    expect(allowance.limit).toBe(2)
  })

  it('has a higher limit in the grace period, in whole requests', () => {
    const quota = { limit: 10, window: 60, grace: 1.25 }
    expect([limitOf(quota, false), limitOf(quota, true)]).toEqual([10, 12])
  })

  it('is counted by its key, or by its path alone', () => {
    const buckets = (['key', 'account'] as const).map((scope) => bucketOf('k1', '/domains', scope))
    expect(buckets).toEqual(['k1 /domains', '/domains'])
    expect(buckets.map(keyHashOf)).toEqual(['k1', undefined])
  })
})

describe('a key', () => {
  it('is in its grace period for a week, the end of which is not part of it', () => {
    const end = KEY.createdAt + WEEK * 1000
    expect([end - 1, end].map((now) => isInGrace(KEY, now, WEEK))).toEqual([true, false])
  })

  it('is added beside the others, and once', () => {
    const account = addKey({ keys: [KEY] }, { ...KEY, hash: 'k2' })
    expect(account.keys.map(({ hash }) => hash)).toEqual(['k1', 'k2'])
    expect(addKey(account, { ...KEY, id: 'key_3', hash: 'k2' })).toBe(account)
  })
})

it.each([
  ['stone', true],
  ['unknown', false],
])('the plan %s includes API access: %s', (plan, isIncluded) => {
  expect(includesApiAccess(plan, { order: ['lower', 'stone', 'higher'], lowest: 'stone' })).toBe(isIncluded)
})

describe('the next ending', () => {
  const RULES = { refresh: '04:00', gracePeriod: 10 }
  const NOW = Date.parse('2026-01-15T04:00:00Z')
  const next = (ending: Ending, windowEnds: readonly number[], ...created: number[]) => {
    const keys = created.map((createdAt) => ({ createdAt }))
    return nextEnding(ending, { now: NOW, windowEnds, keys }, RULES)
  }

  it('is the first that is still to come, of windows, of grace periods and of the data of a day', () => {
    expect(next('window-end', [NOW - 1, NOW + 2, NOW + 1])).toBe(NOW + 1)
    expect(next('grace-end', [], NOW - 9_999, NOW)).toBe(NOW + 1)
    expect(next('refresh', [])).toBe(NOW + 86_400_000)
  })
})
