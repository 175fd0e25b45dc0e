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

  it.each(['add-twice', 'members-shared', 'name-taken', 'add-text'])(
    'says what %s decides, and what comes of it',
    async (id) => {
      expect(await mistakesOf(id)).toEqual([])
    },
  )

  const some = choices.alternatives.filter((each) =>
    ['already-monitored/1', 'update-group-response/3'].includes(nameOf(each)),
  )
  it.each(some.map((each) => [nameOf(each), each] as const))(
    'finds that a service has chosen %s, and accuses nobody',
    async (_, truth) => {
      expect(await mistakesUnder(truth)).toEqual([])
    },
  )
})
