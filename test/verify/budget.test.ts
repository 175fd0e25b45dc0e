import { describe, expect, it } from 'vitest'
import { RequestBudget } from '../../src/verify/budget.ts'

const HOUR = 3_600_000

/** The budget of one path with ten requests in an hour, of which two are for others. */
function open() {
  let now = 0
  const operations = [{ path: '/a', quota: { limit: 10, window: 3600 } }]
  const budget = new RequestBudget({ operations } as never, 2, () => now)
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { budget, pass }
}

describe('the budget of a path', () => {
  it('is the quota without the reserve and what was sent, and begins anew when an hour is over', () => {
    const { budget, pass } = open()
    for (let sent = 0; sent < 5; sent++) budget.spend('/a')
    expect([budget.left('/a'), budget.leftForCleanup('/a'), budget.untilReset('/a')]).toEqual([3, 5, HOUR])
    budget.believe('/a', { 'x-ratelimit-remaining': '4' }, false)
    budget.spend('/a')
    expect(budget.left('/a')).toBe(1)
    pass(HOUR)
    expect([budget.left('/a'), budget.of('/a')?.total]).toEqual([8, 6])
  })

  it.each<[what: string, headers: Record<string, string>, isRefused: boolean, left: number, reset: number]>([
    ['what others have left', { 'x-ratelimit-remaining': '3' }, false, 1, HOUR],
    ['a reset in seconds', { 'x-ratelimit-reset': '60' }, false, 7, 60_000],
    [
      'a reset as an instant, by the clock of the service',
      { 'x-ratelimit-reset': '1768471200', date: 'Thu, 15 Jan 2026 09:30:00 GMT' },
      ...([false, 7, HOUR / 2] as const),
    ],
    ['a reset beyond the window, which nobody waits for', { 'x-ratelimit-reset': '999999' }, false, 7, HOUR],
    ['a refusal that says nothing', {}, true, 0, HOUR],
    ['a refusal that says when to come back', { 'retry-after': '2' }, true, 0, 2_000],
  ])('follows a response that tells %s', (_, headers, isRefused, left, reset) => {
    const { budget } = open()
    budget.spend('/a')
    budget.believe('/a', headers, isRefused)
    expect([budget.left('/a'), budget.untilReset('/a')]).toEqual([left, reset])
  })

  it('has no end where the contract has no quota', () => {
    const { budget } = open()
    budget.spend('/b')
    expect([budget.left('/b'), budget.untilReset('/b')]).toEqual([Number.POSITIVE_INFINITY, 0])
  })
})
