import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import { foresee } from '../../src/verify/foresight.ts'
import { isReadOnly } from '../../src/verify/probes.ts'
import { RehearsedService } from '../../src/verify/rehearsed-service.ts'
import { budget } from '../support/budget.ts'
import { choices } from '../support/choices.ts'

describe('what the reads of verify would tell', () => {
  it('is the same, whether or not what cannot matter is left out', { tags: ['slow'] }, async () => {
    const foresight = (await foresee(choices)).filter((probe) => isReadOnly(probe, probe.rehearsed))
    const step = budget({ quick: 7, full: 1 })
    for (const alternative of choices.alternatives.filter((_, index) => index % step === 0)) {
      const contract = await choices.compile([alternative])
      const [own, other] = await Promise.all(
        [choices.contract, contract].map((each) =>
          RehearsedService.open(bindBehaviours(each, { behaviours: OPERATIONS, simulator: false })),
        ),
      )
      for (const { id, rehearsed, tells } of foresight) {
        const [ours, theirs] = [own, other].map((service) => {
          const copy = service?.copy()
          return rehearsed.map((request) => {
            const { status, text, fields } = copy?.answer(request) ?? {}
            return JSON.stringify([status, text, fields])
          })
        })
        const isTold = tells[alternative.id]?.some((alike) => alike.includes(0) && !alike.includes(alternative.number))
        const what = `${id} under ${alternative.id}/${alternative.number}`
        expect(isTold ?? false, what).toBe(JSON.stringify(ours) !== JSON.stringify(theirs))
      }
    }
  })

  it('is found out once, and tells how far it has come', async () => {
    const told: number[] = []
    const fresh = { ...choices }
    const [some, others] = await Promise.all([1, 2].map(() => foresee(fresh, (done) => told.push(done))))
    expect(others).toBe(some)
    expect(told).toEqual(choices.alternatives.map((_, index) => index))
  })
})
