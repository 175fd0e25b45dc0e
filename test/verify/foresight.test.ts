import { expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { foresee } from '../../src/verify/foresight.ts'
import { PROBES, SIDES } from '../../src/verify/probes.ts'
import { RehearsedService } from '../../src/verify/rehearsed-service.ts'
import { budget } from '../support/budget.ts'
import { choices } from '../support/choices.ts'

it('what the probes of verify would tell is found out once, tells how far it has come, and has each side of a rule', {
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

const rehearse = (contract: Contract) =>
  RehearsedService.open(bindBehaviours(contract, { behaviours: OPERATIONS, simulator: false }))

it('a probe that only reads tells a choice exactly if the answers differ in status, text or fields', {
  timeout: 120_000,
}, async () => {
  const reads = (await foresee(choices)).filter(
    ({ domains, groups, rehearsed }) => !domains && !groups && rehearsed.every(({ method }) => method === 'GET'),
  )
  expect(reads.length).toBeGreaterThan(10)
  const own = await rehearse(choices.contract)
  const step = budget({ quick: 7, full: 1 }, 'ALTERNATIVE_STEP')
  const told = new Set<string>()
  for (const { id, number, ...alternative } of choices.alternatives.filter((_, index) => index % step === 0)) {
    const other = await rehearse(await choices.compile([{ id, number, ...alternative }]))
    for (const { id: probe, rehearsed, tells } of reads) {
      const [ours, theirs] = [own.copy(), other.copy()].map((service) =>
        rehearsed.map((request) => {
          const { status, text, fields } = service.answer(request)
          return { status, text, fields }
        }),
      )
      const isTold = tells[id]?.some((alike) => alike.includes(0) && !alike.includes(number)) ?? false
      if (isTold) told.add(`${id}/${number}`)
      if (isTold) expect(theirs, `${probe} under ${id}/${number}`).not.toEqual(ours)
      else expect(theirs, `${probe} under ${id}/${number}`).toEqual(ours)
    }
  }
  expect(told.size).toBeGreaterThan(5)
})
