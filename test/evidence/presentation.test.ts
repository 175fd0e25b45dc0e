import { beforeAll, describe, expect, it } from 'vitest'
import { type Choices, readChoices } from '../../src/contract/choices.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { findContractProblems } from '../../src/evidence/contract-problems.ts'
import type { Finding } from '../../src/evidence/finding.ts'
import type { Observation } from '../../src/evidence/observation.ts'
import { type ContractVariant, compileVariants, Permitted } from '../../src/evidence/permitted.ts'
import { observePresentation } from '../../src/evidence/presentation.ts'
import { BEHAVIOURS } from '../contract/behaviours.ts'
import { askEverything, openRecorded, type Recorded } from './recorded-service.ts'

let choices: Choices
let variants: readonly ContractVariant[]
let permitted: Permitted

beforeAll(async () => {
  choices = await readChoices([])
  variants = await compileVariants(choices)
  permitted = await Permitted.read(choices, variants)
})

function judge(recorded: readonly Recorded[]): { findings: Finding[]; observations: Observation[] } {
  const findings: Finding[] = []
  const observations: Observation[] = []
  for (const { reading, problems } of recorded) {
    findings.push(...findContractProblems(reading, permitted).filter(({ id }) => !id.includes('/request/')))
    const remarks = observePresentation(reading, { problems }, permitted)
    findings.push(...remarks.findings)
    observations.push(...remarks.observations)
  }
  return { findings, observations }
}

/** The numbers of an assumption that all observations leave, as far as each can be looked at alone. */
function leftOf(id: string, observations: readonly Observation[], truth: Readonly<Record<string, number>>): number[] {
  let left: number[] = [...permitted.numbersOf(id)]
  for (const { allows } of observations) {
    const [first = {}] = allows
    if (!(id in first)) continue
    const fitting = allows.filter((each) =>
      Object.entries(each).every(([other, number]) => other === id || number === (truth[other] ?? 0)),
    )
    left = left.filter((number) => fitting.some((each) => each[id] === number))
  }
  return left
}

async function session(contract: Contract, id: string | undefined) {
  const behaviour = BEHAVIOURS.find((each) => each.id === id)
  const service = await openRecorded(contract, choices.contract, {})
  await askEverything(service)
  await service.stop()
  const recorded = [...service.recorded]
  if (behaviour !== undefined) {
    const shown = await openRecorded(contract, choices.contract, behaviour.options)
    await behaviour.observe(shown)
    await shown.stop()
    recorded.push(...shown.recorded)
  }
  return judge(recorded)
}

describe('x', () => {
  it('y', { timeout: 600_000 }, async () => {
    const t = performance.now()
    const base = await session(choices.contract, undefined)
    expect(base.findings).toEqual([])
    for (const { id, number, contract } of variants) {
      const { findings, observations } = await session(contract, id)
      const truth = { [id]: number }
      if (findings.length) console.log(id, number, JSON.stringify(findings, null, 1).slice(0, 1500))
      for (const { allows, evidence } of observations) {
        const ok = allows.some((each) => Object.entries(each).every(([a, n]) => (truth[a] ?? 0) === n))
        if (!ok) console.log('WRONG', id, number, JSON.stringify(allows), evidence)
      }
      const left = leftOf(id, observations, truth)
      console.log(id, number, JSON.stringify(left), left.length === 1 ? 'decided' : '')
    }
    console.log(performance.now() - t)
  })
})
