import { expect, it } from 'vitest'
import { type Counters, decideCounts, NO_COUNTERS, refundCharge, setWindow } from '../../src/domain/quotas.ts'
import { plannedCharge } from '../store/counting.ts'

const terms = { longestWindow: 3_600_000, draw: () => 0 }
const rule = (id: string) => ({ id, skip: 0, times: 9, probability: 1, ends: Number.POSITIVE_INFINITY })

/** Counters with windows that began at these times, in this order. */
function withWindows(windows: Readonly<Record<string, number>>): Counters {
  return Object.entries(windows).reduce(
    (counters, [bucket, startedAt]) => setWindow(counters, bucket, { startedAt, used: 5 }),
    NO_COUNTERS,
  )
}

it.each<[what: string, windows: Record<string, number>, kept: string[]]>([
  ['drops those that are over', { a: 0, b: 6_400_000, c: 6_400_001 }, ['c', 'new']],
  [
    'drops those that begin in the future, because the clock was set back',
    { a: 20_000_000, b: 9_999_999 },
    ['b', 'new'],
  ],
  ['stands at the end, if it had begun before', { new: 0, a: 9_000_000 }, ['a', 'new']],
])('A window that begins %s', (_, windows, kept) => {
  const charge = plannedCharge({ bucket: 'new' })
  const { counters } = decideCounts({ charge, rules: [] }, { faults: [] }, withWindows(windows), 10_000_000, terms)
  expect([...counters.quotas.keys()]).toEqual(kept)
  expect(counters.quotas.get('new')).toEqual({ startedAt: 10_000_000, used: 1 })
})

it('A request in a window that has begun drops none', () => {
  const charge = plannedCharge({ bucket: 'b' })
  const before = withWindows({ a: 0, b: 9_000_000 })
  const { counters } = decideCounts({ charge, rules: [] }, { faults: [] }, before, 10_000_000, terms)
  expect([...counters.quotas.keys()]).toEqual(['a', 'b'])
  expect([counters.quotas.get('b')?.used, before.quotas.get('b')?.used]).toEqual([6, 5])
})

it('A request that the quota refuses is counted, and no fault rule is tried', () => {
  const charge = plannedCharge({ bucket: 'b', limit: 5 })
  const before = withWindows({ b: 9_000_000 })
  const asked = { charge, rules: [rule('fault_1')] }
  const { counters, allowance, triggered } = decideCounts(asked, { faults: [] }, before, 10_000_000, terms)
  expect([counters.requests, counters.tallies.size, allowance?.allowed, triggered]).toEqual([1, 0, false, undefined])
})

it('The count of a rule goes with the next count of another, once the account does not have the rule', () => {
  const faults = [{ id: 'fault_2', createdAt: 0, rule: {} }]
  const counted = (counters: Counters, id: string) =>
    decideCounts({ charge: undefined, rules: [rule(id)] }, { faults }, counters, 0, terms).counters
  const counters = counted(counted(NO_COUNTERS, 'fault_2'), 'fault_1')
  expect([...counters.tallies.keys()]).toEqual(['fault_2'])
})

it('A charge is given back in its own window alone, and never below nothing', () => {
  const begun = setWindow(withWindows({ b: 9_000_000 }), 'unused', { startedAt: 9_000_000, used: 0 })
  expect(refundCharge(begun, 'b', 9_000_000)?.hits).toEqual({ startedAt: 9_000_000, used: 4 })
  expect(refundCharge(begun, 'b', 5_400_000)).toBeUndefined()
  expect(refundCharge(begun, 'unused', 9_000_000)).toBeUndefined()
  expect(refundCharge(begun, 'dropped', 9_000_000)).toBeUndefined()
})
