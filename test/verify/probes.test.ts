import { describe, expect, it } from 'vitest'
import { nameOf } from '../../src/contract/choices.ts'
import { choices, mistakesOf, mistakesUnder, PLAN } from './table.ts'

describe('the table of probes', () => {
  it('has each id once', () => {
    const ids = PLAN.map(({ probe }) => probe.id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  it('asks for every rule that requests with one key can show', () => {
    const asked = new Set(PLAN.flatMap(({ probe }) => probe.rule ?? []))
    const rules = new Map(choices.contract.operations.flatMap(({ rules: own }) => own.map((rule) => [rule.id, rule])))
    const open = [...rules.values()].filter(({ id, unobservable }) => unobservable === undefined && !asked.has(id))
    expect(open.map(({ id }) => id)).toEqual([
      'several-keys',
      'key-switched-off',
      'grace-of-new-keys',
      'stone-plan-required',
      'background-processing',
      'domain-in-use-stays',
    ])
    expect([...asked].filter((id) => !rules.has(id))).toEqual([])
  })

  it('says what its probes decide, and what comes of them', async () => {
    for (const id of ['add-twice', 'members-shared', 'add-text']) expect(await mistakesOf(id)).toEqual([])
  })

  it('finds what a service has chosen, and accuses nobody', async () => {
    const chosen = choices.alternatives.filter((each) => nameOf(each) === 'already-monitored/1')
    for (const truth of chosen) expect(await mistakesUnder(truth)).toEqual([])
    expect(chosen).toHaveLength(1)
  })
})
