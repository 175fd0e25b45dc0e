import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Fault,
  type FaultRule,
  type FaultTally,
  type FaultTarget,
  findMatchingRules,
  isExpired,
  NO_TALLY,
  triggerRule,
} from '../../src/domain/faults.ts'

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
  it.each([
    ['PT1H', 3_600_000],
    ['P2W', 14 * 86_400_000],
  ])('after %s, exactly', (life, milliseconds) => {
    const fault = faultOf({ ...LIMITED, expires_after: life })
    expect(isExpired(fault, NOW + milliseconds - 1)).toBe(false)
    expect(isExpired(fault, NOW + milliseconds)).toBe(true)
  })

  it('never without an end, nor on a clock that was set back', () => {
    expect(isExpired(faultOf(LIMITED), Number.MAX_SAFE_INTEGER)).toBe(false)
    expect(isExpired(faultOf({ ...LIMITED, expires_after: 'PT1S' }), NOW - 1)).toBe(false)
  })
})

describe('A request', () => {
  it.each([
    [{}, true],
    [{ operation: 'listDomains', method: 'GET', path: '/domains', key: 'key_one' }, true],
    [{ operation: 'listDmarc' }, false],
    [{ method: 'HEAD' }, false],
    [{ path: '/domain' }, false],
    [{ key: 'key_two' }, false],
    [{ operation: 'listDomains', key: 'key_two' }, false],
  ])('matches %j: %s', (match, matches) => {
    const { triggered, tallies } = ask([faultOf({ connection: 'reset', match })], new Map())
    expect(triggered).toBe(matches ? 'fault_1' : undefined)
    expect(tallies.size).toBe(matches ? 1 : 0)
  })

  it('triggers no error that its operation never answers with', () => {
    expect(ask([faultOf({ respond: { error: 'duplicate_name' } })], new Map())).toMatchObject({ triggered: undefined })
    expect(ask([faultOf({ respond: { status: 409 } })], new Map()).triggered).toBe('fault_1')
  })

  it('triggers a rule when the draw is below the probability, and never at 0', () => {
    const triggered = (probability: number, drawn: number) =>
      ask([faultOf({ ...LIMITED, probability })], new Map(), { draw: () => drawn }).triggered !== undefined
    expect([triggered(0, 0), triggered(0.5, 0.4999), triggered(0.5, 0.5), triggered(1, 0.999_999_999)]).toEqual([
      false,
      true,
      false,
      true,
    ])
  })

  it('is drawn for with its ordinal among those that the rule matches', () => {
    const drawn: number[] = []
    const faults = [faultOf({ ...LIMITED, skip: 1, probability: 0.5, match: { path: '/domains' } })]
    let tallies: ReadonlyMap<string, FaultTally> = new Map()
    for (const path of ['/domains', '/dmarc', '/domains', '/domains']) {
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

const rules = fc.record(
  {
    skip: fc.nat(3),
    times: fc.integer({ min: 1, max: 3 }),
    probability: fc.constantFrom(0, 0.3, 1),
    match: fc.constantFrom({}, { method: 'GET' }, { method: 'POST' }),
    respond: fc.constantFrom({ status: 503 }, { error: 'rate_limited' }, { error: 'duplicate_name' }),
    expires_after: fc.constantFrom('PT1S', 'PT5S'),
  },
  { requiredKeys: ['respond'] },
)
const requests = fc.array(
  fc.record({ method: fc.constantFrom('GET', 'POST'), drawn: fc.constantFrom(0, 0.2, 0.4, 0.9), second: fc.nat(8) }),
  { maxLength: 30 },
)

describe('Of any rules and requests', () => {
  it('at most one acts on each, none more than `times`, before `skip` or after its end, and tallies only grow (seed 5)', () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 4 }), requests, (chosen, asked) => {
        const faults = chosen.map((rule, index) => faultOf(rule as FaultRule, index))
        let tallies: ReadonlyMap<string, FaultTally> = new Map()
        for (const { method, drawn, second } of asked) {
          const now = NOW + second * 1000
          const before = tallies
          const { triggered, ordinal, ...after } = ask(faults, before, {
            target: { ...TARGET, method },
            now,
            draw: () => drawn,
          })
          tallies = after.tallies
          const last = faults.findIndex(({ id }) => id === triggered)
          for (const [index, fault] of faults.entries()) {
            const { skip = 0, times = Number.POSITIVE_INFINITY, match } = fault.rule
            const [was, is] = [before.get(fault.id) ?? NO_TALLY, tallies.get(fault.id) ?? NO_TALLY]
            expect(is.hits - was.hits).toBe(fault.id === triggered ? 1 : 0)
            expect(is.matched - was.matched).toBeGreaterThanOrEqual(is.hits - was.hits)
            expect(is.hits).toBeLessThanOrEqual(times)
            expect(is.hits).toBeLessThanOrEqual(Math.max(0, is.matched - skip))
            const counts = is.matched > was.matched
            if (counts) expect(isExpired(fault, now)).toBe(false)
            if (counts && match?.method !== undefined) expect(match.method).toBe(method)
            // Rules after the one that acts are not asked.
            if (last >= 0 && index > last) expect(is).toEqual(was)
            if (fault.id === triggered) expect(ordinal).toBe(is.matched)
          }
        }
      }),
      { seed: 5, numRuns: 300 },
    )
  })
})
