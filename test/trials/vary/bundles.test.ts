import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/contract/choices.ts'
import { bundle, LARGEST } from '../../../src/trials/vary/bundles.ts'
import { allChoices, only } from './varied-client.ts'

type Changes = readonly { index: number; parts: readonly string[] }[]

const reach = (name: string, changes: Changes, changesCreation = false) => {
  const [alternative] = only(name).alternatives
  if (alternative === undefined) throw new Error(`There is no alternative ${name}.`)
  return { alternative, changes, changesCreation }
}

const bundled = (...reached: ReturnType<typeof reach>[]) =>
  bundle(reached).map((members) => members.map(({ alternative }) => nameOf(alternative)))

describe('a bundle', () => {
  it('has alternatives that change different parts of the responses', () => {
    const cors = reach('cors/1', [{ index: 0, parts: ['header access-control-allow-origin'] }])
    const order = reach('domain-order/1', [{ index: 0, parts: ['body'] }])
    const decimals = reach('decimals/1', [{ index: 1, parts: ['body'] }])
    const status = reach('status-not-found/1', [{ index: 2, parts: ['status'] }])
    expect(bundled(cors, order, decimals, status)).toEqual([
      ['cors/1', 'domain-order/1', 'decimals/1', 'status-not-found/1'],
    ])
  })

  it('has no two that change the same part of one response', () => {
    const order = reach('domain-order/1', [{ index: 0, parts: ['body'] }])
    const decimals = reach('decimals/1', [{ index: 0, parts: ['body'] }])
    expect(bundled(order, decimals)).toEqual([['domain-order/1'], ['decimals/1']])
  })

  it('has no two alternatives of one assumption', () => {
    const one = reach('domain-order/1', [{ index: 0, parts: ['body'] }])
    const other = reach('domain-order/2', [{ index: 1, parts: ['body'] }])
    expect(bundled(one, other)).toEqual([['domain-order/1'], ['domain-order/2']])
  })

  it('has one only where that changes what later responses depend on, or where nobody knows what it changes', () => {
    const cors = reach('cors/1', [{ index: 0, parts: ['header vary'] }])
    const order = reach('domain-order/1', [{ index: 1, parts: ['body'] }])
    const state = reach('space-around-names/1', [{ index: 2, parts: ['state'] }])
    const creation = reach('group-id-format/1', [{ index: 3, parts: ['body'] }], true)
    const unknown = reach('head/1', [])
    expect(bundled(state, creation, cors, unknown, order)).toEqual([
      ['space-around-names/1'],
      ['group-id-format/1'],
      ['cors/1', 'domain-order/1'],
      ['head/1'],
    ])
  })

  it('is not too large', () => {
    const firsts = allChoices.alternatives.filter(({ number }) => number === 1).slice(0, LARGEST + 3)
    const all = firsts.map((alternative, index) => ({
      alternative,
      changes: [{ index, parts: ['body'] }],
      changesCreation: false,
    }))
    expect(bundle(all).map(({ length }) => length)).toEqual([LARGEST, 3])
  })
})
