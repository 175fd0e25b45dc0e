import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { milderRules } from '../../../src/trials/explore/plan.ts'
import { shrinkPlan } from '../../../src/trials/explore/shrinking.ts'

const none = () => []
const rule = (number: number): FaultRule => ({ match: { path: `/${number}` }, connection: 'reset' })

describe('Shrinking', () => {
  it('finds the rules that are needed together, and counts few trials', async () => {
    const seed = 20260115
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.infiniteStream(fc.nat()), async (size, chance) => {
        const plan = Array.from({ length: size }, (_, number) => rule(number))
        const needed = [...new Set([chance.next().value % size, chance.next().value % size])].map(
          (index) => plan[index],
        )
        let trials = 0
        const smallest = await shrinkPlan(
          plan,
          async (tried) => {
            trials++
            return needed.every((each) => each !== undefined && tried.includes(each))
          },
          none,
        )
        expect(new Set(smallest)).toEqual(new Set(needed))
        expect(trials).toBeLessThanOrEqual(size * size + size)
      }),
      { seed, numRuns: 50 },
    )
  })

  it('prefers the earliest request, and then the mildest fault', async () => {
    const match = { operation: 'addDomains' }
    const plan: FaultRule[] = [{ match, skip: 3, times: 1, connection: 'hang', phase: 'after', description: 'x' }]
    const fails = async ([only]: readonly FaultRule[]) => (only?.skip ?? 0) >= 1 && only?.phase === 'after'
    expect(await shrinkPlan(plan, fails, milderRules)).toEqual([
      { match, skip: 1, times: 1, connection: 'reset', phase: 'after' },
    ])
  })
})
