import { expect, it } from 'vitest'
import { nameOf } from '../../../src/contract/choices.ts'
import { bundle, LARGEST } from '../../../src/trials/vary/bundles.ts'
import { choices } from '../../support/choices.ts'
import { only } from './varied-client.ts'

/** An alternative, and the part that it changes of the response to one request; without these, nobody knows what it changes. */
function reach(name: string, index?: number, part = 'body', changesCreation = false) {
  const [alternative] = only(name).alternatives
  if (alternative === undefined) throw new Error(`There is no alternative ${name}.`)
  return { alternative, changes: index === undefined ? [] : [{ index, parts: [part] }], changesCreation }
}

it.each<[what: string, reached: ReturnType<typeof reach>[], bundles: string[]]>([
  [
    'has alternatives that change different parts of the responses',
    [
      ...[reach('cors/1', 0, 'header access-control-allow-origin'), reach('domain-order/1', 0)],
      ...[reach('decimals/1', 1), reach('status-not-found/1', 2, 'status')],
    ],
    ['cors/1 domain-order/1 decimals/1 status-not-found/1'],
  ],
  [
    'has no two that change the same part of one response',
    [reach('domain-order/1', 0), reach('decimals/1', 0)],
    ['domain-order/1', 'decimals/1'],
  ],
  [
    'has no two alternatives of one assumption',
    [reach('domain-order/1', 0), reach('domain-order/2', 1)],
    ['domain-order/1', 'domain-order/2'],
  ],
  [
    'has one only where that changes what later responses depend on, or where nobody knows what it changes',
    [
      ...[reach('space-around-names/1', 2, 'state'), reach('group-id-format/1', 3, 'body', true)],
      ...[reach('cors/1', 0, 'header vary'), reach('head/1'), reach('domain-order/1', 1)],
    ],
    ['space-around-names/1', 'group-id-format/1', 'cors/1 domain-order/1', 'head/1'],
  ],
])('A bundle %s', (_, reached, bundles) => {
  const names = bundle(reached).map((members) => members.map(({ alternative }) => nameOf(alternative)).join(' '))
  expect(names).toEqual(bundles)
})

it('A bundle is not too large', () => {
  const firsts = choices.alternatives.filter(({ number }) => number === 1).slice(0, LARGEST + 3)
  const all = firsts.map((alternative, index) => ({ ...reach(nameOf(alternative), index), alternative }))
  expect(bundle(all).map(({ length }) => length)).toEqual([LARGEST, 3])
})
