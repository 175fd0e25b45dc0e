import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import { foresee } from '../../src/verify/foresight.ts'
import { isHarmless, PROBES } from '../../src/verify/probes.ts'
import { RehearsedService } from '../../src/verify/rehearsed-service.ts'
import { budget } from '../support/budget.ts'
import { choices } from '../support/choices.ts'

const reads = PROBES.filter(isHarmless)

describe('what the reads of verify would tell', () => {
  it('is the same, whether or not what cannot matter is left out', { tags: ['slow'] }, async () => {
    const foresight = await foresee(choices, { probes: reads })
    const step = budget({ quick: 7, full: 1 })
    for (const alternative of choices.alternatives.filter((_, index) => index % step === 0)) {
      const contract = await choices.compile([alternative])
      const [own, other] = await Promise.all(
        [choices.contract, contract].map((each) =>
          RehearsedService.open(bindBehaviours(each, { behaviours: OPERATIONS, simulator: false })),
        ),
      )
      for (const { probe, requests, tells } of foresight) {
        const [ours, theirs] = [own, other].map((service) => {
          const copy = service?.copy()
          return requests.map((request) => {
            const { status, text, fields } = copy?.answer(request) ?? {}
            return JSON.stringify([status, text, fields])
          })
        })
        const isTold = tells[alternative.id]?.some((alike) => alike.includes(0) && !alike.includes(alternative.number))
        const what = `${probe.id} under ${alternative.id}/${alternative.number}`
        expect(isTold ?? false, what).toBe(JSON.stringify(ours) !== JSON.stringify(theirs))
      }
    }
  })

  it('is found out once, and tells how far it has come', async () => {
    const told: number[] = []
    const probes = reads.slice(0, 3)
    const [some, others] = await Promise.all(
      [1, 2].map(() => foresee(choices, { probes, onProgress: (done) => told.push(done) })),
    )
    expect(others).toBe(some)
    expect(told).toEqual(choices.alternatives.map((_, index) => index))
  })
})
