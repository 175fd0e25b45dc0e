import { describe, expect, it } from 'vitest'
import { applyCounts, type Counting, countersFor } from '../../src/domain/counting.ts'
import type { FaultTally } from '../../src/domain/faults.ts'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import type { Hits } from '../../src/domain/quotas.ts'

const NOW = 3_600_000

function counting(quotas: [string, Hits][] = [], tallies: [string, FaultTally][] = []): Counting {
  return { quotas: PersistentMap.of(quotas), tallies: PersistentMap.of(tallies), requests: 4 }
}

describe('counters', () => {
  const LONGEST = 60_000
  const begun = { ordinal: 5, bucket: 'new', hits: { startedAt: NOW, used: 1 }, tallies: undefined }

  it.each([
    ['began the longest window ago', NOW - LONGEST, false],
    ['began a moment later', NOW - LONGEST + 1, true],
    ['begins now', NOW, true],
    ['is to begin on a clock that was set back', NOW + 1, false],
  ])('keep a window that %s, when another begins: %s', (_, startedAt, isKept) => {
    const counters = counting([['old', { startedAt, used: 3 }]])
    applyCounts(counters, begun, [], NOW, LONGEST)
    expect([...counters.quotas.keys()]).toEqual(isKept ? ['old', 'new'] : ['new'])
    expect(counters.requests).toBe(5)
  })

  it('forget no window for a charge in one that has begun', () => {
    const counters = counting([['old', { startedAt: 0, used: 3 }]])
    applyCounts(counters, { ...begun, hits: { startedAt: NOW, used: 2 } }, [], NOW, LONGEST)
    expect([...counters.quotas.keys()]).toEqual(['old', 'new'])
  })

  it('forget the tallies of rules that are gone, and keep the ordinal for a request that is not counted', () => {
    const tally = { matched: 1, hits: 0 }
    const counters = counting([], [['fault_1', tally]])
    const fault = { id: 'fault_2', createdAt: 0, rule: {} }
    const counted = { ordinal: 0, bucket: undefined, hits: undefined, tallies: [['fault_2', tally]] as const }
    applyCounts(counters, counted, [fault])
    expect([[...counters.tallies.keys()], counters.requests]).toEqual([['fault_2'], 4])
  })

  it('are told for the keys and rules that one of some states has, and for what all keys share', () => {
    const hits = { startedAt: NOW, used: 1 }
    const tally = { matched: 1, hits: 1 }
    const all = ['k1 /dmarc', 'k2 /dmarc', '/dmarc'].map((bucket): [string, Hits] => [bucket, hits])
    const counters = counting(all, Object.entries({ fault_1: tally, fault_2: tally }))
    const key = { id: 'key_1', hash: 'k1', createdAt: 0, disabled: false }
    const states = [
      { keys: [key], faults: [] },
      { keys: [], faults: [{ id: 'fault_2', createdAt: 0, rule: {} }] },
    ]
    const { quotas, tallies } = countersFor(counters, states)
    expect([quotas.map(([name]) => name), tallies.map(([id]) => id)]).toEqual([['k1 /dmarc', '/dmarc'], ['fault_2']])
  })
})
