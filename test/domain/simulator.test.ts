import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failuresOf, mayBeSimulated, simulatedTraits } from '../../src/domain/simulator.ts'

describe('A hostname below understudy.test', () => {
  it.each([
    ['locked.understudy.test', { features: ['simulator'] }],
    ['locked.example', {}],
    ['understudy.test', {}],
    ['p-reject.dkim-95x5.count-1200.understudy.test', { pin: { p: 'reject', dkim: 95.5, count: 1200 } }],
    ['locked.p-none.understudy.test', { features: ['simulator'], pin: { p: 'none' } }],
    ['dmarc-100.spf-0x1.pct-100.understudy.test', { pin: { dmarc: 100, spf: 0.1, pct: 100 } }],
    ['count-1000000000.pct-101.understudy.test', {}],
    ['p-constructor.dkim-101.dkim-1e3.dkim-x5.pct-5x5.count-1x5.testing-1.colour-red.understudy.test', {}],
    ['p-reject.p-none.understudy.test', { pin: { p: 'none' } }],
  ])('%s has the traits %j', (name, traits) => {
    expect(simulatedTraits(name)).toEqual(traits)
  })

  it.each([
    ['fail-rate-limited.understudy.test', ['rate_limited']],
    ['a.fail-not-found.fail-x.understudy.test', ['not_found', 'x']],
    ['fail-rate-limited.example', []],
  ])('%s asks for the failures %j', (name, codes) => {
    expect(failuresOf(name)).toEqual(codes)
  })

  it('is told from others in any spelling, and has lawful pins whatever its labels are (seed 6)', () => {
    const label = fc.stringMatching(/^[a-z]{1,7}-[a-z0-9]{1,12}$/)
    const known = fc.stringMatching(
      /^(p|sp|np|testing|pct|dmarc|dkim|spf|count)-([0-9]{1,11}(x[0-9]{1,4})?|y|n|none|reject)$/,
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(label, known), { minLength: 1, maxLength: 6 }), (labels) => {
        const name = `${labels.join('.')}.understudy.test`
        const spellings = [name, `${name.toUpperCase()}.`, `${name}.example`]
        expect(spellings.map(mayBeSimulated)).toEqual([true, true, false])
        const { dmarc = 0, dkim = 0, spf = 0, pct = 0, count = 0 } = simulatedTraits(name).pin ?? {}
        for (const share of [dmarc, dkim, spf, pct]) expect(share >= 0 && share <= 100).toBe(true)
        expect(Number.isInteger(pct) && Number.isInteger(count) && count >= 0).toBe(true)
      }),
      { seed: 6, numRuns: 300 },
    )
  })
})
