import { expect, it } from 'vitest'
import { foresee } from '../../src/verify/foresight.ts'
import { PROBES, SIDES } from '../../src/verify/probes.ts'
import { choices } from '../support/choices.ts'

it('what the probes of verify would tell is found out once, tells how far it has come, and has each side of a rule', {
  tags: ['slow'],
  timeout: 120_000,
}, async () => {
  // Other tests may have found it out already.
  const fresh = { ...choices }
  const told: number[] = []
  const [some, others] = await Promise.all([1, 2].map(() => foresee(fresh, (done) => told.push(done))))
  expect(others).toBe(some)
  expect(told).toEqual(choices.alternatives.map((_, index) => index))
  expect(some?.map(({ id }) => id)).toEqual(PROBES.map(({ id }) => id))
  const rules = new Set(choices.contract.operations.flatMap((operation) => operation.rules.map(({ id }) => id)))
  for (const [rule, sides] of Object.entries(SIDES)) {
    expect(rules, rule).toContain(rule)
    for (const [probe, side] of sides) {
      const foreseen = some?.find(({ id }) => id === probe)
      const last = Number(foreseen?.answers.at(-1)?.slice(0, 3))
      // Only a used-up quota is refused, and a rehearsal uses none up.
      if (side === 'accepted') expect(last, probe).toBeLessThan(300)
      if (side === 'refused' && !foreseen?.exhausts) expect(last, probe).toBeGreaterThanOrEqual(400)
    }
  }
})
