import { describe, expect, it } from 'vitest'
import type { Fault, FaultRule, FaultTally, FaultTarget } from '../../src/domain/faults.ts'
import { findMatchingRules, isExpired, triggerRule } from '../../src/domain/faults.ts'

const NOW = Date.parse('2026-01-15T09:30:00Z')
const TARGET: FaultTarget = {
  operation: 'listDomains',
  method: 'GET',
  path: '/domains',
  key: 'key_one',
  answersWith: (code) => code === 'rate_limited',
}
const LIMITED: FaultRule = { respond: { error: 'rate_limited' } }

function faultOf(rule: FaultRule, index = 0): Fault {
  return { id: `fault_${index + 1}`, createdAt: NOW, rule }
}

/** Sends a request past the rules and returns the tallies with what was counted. */
function ask(
  faults: readonly Fault[],
  tallies: ReadonlyMap<string, FaultTally>,
  { target = TARGET, now = NOW, draw = () => 0 }: { target?: FaultTarget; now?: number; draw?: () => number } = {},
) {
  const { counted, triggered } = triggerRule(findMatchingRules(faults, target), tallies, now, draw)
  return { tallies: new Map([...tallies, ...counted]), triggered: triggered?.id, ordinal: triggered?.ordinal }
}

describe('A rule expires', () => {
  it('never without an end, nor on a clock that was set back', () => {
    expect(isExpired(faultOf(LIMITED), Number.MAX_SAFE_INTEGER)).toBe(false)
    expect(isExpired(faultOf({ ...LIMITED, expires_after: 'PT1S' }), NOW - 1)).toBe(false)
  })
})

describe('A request', () => {
  it('triggers no error that its operation never answers with', () => {
    expect(ask([faultOf({ respond: { error: 'duplicate_name' } })], new Map())).toMatchObject({ triggered: undefined })
    expect(ask([faultOf({ respond: { status: 409 } })], new Map())).toMatchObject({ triggered: 'fault_1', ordinal: 1 })
  })

  it('triggers a rule when the draw is below the probability, and never at 0', () => {
    const triggered = (probability: number, drawn: number) =>
      ask([faultOf({ ...LIMITED, probability })], new Map(), { draw: () => drawn }).triggered
    expect([triggered(0, 0), triggered(0.5, 0.5)]).toEqual([undefined, undefined])
    expect([triggered(0.5, 0.4999), triggered(1, 0.999_999_999)]).toEqual(['fault_1', 'fault_1'])
  })

  it('is drawn for with its ordinal among those that the rule matches', () => {
    const drawn: number[] = []
    const faults = [faultOf({ ...LIMITED, skip: 1, probability: 0.5, match: { path: '/domains' } })]
    let tallies: ReadonlyMap<string, FaultTally> = new Map()
    for (const path of ['/domains', '/domains/x', '/domains', '/domains']) {
      const { counted } = triggerRule(findMatchingRules(faults, { ...TARGET, path }), tallies, NOW, (_, ordinal) => {
        drawn.push(ordinal)
        return 1
      })
      tallies = new Map([...tallies, ...counted])
    }
    expect(drawn).toEqual([2, 3])
    expect(tallies.get('fault_1')).toEqual({ matched: 3, hits: 0 })
  })
})
